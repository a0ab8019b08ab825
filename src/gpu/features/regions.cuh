/* SPDX-License-Identifier: MIT */
/* regions.cuh - regions of a tile in device memory: numbered by first pixel, counted, numbered
 * again where they touch the tile's ring, named as the raster's numbering wants, and painted.  What
 * their pixels add up to is gather.cuh's.
 *
 * All arrays are in device memory and belong to the caller; qfz_gpu_regions_take() carves them.
 * A region is numbered from 0; a pixel's label is its region + 1, 0 where it is invalid. */
#ifndef QFZ_GPU_REGIONS_CUH
#define QFZ_GPU_REGIONS_CUH

#include "core/engine.h"
#include "gpu/device/image.cuh"

typedef struct qfz_gpu_regions {
    int32_t h, w;
    uint32_t *d_label; /* h * w */
    uint32_t *d_first; /* a region's first pixel; room for h * w */
    uint32_t *d_count; /* its pixels; room for h * w; NULL where they are not counted */
    uint32_t *d_spans; /* bit r % 32 of word r / 32: several blocks (gather.cuh) may have some */
    uint32_t *d_n; /* [0]: how many regions there are; [1]: how many border_regions; from [2] on,
                    * per row, the inner regions that begin in it */
    uint32_t *d_border_region_of; /* border_region -> region; room for the ring */
    uint32_t *d_ring_region;      /* border_region of each ring pixel, QFZ_NONE where invalid */
    qfz_border_region *d_border_regions; /* room for the ring */
    uint32_t *d_row_first; /* h + 1: the first region that begins in the row or below */
    uint32_t
        *d_marks; /* bits like those of d_spans: the border_regions, or the named ones of them */
} qfz_gpu_regions;

/* Its arrays out of a carve: 8.3 bytes a pixel, 4 more to count them, and 20 a ring pixel. */
void qfz_gpu_regions_take(qfz_carve *carve, int32_t h, int32_t w, bool counted,
                          qfz_gpu_regions *regions);

/* Scratch memory that any of the functions below needs. */
size_t qfz_gpu_regions_bytes(int32_t h, int32_t w);

/* d_label, d_first, d_count, d_spans and d_n[0] out of the root of each pixel: any pixel of its
 * region, the same for all of them, being its own root; QFZ_NONE where invalid.  Regions come in
 * the order of their roots, so the first pixel is the one to choose. */
qfz_status qfz_gpu_regions_number(qfz_gpu *gpu, const uint32_t *d_root, void *d_scratch,
                                  const qfz_gpu_regions *regions);

/* d_border_region_of, d_ring_region and d_n[1]: border_regions are the regions that touch the ring,
 * numbered by first appearance there (box.h); of a tile that has no outside there are none, and
 * d_ring_region is left.  Then d_border_regions, d_row_first, d_marks and the rest of d_n. */
qfz_status qfz_gpu_regions_border(qfz_gpu *gpu, bool has_outside, void *d_scratch,
                                  const qfz_gpu_regions *regions);

/* d_name[region] = its label, as qfz_numbers has it; d_row_start NULL: 1, 2, 3 ... */
qfz_status qfz_gpu_regions_name(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                uint32_t n_border_regions, const uint64_t *d_row_start,
                                const uint64_t *d_border_label, uint64_t *d_name);

/* d_out[px] = d_name[region], 0 where invalid; uint32_t, or uint64_t if wide. */
qfz_status qfz_gpu_regions_labels(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                  const uint64_t *d_name, bool wide, void *d_out);

/* The labels of n records of record_words words, those of first_region and after (record.h). */
qfz_status qfz_gpu_regions_name_records(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                        uint32_t n_border_regions, const uint64_t *d_name,
                                        uint32_t first_region, uint32_t n, int record_words,
                                        uint64_t *d_records);

/* d_out[px] = d_lut[region], *invalid (in host memory) where invalid; values of 1, 2 or 4 bytes. */
qfz_status qfz_gpu_regions_paint(qfz_gpu *gpu, const qfz_gpu_regions *regions, const void *d_lut,
                                 size_t value_bytes, const void *invalid, void *d_out);

#endif
