/* SPDX-License-Identifier: MIT */
/* flat_regions.cuh - features of flat regions, whose pixels all have the same values (flat zones).
 * The position of such a region follows from the runs that components.cu has found, and all band
 * statistics follow from its first pixel and its number of pixels.
 *
 * A thread block covers 64 x 64 pixels. It adds up the runs of each component in shared memory; a
 * component inside the block is stored at once, a component that touches the block's border is
 * added with atomic operations. Pixels are not read, and labels only at block borders. */
#pragma once

#include "core/box.h"
#include "gpu/features/regions.cuh"

/* A flat region on the device, shorter than a record (core/record.h). Coordinates are relative to
 * the tile. The first row is not stored: it is that of the region's first pixel. */
typedef struct qfz_gpu_flat_region {
    uint32_t pixels, x0_below_max; /* x0_below_max: UINT32_MAX - x0, so that x0, y1 and x1 all start
                                    * from 0 and are merged by maximum */
    uint32_t y1, x1;
    uint64_t sum_y, sum_x;
} qfz_gpu_flat_region;

/* True if the rule makes flat regions only: alpha 0 on an integer raster. */
bool qfz_gpu_regions_are_flat(const qfz_rule *rule);

/* d_flats[i] = region first_region + i, 0 <= i < n; d_flats is aligned to 32 bytes. d_cached and
 * regions are those that qfz_gpu_components_number() filled for an image of h x w pixels. */
qfz_status qfz_gpu_flat_regions_gather(qfz_gpu *gpu, int32_t h, int32_t w, void *d_cached,
                                       const qfz_gpu_regions *regions, uint32_t first_region,
                                       uint32_t n, qfz_gpu_flat_region *d_flats);

/* d_records[i] = the record of d_flats[i], region first_region + i, with label 0; each record has
 * qfz_record_words() words. box: the tile's place in the raster. area: the weight of a pixel, the
 * same in every row. The image must have an integer type. */
qfz_status qfz_gpu_flat_regions_records(qfz_gpu *gpu, const qfz_gpu_image *image,
                                        const qfz_gpu_regions *regions, qfz_box box, uint64_t area,
                                        const qfz_gpu_flat_region *d_flats, uint32_t first_region,
                                        uint32_t n, uint64_t *d_records);
