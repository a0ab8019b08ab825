/* SPDX-License-Identifier: MIT */
/* spans.cuh - the least and the greatest value of each region of a tile in one band (core/span.h),
 * and the pixels of those whose span exceeds a limit. */
#pragma once

#include "gpu/features/regions.cuh"

/* By region, device memory of the caller; the values as orders (device/pixel_type.cuh). */
typedef struct qfz_gpu_spans {
    uint32_t n; /* regions */
    uint32_t *d_least, *d_greatest;
    uint32_t *d_wide; /* 1: too wide in a band so far, else 0 */
} qfz_gpu_spans;

/* Fills the spans of one band; sets d_wide of regions whose span exceeds omega.  d_wide must be 0
 * before the first band. */
qfz_status qfz_gpu_spans_of_band(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                 const qfz_gpu_image *image, int band, double omega,
                                 const qfz_gpu_spans *spans);

/* d_out[2 s], d_out[2 s + 1] = the words of the span of border region s in the last band. */
qfz_status qfz_gpu_spans_of_border(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   uint32_t n_border_regions, const qfz_gpu_spans *spans,
                                   uint64_t *d_out);

/* *d_pixels += the pixels of inner regions that are too wide. */
qfz_status qfz_gpu_spans_count(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_spans *spans, uint32_t *d_pixels);
