/* SPDX-License-Identifier: MIT */
/* saliency.c - the minimax level of every edge of a contracted image.
 *
 * Of a block's edges, the vertical ones and every second row of horizontal ones climb; the others
 * are told by these, but for those that stay in doubt, which climb as well.  Invalid pixels are
 * roots that reach nothing, and need no look.  Rows are told for one column more than there are
 * edges, so that vectors leave nothing over; what that one gets is written over. */
#include <immintrin.h>

#include "cpu/climb.h"
#include "cpu/ultrametric.h"

/* A block that is asked. */
typedef struct view {
    const qfz_contraction *c;
    qfz_box box;
    const uint32_t *first;
    const uint16_t *number;
    qfz_climbs climbs;
    uint32_t *plane; /* keys by direction, in the thread's scratch */
} view;

static void view_init(view *s, const qfz_contraction *c, int64_t i)
{
    const qfz_blocks *const in = &c->in_blocks;
    const qfz_contracted_block *const block = &c->blocks[i];
    s->c = c;
    s->box = qfz_blocks_box(in, i / in->n_x, i % in->n_x);
    const qfz_unpacked_block here = qfz_contraction_unpack(c, block);
    s->first = here.first;
    s->number = here.number;
    s->plane = qfz_contraction_scratch(c);
    qfz_climbs_init(&s->climbs, c, block, &here, s->plane);
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
    return s->plane + dir * QFZ_BLOCK_PX + (y - s->box.y0) * QFZ_BLOCK_SIDE;
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

/* What is in doubt of a row's edges, from pixels a[x] to b[x], will climb. */
static void ask_row(view *s, const uint32_t *row, const uint16_t *a, const uint16_t *b,
                    const uint8_t *doubt, int64_t n)
{
    qfz_climbs_ask(&s->climbs, a, b, doubt, n, (uint32_t)(row - s->plane));
}

static void ask_right(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const uint16_t *const number = numbers_of(s, y);
    const uint32_t *const first = firsts_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    uint8_t doubt[QFZ_BLOCK_SIDE];
    qfz_tell_by_hooks(first, first + 1, number, number + 1, n + 1, row, doubt);
    ask_row(s, row, number, number + 1, doubt, n);
    ask_across(s, y, QFZ_RIGHT, n, n + 1);
}

static void ask_below(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box);
    const uint16_t *const number = numbers_of(s, y), *const below = numbers_of(s, y + 1);
    uint32_t *const row = row_of(s, QFZ_BELOW, y);
    uint8_t doubt[QFZ_BLOCK_SIDE];
    qfz_tell_by_hooks(firsts_of(s, y), firsts_of(s, y + 1), number, below, n, row, doubt);
    ask_row(s, row, number, below, doubt, n);
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

/* A diagonal that leaves the block, which two other sides of its square tell if they differ. */
static void ask_beyond(const view *s, int64_t y, int64_t x, int dir, uint32_t side, uint32_t other)
{
    const uint32_t larger = side > other ? side : other;
    row_of(s, dir, y)[x] = side != other ? larger : across(s->c, y, s->box.x0 + x, dir);
}

static void ask_diagonals(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const qfz_squares q = squares_of(s, y);
    uint32_t *const fall = row_of(s, QFZ_BELOW_RIGHT, y);
    uint32_t *const rise = row_of(s, QFZ_BELOW_LEFT, y) + 1; /* each at the square's right pixel */
    uint8_t fall_doubt[QFZ_BLOCK_SIDE], rise_doubt[QFZ_BLOCK_SIDE];
    qfz_tell_diagonals(&q, n + 1, fall, fall_doubt, rise, rise_doubt);
    ask_row(s, fall, q.number, q.number_below + 1, fall_doubt, n);
    ask_row(s, rise, q.number + 1, q.number_below, rise_doubt, n);
    ask_beyond(s, y, n, QFZ_BELOW_RIGHT, q.bottom[n], q.left[n]);
    ask_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

/* Below the block's last row. */
static void ask_last(const view *s)
{
    const int64_t y = s->box.y1 - 1, n = qfz_box_w(s->box) - 1;
    const uint32_t *const right = row_of(s, QFZ_RIGHT, y), *const below = row_of(s, QFZ_BELOW, y);
    ask_across(s, y, QFZ_BELOW, 0, n + 1);
    if (qfz_n_dirs(s->c->rule) < QFZ_MAX_DIRS) return;
    for (int64_t x = 0; x < n; x++) {
        ask_beyond(s, y, x, QFZ_BELOW_RIGHT, right[x], below[x + 1]);
        ask_beyond(s, y, x + 1, QFZ_BELOW_LEFT, right[x], below[x]);
    }
    ask_across(s, y, QFZ_BELOW_RIGHT, n, n + 1);
    ask_across(s, y, QFZ_BELOW_LEFT, 0, 1);
}

/* Every second row, but for the block's last. */
static bool is_between(const view *s, int64_t y)
{
    return ((y - s->box.y0) & 1) && y + 1 < s->box.y1;
}

/* Between two rows that have been asked. */
static void ask_between(view *s, int64_t y)
{
    const int64_t n = qfz_box_w(s->box) - 1;
    const uint16_t *const number = numbers_of(s, y);
    const qfz_squares above = squares_of(s, y - 1), below = squares_of(s, y);
    uint32_t *const row = row_of(s, QFZ_RIGHT, y);
    uint8_t doubt[QFZ_BLOCK_SIDE];
    qfz_tell_right(&above, &below, n + 1, row, doubt);
    ask_row(s, row, number, number + 1, doubt, n);
    ask_across(s, y, QFZ_RIGHT, n, n + 1);
}

static void ask_block(view *s)
{
    const bool diagonals = qfz_n_dirs(s->c->rule) == QFZ_MAX_DIRS;
    const int64_t last = s->box.y1 - 1;
    for (int64_t y = s->box.y0; y <= last; y++) {
        if (!is_between(s, y)) ask_right(s, y);
        if (y < last) ask_below(s, y);
    }
    qfz_climbs_exterior(&s->climbs);
    for (int64_t y = s->box.y0 + 1; y < last; y += 2)
        ask_between(s, y);
    qfz_climbs_exterior(&s->climbs);
    for (int64_t y = s->box.y0; diagonals && y < last; y++)
        ask_diagonals(s, y);
    qfz_climbs_exterior(&s->climbs);
    ask_last(s);
}

/* ---- From the cache, where rows lie side by side, to the image, where they lie pages apart. */

/* Past the caches: nobody needs them soon, and no line is fetched that is written over. */
static void stream_row(const uint32_t *from, int64_t n, uint32_t *keys)
{
    const int64_t some = (int64_t)(sizeof(__m128i) / sizeof *keys);
    int64_t i = 0;
    for (; i < n && (uintptr_t)(keys + i) % sizeof(__m128i); i++)
        keys[i] = from[i];
    for (; i + some <= n; i += some)
        _mm_stream_si128((__m128i *)(void *)(keys + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    for (; i < n; i++)
        keys[i] = from[i];
}

static void write_block(const view *s, int level_bytes, void *keys)
{
    const int64_t h = s->c->in_blocks.h, w = s->c->in_blocks.w, n = qfz_box_w(s->box);
    for (int d = 0; d < qfz_n_dirs(s->c->rule); d++) {
        for (int64_t y = s->box.y0; y < s->box.y1; y++) {
            const int64_t at = (d * h + y) * w + s->box.x0;
            if (level_bytes == sizeof(uint16_t))
                qfz_levels_narrow(row_of(s, d, y), n, (uint16_t *)keys + at);
            else
                stream_row(row_of(s, d, y), n, (uint32_t *)keys + at);
        }
    }
    _mm_sfence();
}

void qfz_contraction_saliency(const qfz_contraction *c, int level_bytes, void *keys)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(qfz_contraction_threads(c))
    for (int64_t i = 0; i < c->in_blocks.n_y * c->in_blocks.n_x; i++) {
        view s;
        view_init(&s, c, i);
        ask_block(&s);
        write_block(&s, level_bytes, keys);
    }
}
