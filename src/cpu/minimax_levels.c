/* SPDX-License-Identifier: MIT */
/* minimax_levels.c - the minimax level of every edge of a contracted image: its saliency.
 *
 * In each block, the vertical edges and every second row of horizontal edges are found by climbs
 * (climb.h).  All other edges follow from these by the ultrametric inequality (ultrametric.h); the
 * edges that it leaves in doubt climb as well.  Invalid pixels need no special case: they are roots
 * without a link.  A row is computed one column further than it has edges, so that the vectorised
 * loops leave no remainder; the extra level is overwritten afterwards. */
#include "core/simd.h"
#include "cpu/climb.h"
#include "cpu/ultrametric.h"

/* One block, and the levels of its edges. */
typedef struct view {
    const qfz_contraction *c;
    qfz_box box;
    const uint32_t *first;
    const uint16_t *number;
    qfz_climbs climbs;
    uint32_t *plane; /* levels by direction, in the thread's scratch memory */
} view;

static void view_init(view *s, const qfz_contraction *c, int64_t i)
{
    const qfz_cpu_blocks *const in = &c->layout;
    const qfz_contracted_block *const block = &c->blocks[i];
    s->c = c;
    s->box = qfz_cpu_blocks_box(in, i / in->n_x, i % in->n_x);
    const qfz_unpacked_block here = qfz_contraction_unpack(c, block);
    s->first = here.first;
    s->number = here.number;
    s->plane = qfz_contraction_scratch(c);
    qfz_climbs_init(&s->climbs, c, block, &here, s->plane);
}

/* ---- Edges between blocks. */

/* The level of an edge that leaves its block, or the image. */
static uint32_t across(const qfz_contraction *c, int64_t y, int64_t x, int dir)
{
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= c->layout.h || u < 0 || u >= c->layout.w) return QFZ_NONE;
    const qfz_gate p = qfz_contraction_gate(c, y, x), q = qfz_contraction_gate(c, v, u);
    if (p.vertex == QFZ_NONE || q.vertex == QFZ_NONE) return QFZ_NONE;
    const uint32_t climbed = p.level > q.level ? p.level : q.level;
    const uint32_t over = qfz_forest_minimax(&c->forest, p.vertex, q.vertex);
    return over > climbed ? over : climbed;
}

/* ---- Edges inside a block. */

/* The levels of one row of the block. */
static uint32_t *row_of(const view *s, int dir, int64_t y)
{
    return s->plane + dir * QFZ_CPU_BLOCK_PX + (y - s->box.y0) * QFZ_CPU_BLOCK_SIDE;
}

static const uint16_t *numbers_of(const view *s, int64_t y)
{
    return s->number + (y - s->box.y0) * qfz_box_w(s->box);
}

/* Pixels from..to of a row, whose neighbours in this direction lie in another block. */
static void find_across(const view *s, int64_t y, int dir, int64_t from, int64_t to)
{
    uint32_t *const row = row_of(s, dir, y);
    for (int64_t x = from; x < to; x++)
        row[x] = across(s->c, y, s->box.x0 + x, dir);
}

static const uint32_t *firsts_of(const view *s, int64_t y)
{
    return s->first + (y - s->box.y0) * qfz_box_w(s->box);
}

/* Adds those edges of a row, between pixels of nodes a[x] and b[x], that are in doubt. */
static void climb_row(view *s, const uint32_t *row, const uint16_t *a, const uint16_t *b,
                      const uint8_t *doubt, int64_t n)
{
    qfz_climbs_add(&s->climbs, a, b, doubt, n, (uint32_t)(row - s->plane));
}

static void find_right(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const uint16_t *const number = numbers_of(s, y);
    const uint32_t *const first = firsts_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    uint8_t doubt[QFZ_CPU_BLOCK_SIDE];
    qfz_levels_by_hooks(first, first + 1, number, number + 1, n + 1, row, doubt);
    climb_row(s, row, number, number + 1, doubt, n);
    find_across(s, y, QFZ_RIGHT, n, n + 1);
}

static void find_below(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y), *const below = numbers_of(s, y + 1);
    uint32_t *const row = row_of(s, QFZ_BELOW, y);
    uint8_t doubt[QFZ_CPU_BLOCK_SIDE];
    qfz_levels_by_hooks(firsts_of(s, y), firsts_of(s, y + 1), number, below, n, row, doubt);
    climb_row(s, row, number, below, doubt, n);
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

/* A diagonal that leaves the block.  If two sides of its square that form a way around it differ,
 * the larger one is its level. */
