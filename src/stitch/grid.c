/* SPDX-License-Identifier: MIT */
#include "stitch/grid.h"

qfz_hierarchy qfz_hierarchy_of(const qfz_grid *grid)
{
    qfz_hierarchy h = {.grid = *grid};
    int64_t n_x = grid->n_x, n_y = grid->n_y;
    for (;;) {
        h.n_x[h.n_levels] = n_x;
        h.n_y[h.n_levels] = n_y;
        h.first[h.n_levels + 1] = h.first[h.n_levels] + n_x * n_y;
        h.n_levels++;
        if (n_x == 1 && n_y == 1) return h;
        n_x = (n_x + 1) / 2;
        n_y = (n_y + 1) / 2;
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

qfz_box qfz_hierarchy_box(const qfz_hierarchy *h, int level, int64_t node)
{
    const int64_t i = node - h->first[level];
    const int64_t y = i / h->n_x[level], x = i % h->n_x[level];
    const int64_t side_h = h->grid.tile_h << level, side_w = h->grid.tile_w << level;
    return (qfz_box){.y0 = y * side_h,
                     .x0 = x * side_w,
                     .y1 = least((y + 1) * side_h, h->grid.h),
                     .x1 = least((x + 1) * side_w, h->grid.w)};
}

int qfz_hierarchy_children(const qfz_hierarchy *h, int level, int64_t node, int64_t *children)
{
    const int64_t i = node - h->first[level];
    const int64_t y0 = 2 * (i / h->n_x[level]), x0 = 2 * (i % h->n_x[level]);
    int n = 0;
    for (int64_t y = y0; y < y0 + 2 && y < h->n_y[level - 1]; y++)
        for (int64_t x = x0; x < x0 + 2 && x < h->n_x[level - 1]; x++)
            children[n++] = h->first[level - 1] + y * h->n_x[level - 1] + x;
    return n;
}
