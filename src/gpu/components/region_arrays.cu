/* SPDX-License-Identifier: MIT */
/* region_arrays.cu - carves the arrays that describe a tile's regions. */
#include "gpu/components/region_arrays.cuh"

#include "core/box.h"

void qfz_gpu_regions_take(qfz_carve *carve, int32_t h, int32_t w, bool counted,
                          qfz_gpu_regions *regions)
{
    const int64_t n_px = (int64_t)h * w, n_ring = qfz_ring_size(h, w);
    regions->h = h;
    regions->w = w;
    qfz_carve_take(carve, &regions->d_label, n_px);
    qfz_carve_take(carve, &regions->d_first, n_px);
    regions->d_count = NULL;
    if (counted) qfz_carve_take(carve, &regions->d_count, n_px);
    qfz_carve_take(carve, &regions->d_spans, qfz_gpu_region_words(regions));
    qfz_carve_take(carve, &regions->d_n, 2 + h);
    qfz_carve_take(carve, &regions->d_border_region_of, n_ring);
    qfz_carve_take(carve, &regions->d_ring_region, n_ring);
    qfz_carve_take(carve, &regions->d_border_regions, n_ring);
    qfz_carve_take(carve, &regions->d_row_first, (int64_t)h + 1);
    qfz_carve_take(carve, &regions->d_marks, qfz_gpu_region_words(regions));
}
