/* SPDX-License-Identifier: MIT */
/* box.h - half-open boxes of pixels, and the ring of a box: its outermost pixels.
 *
 * The pixels of a ring are numbered: the top row, the bottom row, then the left column and the
 * right column without their ends.  Boundary summaries and exteriors are arrays in that order. */
#ifndef QFZ_BOX_H
#define QFZ_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host_device.h"

typedef struct qfz_box {
    int64_t y0, x0, y1, x1;
} qfz_box;

/* Sides of a box, as bits. */
enum { QFZ_AT_TOP = 1, QFZ_AT_BOTTOM = 2, QFZ_AT_LEFT = 4, QFZ_AT_RIGHT = 8, QFZ_ALL_SIDES = 15 };

static inline int64_t qfz_box_h(qfz_box b)
{
    return b.y1 - b.y0;
}

static inline int64_t qfz_box_w(qfz_box b)
{
    return b.x1 - b.x0;
}

static inline bool qfz_box_has(qfz_box b, int64_t y, int64_t x)
{
    return y >= b.y0 && y < b.y1 && x >= b.x0 && x < b.x1;
}

/* The number of pixels on the ring of a box of h x w, both at least 1. */
static inline int64_t qfz_ring_size(int64_t h, int64_t w)
{
    return h <= 2 ? h * w : 2 * w + (w == 1 ? 1 : 2) * (h - 2);
}

static inline bool qfz_on_ring(int64_t h, int64_t w, int64_t y, int64_t x)
{
    return y == 0 || y == h - 1 || x == 0 || x == w - 1;
}

/* The number of ring pixel (y, x), both relative to the box. */
static inline int64_t qfz_ring_index(int64_t h, int64_t w, int64_t y, int64_t x)
{
    if (y == 0) return x;
    if (y == h - 1) return w + x;
    return x == 0 ? 2 * w + y - 1 : 2 * w + (h - 2) + y - 1;
}

/* The place of ring pixel i, relative to the box. */
QFZ_HOST_AND_DEVICE void qfz_ring_place(int64_t h, int64_t w, int64_t i, int64_t *y, int64_t *x)
{
    if (i < w || h == 1) {
        *y = 0;
        *x = i;
    } else if (i < 2 * w) {
        *y = h - 1;
        *x = i - w;
    } else if (i < 2 * w + h - 2) {
        *y = i - 2 * w + 1;
        *x = 0;
    } else {
        *y = i - 2 * w - (h - 2) + 1;
        *x = w - 1;
    }
}

#endif
