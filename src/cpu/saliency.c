/* SPDX-License-Identifier: MIT */
/* saliency.c - the minimax level of every edge of a contracted image.
 *
 * Of a block's edges, the vertical ones and every second row of horizontal ones climb; the others
 * are told by these, but for those that stay in doubt, which climb as well.  Invalid pixels are
 * roots that reach nothing, and need no look. */
#include <string.h>

#include "cpu/climb.h"
#include "cpu/clones.h"
#include "cpu/ultrametric.h"

enum { MAX_DOUBTS = 1024 };

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
    qfz_box box;
    const uint32_t *first;
    const uint16_t *number;
    qfz_climbs climbs;
    uint32_t *plane; /* what is asked for, of the block's first pixel and direction */
    int64_t row_px, dir_px;
    doubts doubts;
} view;

/* keys: as engine.h has them, or NULL: to be narrowed, and in the thread's scratch. */
static void view_init(view *s, const qfz_contraction *c, int64_t i, uint32_t *keys)
{
    const qfz_blocks *const in = &c->in_blocks;
    const qfz_contracted_block *const block = &c->blocks[i];
    s->c = c;
    s->box = qfz_blocks_box(in, i / in->n_x, i % in->n_x);
    const qfz_unpacked_block here = qfz_contraction_unpack(c, block);
    s->first = here.first;
    s->number = here.number;
    s->plane = keys ? keys + s->box.y0 * in->w + s->box.x0 : qfz_contraction_scratch(c);
    s->row_px = keys ? in->w : QFZ_BLOCK_SIDE;
    s->dir_px = keys ? in->h * in->w : QFZ_BLOCK_PX;
    s->doubts.n = 0;
    qfz_climbs_init(&s->climbs, c, block, &here);
}

/* ---- Across seams. */

/* Of an edge that leaves its block, or the image. */
static uint32_t across(const qfz_contraction *c, int64_t y, int64_t x, int dir)
{
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= c->in_blocks.h || u < 0 || u >= c->in_blocks.w) return QFZ_NONE;
    const qfz_gate p = qfz_contraction_gate(c, y, x), q = qfz_contraction_gate(c, v, u);
    if (p.vertex == QFZ_NONE || q.vertex == QFZ_NONE) return QFZ_NONE;
    const uint32_t climbed = p.level > q.level ? p.level : q.level;
    const uint32_t over = qfz_forest_minimax(&c->forest, p.vertex, q.vertex);
    return over > climbed ? over : climbed;
}

/* ---- All edges of a block. */

/* Keys of one row of the block. */
static uint32_t *row_of(const view *s, int dir, int64_t y)
{
    return s->plane + dir * s->dir_px + (y - s->box.y0) * s->row_px;
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

static void ask_right(view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y);
    const uint32_t *const first = firsts_of(s, y);
    qfz_tell_by_hooks(first, first + 1, w - 1, row_of(s, QFZ_RIGHT, y));
    qfz_climbs_raise(&s->climbs, number, number + 1, w - 1, row_of(s, QFZ_RIGHT, y));
    ask_across(s, y, QFZ_RIGHT, w - 1, w);
}

static void answer_doubts(view *s)
{
    doubts *const d = &s->doubts;
    qfz_climbs_raise(&s->climbs, d->a, d->b, d->n, d->key);
    for (int64_t i = 0; i < d->n; i++)
        *d->at[i] = d->key[i];
    d->n = 0;
}

/* Of a row's edges those that are in doubt, one byte each, 0 or 1. */
typedef struct row_doubts {
    uint8_t is[QFZ_BLOCK_SIDE + 7]; /* looked at eight at a time */
} row_doubts;

/* Those of a row's keys that are in doubt will be asked: between pixels a[x] and b[x]. */
static void add_doubts(view *s, uint32_t *row, row_doubts *in_doubt, const uint16_t *a,
                       const uint16_t *b, int64_t n)
{
    doubts *const d = &s->doubts;
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

/* The squares between a row and the next. */
static qfz_squares squares_of(const view *s, int64_t y)
{
    return (qfz_squares){.top = row_of(s, QFZ_RIGHT, y),
                         .bottom = row_of(s, QFZ_RIGHT, y + 1),
                         .left = row_of(s, QFZ_BELOW, y),
                         .first = firsts_of(s, y),
                         .first_below = firsts_of(s, y + 1),
                         .number = numbers_of(s, y),
                         .number_below = numbers_of(s, y + 1)};
}

static void ask_diagonals(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const qfz_squares q = squares_of(s, y);
    uint32_t *const fall = row_of(s, QFZ_BELOW_RIGHT, y);
    uint32_t *const rise = row_of(s, QFZ_BELOW_LEFT, y) + 1; /* each at the square's right pixel */
    row_doubts fall_doubts, rise_doubts;
    qfz_tell_diagonals(&q, n, fall, fall_doubts.is, rise, rise_doubts.is);
    add_doubts(s, fall, &fall_doubts, q.number, q.number_below + 1, n);
    add_doubts(s, rise, &rise_doubts, q.number + 1, q.number_below, n);
    ask_across(s, y, QFZ_BELOW_RIGHT, n, n + 1);
    ask_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

static void ask_below(view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    uint32_t *const row = row_of(s, QFZ_BELOW, y);
    qfz_tell_by_hooks(firsts_of(s, y), firsts_of(s, y + 1), w, row);
    qfz_climbs_raise(&s->climbs, numbers_of(s, y), numbers_of(s, y + 1), w, row);
}

/* Between two rows that have been asked. */
static void ask_between(view *s, int64_t y)
{
    const int64_t w = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y);
    const qfz_squares above = squares_of(s, y - 1), below = squares_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    row_doubts in_doubt;
    qfz_tell_right(&above, &below, w - 1, row, in_doubt.is);
    add_doubts(s, row, &in_doubt, number, number + 1, w - 1);
    ask_across(s, y, QFZ_RIGHT, w - 1, w);
}

static void ask_block(view *s)
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

/* ---- Keys of two bytes, while the block is in the cache. */

QFZ_CLONES static void narrow_row(const uint32_t *restrict wide, int64_t n, uint16_t *restrict keys)
{
    for (int64_t i = 0; i < n; i++)
        keys[i] = (uint16_t)wide[i];
}

static void narrow_block(const view *s, uint16_t *keys)
{
    const int64_t h = s->c->in_blocks.h, w = s->c->in_blocks.w;
    for (int d = 0; d < qfz_n_dirs(s->c->rule); d++)
        for (int64_t y = s->box.y0; y < s->box.y1; y++)
            narrow_row(row_of(s, d, y), qfz_box_w(s->box), keys + (d * h + y) * w + s->box.x0);
}

void qfz_contraction_saliency(const qfz_contraction *c, int key_bytes, void *keys)
{
    const bool narrow = key_bytes == sizeof(uint16_t);
#pragma omp parallel for schedule(dynamic, 1) num_threads(qfz_contraction_threads(c))
    for (int64_t i = 0; i < c->in_blocks.n_y * c->in_blocks.n_x; i++) {
        view s;
        view_init(&s, c, i, narrow ? NULL : keys);
        ask_block(&s);
        if (narrow) narrow_block(&s, keys);
    }
}
