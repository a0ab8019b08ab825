/* SPDX-License-Identifier: MIT */
/* saliency.c - the minimax level of every edge of a contracted image.
 *
 * From both ends of an edge, whichever stands at the lower number climbs, until they meet: the last
 * hook has the level.  How far is at random, so eight pairs climb in step where the processor can
 * gather.  Invalid pixels are roots that reach nothing, and need no look. */
#include <immintrin.h>
#include <string.h>

#include "cpu/contract.h"

enum { LANES = 8, GROUPS = 4, MAX_DOUBTS = 1024 };

#define CLONES __attribute__((target_clones("default", "avx2")))

/* Nothing has been climbed yet. */
#define NO_HOOK UINT32_MAX

/* Pairs that are asked later, many at a time; what comes out goes to *at[i]. */
typedef struct doubts {
    int64_t n;
    uint32_t *at[MAX_DOUBTS];
    uint16_t a[MAX_DOUBTS], b[MAX_DOUBTS];
    uint32_t key[MAX_DOUBTS];
} doubts;

/* Answers of the small graph; neighbours mostly ask the same. */
enum { N_LOOKUPS = 256 };
typedef struct lookup {
    uint32_t p, q, key;
} lookup;

/* A block that is asked. */
typedef struct view {
    const qfz_contraction *c;
    const qfz_contracted_block *block;
    qfz_box box;
    const uint32_t *first;
    const uint16_t *number, *up;
    const uint32_t *level;
    bool gathers;   /* does the processor? */
    uint32_t *keys; /* what is asked for */
    doubts *doubts;
    lookup *lookups;
} view;

static view view_of(const qfz_contraction *c, int64_t by, int64_t bx)
{
    const qfz_contracted_block *const block = &c->blocks[by * c->in_blocks.n_x + bx];
    return (view){.c = c,
                  .block = block,
                  .box = qfz_blocks_box(&c->in_blocks, by, bx),
                  .first = c->first + block->px,
                  .number = c->number + block->px,
                  .up = c->up + block->room,
                  .level = c->level + block->room};
}

static uint32_t vertex_of(const view *s, uint32_t root)
{
    return qfz_contracted_vertex(s->block, root);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t level_of(const view *s, uint32_t hook)
{
    return hook == NO_HOOK ? 0 : s->level[hook];
}

/* The minimax level of what has climbed to two different roots, by levels up to key. */
static uint32_t between(const qfz_contraction *c, uint32_t p, uint32_t q, uint32_t key)
{
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    return larger(qfz_forest_minimax(&c->forest, p, q), key);
}

/* ---- Within a block: pairs of climbs that start at a[i] and b[i], and raise keys[i]. */

static uint32_t between_roots(const view *s, uint32_t a, uint32_t b, uint32_t key)
{
    const uint32_t p = vertex_of(s, a), q = vertex_of(s, b);
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    lookup *const l = &s->lookups[(p + 31 * q) % N_LOOKUPS];
    if (l->p != p || l->q != q) *l = (lookup){p, q, qfz_forest_minimax(&s->c->forest, p, q)};
    return larger(l->key, key);
}

/* Where two climbs stand: at one hook, or at two roots. */
static uint32_t meeting_key(const view *s, uint32_t a, uint32_t b, uint32_t last)
{
    const uint32_t key = level_of(s, last);
    return a == b ? key : between_roots(s, a, b, key);
}

static void query_each(const view *s, const uint16_t *starts_a, const uint16_t *starts_b, int64_t n,
                       uint32_t *keys)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = starts_a[i], b = starts_b[i], last = NO_HOOK;
        while (a != b) {
            const uint32_t low = a < b ? a : b, high = a < b ? b : a;
            if (s->up[low] == low) break;
            last = low;
            a = s->up[low];
            b = high;
        }
        keys[i] = larger(keys[i], meeting_key(s, a, b, last));
    }
}

/* Eight climbs. */
typedef struct lanes {
    __m256i a, b, last;
} lanes;

/* One step of those that have not met; returns -1 for those that had, or that both stand at roots:
 * where a root has the lower number, nothing moves any more. */
__attribute__((target("avx2"))) static inline __m256i step(lanes *l, const uint16_t *up)
{
    const __m256i number = _mm256_set1_epi32(UINT16_MAX);
    const __m256i low = _mm256_min_epu32(l->a, l->b), high = _mm256_max_epu32(l->a, l->b);
    const __m256i two = _mm256_i32gather_epi32((const int *)(const void *)up, low, 2);
    const __m256i over = _mm256_and_si256(two, number);
    const __m256i met = _mm256_cmpeq_epi32(low, high);
    const __m256i done = _mm256_or_si256(met, _mm256_cmpeq_epi32(low, over));
    l->a = _mm256_blendv_epi8(over, low, met);
    l->b = high;
    l->last = _mm256_blendv_epi8(low, l->last, done);
    return done;
}

