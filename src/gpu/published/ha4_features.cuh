/* SPDX-License-Identifier: MIT */
/* ha4_features.cuh - HA4's connected component analysis: what the pixels of each region add up to,
 * without labels.
 *
 * Hennequin et al. (DASIP 2018), algorithm 6: the starts of segments look for their roots, and give
 * them what is known of whole segments.  Here regions are numbered before, so that their features
 * are records (record.h) in the order of their first pixels, to the bit those of the CPU engine,
 * and bands are added up too. */
#ifndef QFZ_GPU_HA4_FEATURES_CUH
#define QFZ_GPU_HA4_FEATURES_CUH

#include "gpu/features/gather.cuh"
#include "gpu/published/published.cuh"

/* A numbered root's parent is its region and this bit. */
static const uint32_t QFZ_HA4_NUMBERED = 0x80000000u;

/* Scratch memory; what the first function leaves there is the second one's. */
size_t qfz_gpu_ha4_regions_bytes(int32_t h, int32_t w);

/* The regions, but no labels: d_parent, h * w, keeps what leads from segments to regions, *d_n is
 * how many there are. */
qfz_status qfz_gpu_ha4_regions(qfz_gpu *gpu, const qfz_gpu_segments *segments, void *d_scratch,
                               uint32_t *d_parent, uint32_t *d_n);

/* d_records[i] = features of region first_region + i, 0 <= i < n, labels left 0.  image: bands of
 * integers of the same tile, its validity not looked at; box: the tile's place in the raster. */
qfz_status qfz_gpu_ha4_features(qfz_gpu *gpu, const qfz_gpu_image *image, qfz_box box,
                                qfz_gpu_areas areas, uint32_t first_region, uint32_t n,
                                const void *d_scratch, const uint32_t *d_parent,
                                uint64_t *d_records);

#endif
