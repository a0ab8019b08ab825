/* SPDX-License-Identifier: MIT */
/* outline.h - the vertical sides of a region, as a number and a sum, whatever their order.
 *
 * A polygon covers exactly the pixels of a region if both have the same vertical sides of pixels:
 * in each row of pixels, they say where the region begins and ends.  The sum is of a hash of 64
 * bits for each side. */
#ifndef QFZ_CHECK_OUTLINE_H
#define QFZ_CHECK_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qfz_outline {
    uint64_t n_sides, sum;
} qfz_outline;

/* The side of a pixel from corner (x, y) to corner (x, y + 1). */
void qfz_outline_add_side(qfz_outline *outline, int64_t x, int64_t y);
void qfz_outline_add(qfz_outline *outline, const qfz_outline *more);

typedef enum qfz_ring_fault {
    QFZ_RING_RIGHT = 0,
    QFZ_RING_OFF_CORNERS, /* a point that is no corner of a pixel of the raster */
    QFZ_RING_SLANTS       /* a line that is neither horizontal nor vertical */
} qfz_ring_fault;

/* Adds the sides of a ring of n points, in pixels of a raster of w x h, and the number of pixels
 * inside to *pixels; subtracts it if the ring is a hole. */
qfz_ring_fault qfz_outline_add_ring(qfz_outline *outline, const double *x, const double *y,
                                    int64_t n, bool is_hole, int64_t w, int64_t h, int64_t *pixels);

#endif