__attribute__((target("avx2"))) static void finish(const view *s, const lanes *l, uint32_t *keys)
{
    const __m256i met = _mm256_cmpeq_epi32(l->a, l->b);
    const __m256i climbed = _mm256_andnot_si256(l->last, met); /* its sign bits are what counts */
    const __m256i key = _mm256_mask_i32gather_epi32(
        _mm256_setzero_si256(), (const int *)(const void *)s->level, l->last, climbed, 4);
    __m256i *const out = (__m256i *)(void *)keys;
    _mm256_storeu_si256(out, _mm256_max_epu32(key, _mm256_loadu_si256(out)));
    const int apart = ~_mm256_movemask_ps(_mm256_castsi256_ps(met)) & ((1 << LANES) - 1);
    if (!apart) return;
    uint32_t a[LANES], b[LANES], last[LANES];
    _mm256_storeu_si256((__m256i *)(void *)a, l->a);
    _mm256_storeu_si256((__m256i *)(void *)b, l->b);
    _mm256_storeu_si256((__m256i *)(void *)last, l->last);
    for (int left = apart; left; left &= left - 1) {
        const int i = __builtin_ctz((unsigned)left);
        keys[i] = larger(keys[i], meeting_key(s, a[i], b[i], last[i]));
    }
}

__attribute__((target("avx2"))) static inline __m256i numbers_at(const uint16_t *number)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)number));
}

/* Four times eight at a time: one waits for memory while the others climb. */
__attribute__((target("avx2"))) static void query_lanes(const view *s, const uint16_t *a,
                                                        const uint16_t *b, uint32_t *keys)
{
    lanes l[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        l[g].a = numbers_at(a + g * LANES);
        l[g].b = numbers_at(b + g * LANES);
        l[g].last = _mm256_set1_epi32((int)NO_HOOK);
    }
    __m256i done;
    do {
        done = _mm256_set1_epi32(-1);
        for (int g = 0; g < GROUPS; g++)
            done = _mm256_and_si256(done, step(&l[g], s->up));
    } while (_mm256_movemask_epi8(done) != -1);
    for (int g = 0; g < GROUPS; g++)
        finish(s, &l[g], keys + g * LANES);
}

/* The last pairs of a row are asked twice rather than one by one. */
static void query(const view *s, const uint16_t *a, const uint16_t *b, int64_t n, uint32_t *keys)
{
    const int64_t some = (int64_t)LANES * GROUPS;
    if (!s->gathers || n < some) {
        query_each(s, a, b, n, keys);
        return;
    }
    for (int64_t i = 0; i < n; i += some) {
        const int64_t at = i + some <= n ? i : n - some;
        query_lanes(s, a + at, b + at, keys + at);
    }
}

/* ---- Across seams. */

/* Of an edge that leaves its block, or the image. */
static uint32_t across(const qfz_contraction *c, int64_t y, int64_t x, int dir)
{
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= c->in_blocks.h || u < 0 || u >= c->in_blocks.w) return QFZ_NONE;
    const qfz_gate p = qfz_contraction_gate(c, y, x), q = qfz_contraction_gate(c, v, u);
    return between(c, p.vertex, q.vertex, p.level > q.level ? p.level : q.level);
}

/* ---- All edges of a block. */

/* Keys of one row of the block, at its pixels. */
static uint32_t *row_of(const view *s, int dir, int64_t y)
{
    return s->keys + (dir * s->c->in_blocks.h + y) * s->c->in_blocks.w + s->box.x0;
}

static const uint16_t *numbers_of(const view *s, int64_t y)
{
    return s->number + (y - s->box.y0) * qfz_box_w(s->box);
}

/* Of some pixels of a row, all neighbours lie in another block. */
static void ask_across(const view *s, int64_t y, int dir, int64_t from, int64_t to)
{
    uint32_t *const row = row_of(s, dir, y);
    for (int64_t x = from; x < to; x++)
        row[x] = across(s->c, y, s->box.x0 + x, dir);
}

static const uint32_t *firsts_of(const view *s, int64_t y)
{
    return s->first + (y - s->box.y0) * qfz_box_w(s->box);
}

