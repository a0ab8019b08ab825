/* SPDX-License-Identifier: MIT */
/* ring.h - the part of a box's ring (box.h) on some sides of the box.
 *
 * A box at the raster's edge has neighbours on fewer than four sides.  Pixels of its ring that lie
 * on none of these sides are left out; the others keep their order: top row, bottom row, then the
 * rest of the left column and of the right column. */
#ifndef QFZ_RING_H
#define QFZ_RING_H

#include "core/box.h"

typedef struct qfz_ring {
    qfz_box box;
    int sides;
    int64_t n_rows, n_left, n; /* pixels in the two rows, in the left column, and in all */
} qfz_ring;

static inline qfz_ring qfz_ring_of(qfz_box box, int sides)
{
    const int64_t h = qfz_box_h(box), w = qfz_box_w(box);
    const bool top = sides & QFZ_AT_TOP, bottom = (sides & QFZ_AT_BOTTOM) && !(top && h == 1);
    const bool left = sides & QFZ_AT_LEFT, right = (sides & QFZ_AT_RIGHT) && !(left && w == 1);
    const int64_t n_rows = (top + bottom) * w, n_column = h - top - bottom;
    return (qfz_ring){box, sides, n_rows, left * n_column, n_rows + (left + right) * n_column};
}

/* The number of pixel (y, x), in raster coordinates, which lies on this ring. */
static inline int64_t qfz_ring_at(const qfz_ring *r, int64_t y, int64_t x)
{
    const bool top = r->sides & QFZ_AT_TOP, left = r->sides & QFZ_AT_LEFT;
    if (top && y == r->box.y0) return x - r->box.x0;
    if ((r->sides & QFZ_AT_BOTTOM) && y == r->box.y1 - 1)
        return r->n_rows - qfz_box_w(r->box) + x - r->box.x0;
    return r->n_rows + (left && x == r->box.x0 ? 0 : r->n_left) + y - r->box.y0 - top;
}

/* The place of pixel i of this ring, in raster coordinates. */
static inline void qfz_ring_pixel(const qfz_ring *r, int64_t i, int64_t *y, int64_t *x)
{
    const bool top = r->sides & QFZ_AT_TOP;
    const int64_t w = qfz_box_w(r->box), in_columns = i - r->n_rows;
    const bool is_right = in_columns >= r->n_left;
    if (in_columns >= 0) {
        *y = r->box.y0 + top + in_columns - (is_right ? r->n_left : 0);
        *x = is_right ? r->box.x1 - 1 : r->box.x0;
    } else {
        *y = top && i < w ? r->box.y0 : r->box.y1 - 1;
        *x = r->box.x0 + (top && i < w ? i : i - (r->n_rows - w));
    }
}

#endif
