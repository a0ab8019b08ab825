/* SPDX-License-Identifier: MIT */
/* ha4_features.cuh - HA4's connected component analysis, algorithm 6 of the paper (published.cuh):
 * features of regions without labels.
 *
 * In the paper the starts of segments find their roots and add the sums of their segments to them.
 * Here regions are numbered first, so that features are records (core/record.h) in the order of
 * first pixels, equal bit for bit to those of the CPU engine, and sums over bands are added. */
#pragma once

#include "gpu/features/gather.cuh"
#include "gpu/published/published.cuh"

/* The parent of a numbered root is its region | this bit. */
static const uint32_t QFZ_HA4_NUMBERED = 0x80000000u;

/* Bytes of scratch memory; qfz_gpu_ha4_features() reads what qfz_gpu_ha4_regions() left there. */
size_t qfz_gpu_ha4_regions_bytes(int32_t h, int32_t w);

/* Numbers the regions by first pixel, without labels: d_parent, h * w, receives the links from
 * segments to regions, *d_n their number. */
qfz_status qfz_gpu_ha4_regions(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                               void *d_scratch, uint32_t *d_parent, uint32_t *d_n);

/* Fills the records. image: bands of integers of the same tile; its validity is not read.
 * d_scratch, d_parent: as qfz_gpu_ha4_regions() left them. */
qfz_status qfz_gpu_ha4_features(qfz_gpu *gpu, const qfz_gpu_image *image, const void *d_scratch,
                                const uint32_t *d_parent, const qfz_gpu_records *wanted);
