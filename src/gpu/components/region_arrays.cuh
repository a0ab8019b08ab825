/* SPDX-License-Identifier: MIT */
/* region_arrays.cuh - the arrays that describe a tile's regions. components.cuh fills them for the
 * components of an image, features/regions.cuh for any other regions.
 *
 * A region is numbered from 0; in d_label a pixel has its region + 1, or 0 where it is invalid. All
 * arrays are device memory of the caller; qfz_gpu_regions_take() carves them. */
#pragma once

#include "core/box.h"
#include "core/engine.h"
#include "gpu/device/image.cuh"

typedef struct qfz_gpu_regions {
    int32_t h, w;
    uint32_t *d_label; /* h * w */
    uint32_t *d_first; /* per region: its first pixel, y * w + x; room for h * w */
    uint32_t *d_count; /* per region: number of pixels; room for h * w; NULL where not counted */
    uint32_t *d_n; /* [0]: number of regions; [1]: number of border regions; [2 + y]: inner regions
                    * whose first pixel is in row y */
    uint32_t *d_border_region_of; /* per border region: its region; room for the ring */
    uint32_t *d_ring_region;      /* per ring pixel: its border region, QFZ_NONE where invalid */
    qfz_border_region *d_border_regions; /* room for the ring */
    /* h + 1 words: the first region whose first pixel is in row y or below */
    uint32_t *d_row_first;
    /* Bit r % 32 of word r / 32: r is a border region; after qfz_gpu_regions_name(), one that
     * another tile owns. */
    uint32_t *d_marks;
} qfz_gpu_regions;

/* The number of words that have a bit for each region. */
static inline int64_t qfz_gpu_region_words(const qfz_gpu_regions *regions)
{
    return ((int64_t)regions->h * regions->w + 31) / 32;
}

/* Carves the arrays: 8.3 bytes a pixel, 4 more if pixels are counted, and 20 a ring pixel. */
static inline void qfz_gpu_regions_take(qfz_carve *carve, int32_t h, int32_t w, bool counted,
                                        qfz_gpu_regions *regions)
{
    const int64_t n_px = (int64_t)h * w, n_ring = qfz_ring_size(h, w);
    regions->h = h;
    regions->w = w;
    qfz_carve_take(carve, &regions->d_label, n_px);
    qfz_carve_take(carve, &regions->d_first, n_px);
    regions->d_count = NULL;
    if (counted) qfz_carve_take(carve, &regions->d_count, n_px);
    qfz_carve_take(carve, &regions->d_n, 2 + h);
    qfz_carve_take(carve, &regions->d_border_region_of, n_ring);
    qfz_carve_take(carve, &regions->d_ring_region, n_ring);
    qfz_carve_take(carve, &regions->d_border_regions, n_ring);
    qfz_carve_take(carve, &regions->d_row_first, (int64_t)h + 1);
    qfz_carve_take(carve, &regions->d_marks, qfz_gpu_region_words(regions));
}
