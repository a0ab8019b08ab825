/* SPDX-License-Identifier: MIT */
/* gather.cuh - sums over the pixels of each region of a tile: pixel counts, exact sums of a band
 * (core/exact.h) and feature records (core/record.h), bit for bit those of the CPU engine.
 *
 * Runs of pixels of one region in a row are added to the results by atomic operations
 * (gather_rows.cuh). */
#pragma once

#include "core/box.h"
#include "gpu/features/regions.cuh"

/* Adds the pixels of every region to d_count, which must be zero for every region. */
qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions);

/* d_sums[i] = exact sum of band `band` over region first_region + i, 0 <= i < n; each sum has
 * qfz_sum_words(image->type) words. */
qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t first_region,
                               uint32_t n, uint64_t *d_sums);

/* d_least[region], d_greatest[region] = the orders (device/pixel_type.cuh) of the least and the
 * greatest value of each of n regions, all of the tile, in a band. */
qfz_status qfz_gpu_gather_ends(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t n, uint32_t *d_least,
                               uint32_t *d_greatest);

/* The area weight of a pixel, by row of the tile: d_row[y], or `same` for every row if d_row is
 * NULL. The sum over a region must stay below 2^64. */
typedef struct qfz_gpu_areas {
    uint64_t same;
    const uint64_t *d_row;
} qfz_gpu_areas;

/* Requested records: d_records[i] = record of region first_region + i, 0 <= i < n, with label 0,
 * qfz_record_words() words each. box: the tile's place in the raster. */
typedef struct qfz_gpu_records {
    qfz_box box;
    qfz_gpu_areas areas;
    uint32_t first_region, n;
    uint64_t *d_records;
} qfz_gpu_records;

qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, const qfz_gpu_records *wanted);
