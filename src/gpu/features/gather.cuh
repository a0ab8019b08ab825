/* SPDX-License-Identifier: MIT */
/* gather.cuh - what the pixels of each region add up to: their number, exact sums (exact.h) and
 * records of features (record.h), to the bit those of the host.
 *
 * A block of threads has 64 x 64 pixels.  It adds up what it has of each region in shared memory,
 * in a table with a place for each region that is found there, then gives each region's part to
 * global memory at once; what lies in one block alone is stored, the rest added.  Sums are kept as
 * digits of 16 bits in words of 32, so that 4096 pixels cannot overflow one. */
#ifndef QFZ_GPU_GATHER_CUH
#define QFZ_GPU_GATHER_CUH

#include "core/box.h"
#include "gpu/features/regions.cuh"

/* d_count, zero where a region is, becomes the number of its pixels; d_spans, all zero, what is in
 * several blocks. */
qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions);

/* d_sums[i] = exact sum of a band, qfz_sum_words() words, of region first_region + i, 0 <= i < n.
 */
qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t first_region,
                               uint32_t n, uint64_t *d_sums);

/* Weights of rows: same for all of them, or d_row[y] for row y of the tile, where that is not
 * NULL.  No region's sum may pass 2^64. */
typedef struct qfz_gpu_areas {
    uint64_t same;
    const uint64_t *d_row;
} qfz_gpu_areas;

/* d_records[i] = features of region first_region + i, 0 <= i < n, labels left 0; aligned to 16
 * bytes.  box: the tile's place in the raster. */
qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, qfz_box box, qfz_gpu_areas areas,
                                   uint32_t first_region, uint32_t n, uint64_t *d_records);

#endif