/* What pixels' own hooks tell of pairs of them. */
CLONES static void start_keys(const uint32_t *restrict a, const uint32_t *restrict b, int64_t n,
                              uint32_t *restrict keys)
{
    for (int64_t i = 0; i < n; i++)
        keys[i] = larger(a[i], b[i]);
}

static void ask_right(const view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y);
    const uint32_t *const first = firsts_of(s, y);
    start_keys(first, first + 1, w - 1, row_of(s, QFZ_RIGHT, y));
    query(s, number, number + 1, w - 1, row_of(s, QFZ_RIGHT, y));
    ask_across(s, y, QFZ_RIGHT, w - 1, w);
}

static void answer_doubts(const view *s)
{
    doubts *const d = s->doubts;
    query(s, d->a, d->b, d->n, d->key);
    for (int64_t i = 0; i < d->n; i++)
        *d->at[i] = d->key[i];
    d->n = 0;
}

/* Of a row's edges those that are in doubt, one byte each, 0 or 1. */
typedef struct row_doubts {
    uint8_t is[QFZ_BLOCK_SIDE + 7]; /* looked at eight at a time */
} row_doubts;

/* Those of a row's keys that are in doubt will be asked: between pixels a[x] and b[x]. */
static void add_doubts(const view *s, uint32_t *row, row_doubts *in_doubt, const uint16_t *a,
                       const uint16_t *b, int64_t n)
{
    doubts *const d = s->doubts;
    if (d->n + n > MAX_DOUBTS) answer_doubts(s);
    memset(in_doubt->is + n, 0, 7);
    for (int64_t from = 0; from < n; from += 8) {
        uint64_t eight;
        memcpy(&eight, in_doubt->is + from, sizeof eight);
        for (; eight; eight &= eight - 1, d->n++) {
            const int64_t x = from + __builtin_ctzll(eight) / 8;
            d->at[d->n] = row + x;
            d->a[d->n] = a[x];
            d->b[d->n] = b[x];
            d->key[d->n] = row[x];
        }
    }
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Of the four levels around a unit square the largest is there twice (they are an ultrametric).  So
 * where one of the other three is larger than the rest, it is the answer.  A horizontal edge has
 * two squares, of other edges top, left1, right1 and bottom, left2, right2.  If neither tells, its
 * level lies between the first hooks' of its ends and the largest of each three, and is the former
 * if both ends have one node; else it is in doubt. */
CLONES static void tell_right(const uint32_t *restrict top, const uint32_t *restrict bottom,
                              const uint32_t *restrict below1, const uint32_t *restrict below2,
                              const uint32_t *restrict first, const uint16_t *restrict number,
                              int64_t n, uint32_t *restrict key, uint8_t *restrict doubt)
{
    for (int64_t x = 0; x < n; x++) {
        const uint32_t least = larger(first[x], first[x + 1]);
        const uint32_t l1 = below1[x], r1 = below1[x + 1], l2 = below2[x], r2 = below2[x + 1];
        const uint32_t sides1 = larger(l1, r1), sides2 = larger(l2, r2);
        const uint32_t most1 = larger(sides1, top[x]), most2 = larger(sides2, bottom[x]);
        const uint32_t next1 = larger(smaller(l1, r1), smaller(sides1, top[x]));
        const uint32_t next2 = larger(smaller(l2, r2), smaller(sides2, bottom[x]));
        const uint32_t most = most1 != next1 ? most1 : most2;
        const bool tells = (most1 != next1) | (most2 != next2);
        key[x] = tells ? most : least;
        doubt[x] = !tells & (least != most1) & (least != most2) & (number[x] != number[x + 1]);
    }
}

/* What is known of a row of unit squares: levels of their sides, their upper and lower pixels. */
typedef struct squares {
    const uint32_t *top, *bottom, *left;
    const uint32_t *first, *first_below;
    const uint16_t *number, *number_below;
} squares;

/* Of three pixels the two largest levels between them are equal, too.  So where the two legs of a
 * way round differ, the larger one is the answer.  A diagonal has two ways round, by leg1-leg2 and
 * by leg3-leg4.  If neither tells, it is as with tell_right(). */
static inline uint32_t tell_diagonal(uint32_t leg1, uint32_t leg2, uint32_t leg3, uint32_t leg4,
                                     uint32_t least, bool is_least, uint8_t *doubt)
{
    const bool one_tells = leg1 != leg2, other_tells = leg3 != leg4;
    const uint32_t other = other_tells ? larger(leg3, leg4) : least;
    *doubt = !one_tells & !other_tells & !is_least & (leg1 != least) & (leg3 != least);
    return one_tells ? larger(leg1, leg2) : other;
}

CLONES static void tell_diagonals(const squares *of, int64_t n, uint32_t *restrict fall,
                                  uint8_t *restrict fall_doubt, uint32_t *restrict rise,
                                  uint8_t *restrict rise_doubt)
{
    const squares q = *of;
    for (int64_t x = 0; x < n; x++) {
        const uint32_t t = q.top[x], u = q.bottom[x], l = q.left[x], r = q.left[x + 1];
        fall[x] = tell_diagonal(t, r, u, l, larger(q.first[x], q.first_below[x + 1]),
                                q.number[x] == q.number_below[x + 1], &fall_doubt[x]);
        rise[x] = tell_diagonal(t, l, u, r, larger(q.first[x + 1], q.first_below[x]),
                                q.number[x + 1] == q.number_below[x], &rise_doubt[x]);
    }
}

static void ask_diagonals(const view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const squares q = {.top = row_of(s, QFZ_RIGHT, y),
                       .bottom = row_of(s, QFZ_RIGHT, y + 1),
                       .left = row_of(s, QFZ_BELOW, y),
                       .first = firsts_of(s, y),
                       .first_below = firsts_of(s, y + 1),
                       .number = numbers_of(s, y),
                       .number_below = numbers_of(s, y + 1)};
    uint32_t *const fall = row_of(s, QFZ_BELOW_RIGHT, y);
    uint32_t *const rise = row_of(s, QFZ_BELOW_LEFT, y) + 1; /* each at the square's right pixel */
    row_doubts fall_doubts, rise_doubts;
    tell_diagonals(&q, n, fall, fall_doubts.is, rise, rise_doubts.is);
    add_doubts(s, fall, &fall_doubts, q.number, q.number_below + 1, n);
    add_doubts(s, rise, &rise_doubts, q.number + 1, q.number_below, n);
    ask_across(s, y, QFZ_BELOW_RIGHT, n, n + 1);
    ask_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

static void ask_below(const view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    uint32_t *const row = row_of(s, QFZ_BELOW, y);
    start_keys(firsts_of(s, y), firsts_of(s, y + 1), w, row);
    query(s, numbers_of(s, y), numbers_of(s, y + 1), w, row);
}

/* Between two rows that have been asked. */
static void ask_between(const view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    row_doubts in_doubt;
    tell_right(row_of(s, QFZ_RIGHT, y - 1), row_of(s, QFZ_RIGHT, y + 1),
               row_of(s, QFZ_BELOW, y - 1), row_of(s, QFZ_BELOW, y), firsts_of(s, y), number, w - 1,
               row, in_doubt.is);
    add_doubts(s, row, &in_doubt, number, number + 1, w - 1);
    ask_across(s, y, QFZ_RIGHT, w - 1, w);
}

static void ask_block(const view *s)
{
    const int n_dirs = qfz_n_dirs(s->c->rule);
    ask_right(s, s->box.y0);
    for (int64_t y = s->box.y0; y + 1 < s->box.y1; y++) {
        const bool is_odd = (y - s->box.y0) & 1;
        if (is_odd || y + 2 == s->box.y1) ask_right(s, y + 1);
        ask_below(s, y);
        if (is_odd) ask_between(s, y);
    }
    answer_doubts(s);
    for (int64_t y = s->box.y0; n_dirs == QFZ_MAX_DIRS && y + 1 < s->box.y1; y++)
        ask_diagonals(s, y);
    answer_doubts(s);
    for (int d = QFZ_BELOW; d < n_dirs; d++)
        ask_across(s, s->box.y1 - 1, d, 0, qfz_box_w(s->box));
}

void qfz_contraction_saliency(const qfz_contraction *c, uint32_t *keys)
{
    const bool gathers = __builtin_cpu_supports("avx2");
#pragma omp parallel for schedule(dynamic, 1) num_threads(qfz_contraction_threads(c))
    for (int64_t i = 0; i < c->in_blocks.n_y * c->in_blocks.n_x; i++) {
        doubts in_doubt;
        in_doubt.n = 0;
        view s = view_of(c, i / c->in_blocks.n_x, i % c->in_blocks.n_x);
        s.doubts = &in_doubt;
        lookup lookups[N_LOOKUPS];
        memset(lookups, 0xff, sizeof lookups);
        s.lookups = lookups;
        s.keys = keys;
        s.gathers = gathers;
        ask_block(&s);
    }
}
