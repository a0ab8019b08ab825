/* SPDX-License-Identifier: MIT */
/* land.h - an endless landscape that is a pure function of (x, y, band, seed).
 *
 * Fields as polygons with crop texture, forest, rivers, towns, roads, sensor noise.  A block is
 * computed from the objects that can reach it, so any box of any raster costs the same. */
#ifndef LAND_H
#define LAND_H

#include <stdint.h>

enum { LAND_BLOCK = 64, LAND_MAX_BANDS = 64 };

typedef struct landscape {
    uint64_t seed;
    int n_bands;
    int max_value; /* 255 or 65535 */
} landscape;

/* Fills planes[b][row * stride + col] for the block of w x h pixels, each at most LAND_BLOCK, whose
 * first pixel is (x0, y0).  Values are 1..max_value: 0 is left for nodata. */
void land_block(const landscape *land, int64_t x0, int64_t y0, int w, int h,
                uint16_t *const *planes, int64_t stride);

#endif
