/* SPDX-License-Identifier: MIT */
/* regions.cuh - regions of a tile in device memory: numbered by first pixel, counted, numbered
 * again where they touch the tile's ring, and painted.  What their pixels add up to is
 * gather.cuh's.
 *
 * All arrays are in device memory and belong to the caller; qfz_gpu_regions_take() carves them.
 * A region is numbered from 0; a pixel's label is its region + 1, 0 where it is invalid. */
#ifndef QFZ_GPU_REGIONS_CUH
#define QFZ_GPU_REGIONS_CUH

#include "gpu/image.cuh"

typedef struct qfz_gpu_regions {
    int32_t h, w;
    uint32_t *d_label; /* h * w */
    uint32_t *d_first; /* a region's first pixel; room for h * w */
    uint32_t *d_count; /* its pixels; room for h * w */
    uint32_t *d_spans; /* bit r % 32 of word r / 32: several blocks (gather.cuh) have some of it */
    uint32_t *d_n;     /* [0]: how many regions there are; [1]: how many slots */
    uint32_t *d_slot_region; /* slot -> region; room for the ring */
    uint32_t *d_ring_slot;   /* slot of each ring pixel, QFZ_NONE where invalid */
} qfz_gpu_regions;

/* Its arrays out of a carve: 12.2 bytes a pixel and 8 a ring pixel. */
void qfz_gpu_regions_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_regions *regions);

/* Scratch memory that any of the functions below needs. */
size_t qfz_gpu_regions_bytes(int32_t h, int32_t w);

/* d_label, d_first, d_count, d_spans and d_n[0] out of the root of each pixel: any pixel of its
 * region, the same for all of them, being its own root; QFZ_NONE where invalid.  Regions come in
 * the order of their roots, so the first pixel is the one to choose. */
qfz_status qfz_gpu_regions_number(qfz_gpu *gpu, const uint32_t *d_root, void *d_scratch,
                                  const qfz_gpu_regions *regions);

/* d_slot_region, d_ring_slot and d_n[1]: slots are the regions that touch the ring, numbered by
 * first appearance there (box.h). */
qfz_status qfz_gpu_regions_slots(qfz_gpu *gpu, void *d_scratch, const qfz_gpu_regions *regions);

/* d_out[px] = d_lut[region], 0 where invalid; uint32_t, or uint64_t if wide. */
qfz_status qfz_gpu_regions_labels(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                  const uint64_t *d_lut, bool wide, void *d_out);

/* d_out[px] = d_lut[region], *invalid (in host memory) where invalid; values of 1, 2 or 4 bytes. */
qfz_status qfz_gpu_regions_paint(qfz_gpu *gpu, const qfz_gpu_regions *regions, const void *d_lut,
                                 size_t value_bytes, const void *invalid, void *d_out);

#endif
