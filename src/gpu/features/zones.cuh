/* SPDX-License-Identifier: MIT */
/* zones.cuh - features of flat zones, all pixels of each of which have the same values: the runs
 * that components.cu found say where they are, and the first pixel what they are.
 *
 * A block of threads has 64 x 64 pixels.  It adds up the runs of each component in shared memory;
 * what lies inside is stored at once, what touches the block's border is added.  Pixels are not
 * read; labels only of components at borders. */
#ifndef QFZ_GPU_ZONES_CUH
#define QFZ_GPU_ZONES_CUH

#include "core/box.h"
#include "gpu/features/regions.cuh"

/* A zone on the device, shorter than a record (record.h); places are the tile's.  The first row is
 * that of the first pixel, and all that bands add up to follows from that pixel's values and the
 * number of pixels. */
typedef struct qfz_gpu_zone {
    uint32_t pixels, x0_below_max; /* UINT32_MAX - x0, so that all ends grow from 0 */
    uint32_t y1, x1;
    uint64_t sum_y, sum_x;
} qfz_gpu_zone;

/* Are a rule's components such zones? */
bool qfz_gpu_zones_are_flat(const qfz_rule *rule);

/* d_zones[i] = region first_region + i, 0 <= i < n; aligned to 32 bytes.  d_cached and regions:
 * from qfz_gpu_components_number() of an image of h x w pixels. */
qfz_status qfz_gpu_zones_gather(qfz_gpu *gpu, int32_t h, int32_t w, void *d_cached,
                                const qfz_gpu_regions *regions, uint32_t first_region, uint32_t n,
                                qfz_gpu_zone *d_zones);

/* d_records[i] = the record of d_zones[i], its label left 0.  box: the tile's place in the raster;
 * area: the weight of every row. */
qfz_status qfz_gpu_zones_records(qfz_gpu *gpu, const qfz_gpu_image *image,
                                 const qfz_gpu_regions *regions, qfz_box box, uint64_t area,
                                 const qfz_gpu_zone *d_zones, uint32_t first_region, uint32_t n,
                                 uint64_t *d_records);

#endif
