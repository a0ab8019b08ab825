/* SPDX-License-Identifier: MIT */
#include "stitch/group_tree.h"

/* Number of nodes of size 2^log that cover n nodes of size 1. */
static int64_t cover(int64_t n, int log)
{
    return (n + ((int64_t)1 << log) - 1) >> log;
}

/* Logarithm of the growth of nodes in one direction from one level to the next.  Where one row is
 * left, and its nodes are at least as long as the raster is across, four nodes in a row have no
 * longer border than two by two. */
static int growth(int64_t n, int64_t side, int64_t n_across, int64_t across)
{
    return n == 1 ? 0 : n_across == 1 && side >= across ? 2 : 1;
}

qfz_group_tree qfz_group_tree_of(const qfz_tiling *tiling)
{
    qfz_group_tree h = {.tiling = *tiling};
    int log_w = 0, log_h = 0;
    for (;;) {
        const int64_t n_x = cover(tiling->n_x, log_w), n_y = cover(tiling->n_y, log_h);
        h.n_x[h.n_levels] = n_x;
        h.n_y[h.n_levels] = n_y;
        h.log_w[h.n_levels] = log_w;
        h.log_h[h.n_levels] = log_h;
        h.first[h.n_levels + 1] = h.first[h.n_levels] + n_x * n_y;
        h.n_levels++;
        if (n_x == 1 && n_y == 1) return h;
        const int64_t side_w = tiling->tile_w << log_w, side_h = tiling->tile_h << log_h;
        log_w += growth(n_x, side_w, n_y, tiling->h);
        log_h += growth(n_y, side_h, n_x, tiling->w);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

qfz_box qfz_group_tree_box(const qfz_group_tree *h, int level, int64_t node)
{
    const int64_t i = node - h->first[level];
    const int64_t y = i / h->n_x[level], x = i % h->n_x[level];
    const int64_t side_h = h->tiling.tile_h << h->log_h[level];
    const int64_t side_w = h->tiling.tile_w << h->log_w[level];
    return (qfz_box){.y0 = y * side_h,
                     .x0 = x * side_w,
                     .y1 = least((y + 1) * side_h, h->tiling.h),
                     .x1 = least((x + 1) * side_w, h->tiling.w)};
}

int qfz_group_tree_sides(const qfz_group_tree *h, qfz_box box)
{
    return (box.y0 > 0 ? QFZ_AT_TOP : 0) | (box.y1 < h->tiling.h ? QFZ_AT_BOTTOM : 0) |
           (box.x0 > 0 ? QFZ_AT_LEFT : 0) | (box.x1 < h->tiling.w ? QFZ_AT_RIGHT : 0);
}

int qfz_group_tree_children(const qfz_group_tree *h, int level, int64_t node, int64_t *children)
{
    const int64_t i = node - h->first[level], n_x = h->n_x[level - 1], n_y = h->n_y[level - 1];
    const int log_x = h->log_w[level] - h->log_w[level - 1];
    const int log_y = h->log_h[level] - h->log_h[level - 1];
    const int64_t y0 = i / h->n_x[level] << log_y, y1 = least(y0 + (1 << log_y), n_y);
    const int64_t x0 = i % h->n_x[level] << log_x, x1 = least(x0 + (1 << log_x), n_x);
    int n = 0;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = x0; x < x1; x++)
            children[n++] = h->first[level - 1] + y * n_x + x;
    return n;
}

int64_t qfz_group_tree_parent(const qfz_group_tree *h, int level, int64_t node)
{
    const int64_t i = node - h->first[level];
    const int64_t y = i / h->n_x[level] >> (h->log_h[level + 1] - h->log_h[level]);
    const int64_t x = i % h->n_x[level] >> (h->log_w[level + 1] - h->log_w[level]);
    return h->first[level + 1] + y * h->n_x[level + 1] + x;
}

/* ----------------------------------------------------------------------------------------- parts
 */
int qfz_group_tree_owner(const qfz_group_tree *h, int level, int64_t node, int n_parts)
{
    const int64_t row = (node - h->first[level]) / h->n_x[level] << h->log_h[level];
    return qfz_part_of_row(h->n_y[0], row, n_parts);
}

/* The first node of a level whose first row of tiles is not before `row`. */
static int64_t first_node(const qfz_group_tree *h, int level, int64_t row)
{
    const int64_t y = cover(row, h->log_h[level]);
    return h->first[level] + least(y, h->n_y[level]) * h->n_x[level];
}

void qfz_group_tree_owned(const qfz_group_tree *h, int level, int part, int n_parts, int64_t *first,
                          int64_t *end)
{
    *first = first_node(h, level, qfz_part_first_row(h->n_y[0], part, n_parts));
    *end = first_node(h, level, qfz_part_first_row(h->n_y[0], part + 1, n_parts));
}
