/* SPDX-License-Identifier: MIT */
/* hilbert.h - boxes in the order of a Hilbert curve, in which neighbours in the list are neighbours
 * in the plane: from such lists spatial indexes are packed. */
#ifndef QFZ_RASTER_HILBERT_H
#define QFZ_RASTER_HILBERT_H

#include <stdint.h>

typedef struct qfz_extent {
    double x0, y0, x1, y1; /* closed */
} qfz_extent;

/* An extent without points, and a widened by b. */
qfz_extent qfz_extent_none(void);
void qfz_extent_widen(qfz_extent *a, const qfz_extent *b);

/* order[k] = the index of the k-th of n < 2^32 boxes along a curve through their middles; boxes in
 * one cell of the curve keep their order.  keys: scratch room of n. */
void qfz_hilbert_order(const qfz_extent *boxes, int64_t n, uint32_t *order, uint64_t *keys);

#endif
