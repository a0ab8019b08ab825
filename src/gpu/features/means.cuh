/* SPDX-License-Identifier: MIT */
/* means.cuh - means of regions, and sums of border regions, from the exact sums that gather.cuh
 * makes. Means are rounded as qfz_sum_mean() (core/exact.h) rounds them, to the same bits. Sums are
 * those of regions first_region .. first_region + n - 1; other regions are skipped. */
#pragma once

#include "gpu/features/regions.cuh"

/* d_means[region], in the raster's type, = d_border_mean[border region] for a border region, whose
 * pixels may lie in other tiles too, else the region's sum / its pixels. d_means has room for every
 * region of the tile; regions->d_count must be filled. */
qfz_status qfz_gpu_means(qfz_gpu *gpu, const qfz_gpu_regions *regions, qfz_type type,
                         uint32_t first_region, uint32_t n, uint32_t n_border_regions,
                         const uint64_t *d_sums, const void *d_border_mean, void *d_means);

/* d_out[border region] = the sum of its region, sum_words words each; border regions whose region
 * is not among the n are left unchanged. */
qfz_status qfz_gpu_border_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions, uint32_t first_region,
                               uint32_t n, uint32_t n_border_regions, int sum_words,
                               const uint64_t *d_sums, uint64_t *d_out);
