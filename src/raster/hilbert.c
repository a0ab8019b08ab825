/* SPDX-License-Identifier: MIT */
#include "raster/hilbert.h"

#include <math.h>
#include <stdlib.h>

enum { BITS = 16 }; /* of a coordinate in cells */

qfz_extent qfz_extent_none(void)
{
    return (qfz_extent){INFINITY, INFINITY, -INFINITY, -INFINITY};
}

void qfz_extent_widen(qfz_extent *a, const qfz_extent *b)
{
    a->x0 = fmin(a->x0, b->x0);
    a->y0 = fmin(a->y0, b->y0);
    a->x1 = fmax(a->x1, b->x1);
    a->y1 = fmax(a->y1, b->y1);
}

/* The position of a cell on the curve that fills the square of 2^BITS x 2^BITS cells: from the
 * largest quadrants to the smallest, each turned as the curve enters it. */
static uint32_t position(uint32_t x, uint32_t y)
{
    uint32_t at = 0;
    for (uint32_t side = 1u << (BITS - 1); side > 0; side >>= 1) {
        const uint32_t right = (x & side) != 0, upper = (y & side) != 0;
        at = at << 2 | ((3 * right) ^ upper);
        if (upper) continue;
        const uint32_t turn = right ? UINT32_MAX : 0, was_x = x ^ turn;
        x = y ^ turn;
        y = was_x;
    }
    return at;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    return (i > j) - (i < j);
}

static uint32_t cell(double middle, double low, double per_cell)
{
    const double at = per_cell > 0 ? (middle - low) / per_cell : 0;
    return at > 0 ? (uint32_t)fmin(at, (1u << BITS) - 1) : 0;
}

void qfz_hilbert_order(const qfz_extent *boxes, int64_t n, uint32_t *order, uint64_t *keys)
{
    qfz_extent all = qfz_extent_none();
    for (int64_t i = 0; i < n; i++)
        qfz_extent_widen(&all, &boxes[i]);
    const double per_cell = fmax(all.x1 - all.x0, all.y1 - all.y0) / (1u << BITS);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t x = cell((boxes[i].x0 + boxes[i].x1) / 2, all.x0, per_cell);
        const uint32_t y = cell((boxes[i].y0 + boxes[i].y1) / 2, all.y0, per_cell);
        keys[i] = (uint64_t)position(x, y) << 32 | (uint64_t)i;
    }
    if (n > 1) qsort(keys, (size_t)n, sizeof *keys, by_value);
    for (int64_t i = 0; i < n; i++)
        order[i] = (uint32_t)keys[i];
}
