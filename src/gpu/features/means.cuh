/* SPDX-License-Identifier: MIT */
/* means.cuh - what becomes of the exact sums of a tile's regions, of n from first_region on
 * (gather.cuh): means, rounded to the bit like those of the host (exact.h), and the sums of those
 * of them that are border_regions. */
#ifndef QFZ_GPU_MEANS_CUH
#define QFZ_GPU_MEANS_CUH

#include "gpu/features/regions.cuh"

/* d_means[region], in the raster's type: of a border_region d_border_mean, else sum / pixels. */
qfz_status qfz_gpu_means(qfz_gpu *gpu, const qfz_gpu_regions *regions, qfz_type type,
                         uint32_t first_region, uint32_t n, uint32_t n_border_regions,
                         const uint64_t *d_sums, const void *d_border_mean, void *d_means);

/* d_out[border_region] = the sum of its region; sum_words words each. */
qfz_status qfz_gpu_border_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions, uint32_t first_region,
                               uint32_t n, uint32_t n_border_regions, int sum_words,
                               const uint64_t *d_sums, uint64_t *d_out);

#endif
