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

/* A block that is asked. */
typedef struct view {
    const qfz_contraction *c;
    const qfz_contracted_block *block;
    qfz_box box;
    const uint16_t *number, *up;
    const uint32_t *level;
    bool gathers;   /* does the processor? */
    uint32_t *keys; /* what is asked for */
    doubts *doubts;
} view;

static view view_of(const qfz_contraction *c, int64_t by, int64_t bx)
{
    const qfz_contracted_block *const block = &c->blocks[by * c->in_blocks.n_x + bx];
    return (view){.c = c,
                  .block = block,
                  .box = qfz_blocks_box(&c->in_blocks, by, bx),
                  .number = c->number + block->px,
                  .up = c->up + block->px,
                  .level = c->level + block->px};
}

static uint32_t vertex_of(const view *s, uint32_t root)
{
    return qfz_contracted_vertex(s->block, root);
}

static uint32_t level_of(const view *s, uint32_t hook)
{
    return hook == NO_HOOK ? 0 : s->level[hook];
}

/* The minimax level of what has climbed to two different roots, by levels up to key. */
static uint32_t between(const qfz_contraction *c, uint32_t p, uint32_t q, uint32_t key)
{
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    const uint32_t over = qfz_forest_minimax(&c->forest, p, q);
    return over > key ? over : key;
}

/* ---- Within a block: pairs of climbs that start at a[i] and b[i]. */

/* Where two climbs stand: at one hook, or at two roots. */
static uint32_t meeting_key(const view *s, uint32_t a, uint32_t b, uint32_t last)
{
    const uint32_t key = level_of(s, last);
    return a == b ? key : between(s->c, vertex_of(s, a), vertex_of(s, b), key);
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
        keys[i] = meeting_key(s, a, b, last);
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
    const __m256i key = _mm256_mask_i32gather_epi32(
        _mm256_setzero_si256(), (const int *)(const void *)s->level, l->last, met, 4);
    _mm256_storeu_si256((__m256i *)(void *)keys, key);
    const int apart = ~_mm256_movemask_ps(_mm256_castsi256_ps(met)) & ((1 << LANES) - 1);
    if (!apart) return;
    uint32_t a[LANES], b[LANES], last[LANES];
    _mm256_storeu_si256((__m256i *)(void *)a, l->a);
    _mm256_storeu_si256((__m256i *)(void *)b, l->b);
    _mm256_storeu_si256((__m256i *)(void *)last, l->last);
    for (int left = apart; left; left &= left - 1) {
        const int i = __builtin_ctz((unsigned)left);
        keys[i] = meeting_key(s, a[i], b[i], last[i]);
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

static void ask_right(const view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y);
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

/* Those of a row's keys that are in doubt will be asked: between pixels a[x] and b[x]. */
static void add_doubts(const view *s, uint32_t *row, const uint8_t *doubt, const uint16_t *a,
                       const uint16_t *b, int64_t n)
{
    doubts *const d = s->doubts;
    if (d->n + n > MAX_DOUBTS) answer_doubts(s);
    int64_t at = d->n;
    for (int64_t x = 0; x < n; x++) {
        d->at[at] = row + x;
        d->a[at] = a[x];
        d->b[at] = b[x];
        at += doubt[x];
    }
    d->n = at;
}

/* Of three pixels the two largest levels between them are equal (they are an ultrametric).  So
 * where the two legs of a way round differ, the larger one is the answer.  A diagonal has two ways
 * round, by leg1-leg2 and by leg3-leg4; if neither tells, it is in doubt. */
CLONES static void tell_diagonals(const uint32_t *restrict leg1, const uint32_t *restrict leg2,
                                  const uint32_t *restrict leg3, const uint32_t *restrict leg4,
                                  int64_t n, uint32_t *restrict key, uint8_t *restrict doubt)
{
    for (int64_t x = 0; x < n; x++) {
        const uint32_t one = leg1[x] > leg2[x] ? leg1[x] : leg2[x];
        const uint32_t other = leg3[x] > leg4[x] ? leg3[x] : leg4[x];
        key[x] = leg1[x] != leg2[x] ? one : other;
        doubt[x] = leg1[x] == leg2[x] && leg3[x] == leg4[x];
    }
}

static void ask_diagonals(const view *s, int64_t y, int dir)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const bool rises = dir == QFZ_BELOW_LEFT;
    const uint32_t *const top = row_of(s, QFZ_RIGHT, y), *const bottom =
                                                             row_of(s, QFZ_RIGHT, y + 1);
    const uint32_t *const left = row_of(s, QFZ_BELOW, y), *const right = left + 1;
    const uint16_t *const number = numbers_of(s, y), *const next = numbers_of(s, y + 1);
    uint32_t *const row = row_of(s, dir, y);
    uint8_t doubt[QFZ_BLOCK_SIDE];
    if (rises) {
        tell_diagonals(top, left, bottom, right, n, row + 1, doubt);
        add_doubts(s, row + 1, doubt, number + 1, next, n);
        ask_across(s, y, dir, 0, 1);
    } else {
        tell_diagonals(top, right, bottom, left, n, row, doubt);
        add_doubts(s, row, doubt, number, next + 1, n);
        ask_across(s, y, dir, n, n + 1);
    }
}

static void ask_below(const view *s, int64_t y)
{
    query(s, numbers_of(s, y), numbers_of(s, y + 1), qfz_box_w(s->box), row_of(s, QFZ_BELOW, y));
}

static void ask_block(const view *s)
{
    const int n_dirs = qfz_n_dirs(s->c->rule);
    ask_right(s, s->box.y0);
    for (int64_t y = s->box.y0; y + 1 < s->box.y1; y++) {
        ask_right(s, y + 1);
        ask_below(s, y);
        for (int d = QFZ_BELOW_RIGHT; d < n_dirs; d++)
            ask_diagonals(s, y, d);
    }
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
        s.keys = keys;
        s.gathers = gathers;
        ask_block(&s);
    }
}