static void find_beyond(const view *s, int64_t y, int64_t x, int dir, uint32_t side, uint32_t other)
{
    const uint32_t larger = side > other ? side : other;
    row_of(s, dir, y)[x] = side != other ? larger : across(s->c, y, s->box.x0 + x, dir);
}

static void find_diagonals(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const qfz_squares q = squares_of(s, y);
    uint32_t *const fall = row_of(s, QFZ_BELOW_RIGHT, y);
    uint32_t *const rise = row_of(s, QFZ_BELOW_LEFT, y) + 1; /* belongs to the right pixel */
    uint8_t fall_doubt[QFZ_CPU_BLOCK_SIDE], rise_doubt[QFZ_CPU_BLOCK_SIDE];
    qfz_levels_of_diagonals(&q, n + 1, fall, fall_doubt, rise, rise_doubt);
    climb_row(s, fall, q.number, q.number_below + 1, fall_doubt, n);
    climb_row(s, rise, q.number + 1, q.number_below, rise_doubt, n);
    find_beyond(s, y, n, QFZ_BELOW_RIGHT, q.bottom[n], q.left[n]);
    find_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

/* The edges below the block's last row. */
static void find_last(const view *s)
{
    const int64_t y = s->box.y1 - 1, n = qfz_box_w(s->box) - 1;
    const uint32_t *const right = row_of(s, QFZ_RIGHT, y), *const below = row_of(s, QFZ_BELOW, y);
    find_across(s, y, QFZ_BELOW, 0, n + 1);
    if (qfz_n_dirs(s->c->rule) < QFZ_MAX_DIRS) return;
    for (int64_t x = 0; x < n; x++) {
        find_beyond(s, y, x, QFZ_BELOW_RIGHT, right[x], below[x + 1]);
        find_beyond(s, y, x + 1, QFZ_BELOW_LEFT, right[x], below[x]);
    }
    find_across(s, y, QFZ_BELOW_RIGHT, n, n + 1);
    find_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

/* Every second row, except the block's last one: its horizontal edges follow from other edges. */
static bool is_between(const view *s, int64_t y)
{
    return ((y - s->box.y0) & 1) && y + 1 < s->box.y1;
}

/* The horizontal edges of a row between two rows that are complete. */
static void find_between(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const uint16_t *const number = numbers_of(s, y);
    const qfz_squares above = squares_of(s, y - 1), below = squares_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    uint8_t doubt[QFZ_CPU_BLOCK_SIDE];
    qfz_levels_between(&above, &below, n + 1, row, doubt);
    climb_row(s, row, number, number + 1, doubt, n);
    find_across(s, y, QFZ_RIGHT, n, n + 1);
}

static void find_block(view *s)
{
    const bool diagonals = qfz_n_dirs(s->c->rule) == QFZ_MAX_DIRS;
    const int64_t last = s->box.y1 - 1;
    for (int64_t y = s->box.y0; y <= last; y++) {
        if (!is_between(s, y)) find_right(s, y);
        if (y < last) find_below(s, y);
    }
    qfz_climbs_finish(&s->climbs);
    for (int64_t y = s->box.y0 + 1; y < last; y += 2)
        find_between(s, y);
    qfz_climbs_finish(&s->climbs);
    for (int64_t y = s->box.y0; diagonals && y < last; y++)
        find_diagonals(s, y);
    qfz_climbs_finish(&s->climbs);
    find_last(s);
}

/* ---- Copies the levels from the scratch memory, where rows are adjacent, to the image, where they
 * lie pages apart; past the caches, since the image's levels are not read soon. */
static void write_block(const view *s, int level_bytes, void *levels)
{
    const int64_t h = s->c->layout.h, w = s->c->layout.w, n = qfz_box_w(s->box);
    for (int d = 0; d < qfz_n_dirs(s->c->rule); d++) {
        for (int64_t y = s->box.y0; y < s->box.y1; y++) {
            const int64_t at = (d * h + y) * w + s->box.x0;
            if (level_bytes == sizeof(uint16_t))
                qfz_levels_narrow(row_of(s, d, y), n, (uint16_t *)levels + at);
            else
                qfz_stream_words(row_of(s, d, y), n, (uint32_t *)levels + at);
        }
    }
    qfz_stream_end();
}

void qfz_contraction_saliency(const qfz_contraction *c, int level_bytes, void *levels)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(qfz_contraction_threads(c))
    for (int64_t i = 0; i < c->layout.n_y * c->layout.n_x; i++) {
        view s;
        view_init(&s, c, i);
        find_block(&s);
        write_block(&s, level_bytes, levels);
    }
}
