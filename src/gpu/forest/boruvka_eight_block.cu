/* SPDX-License-Identifier: MIT */
/* boruvka_eight_block.cu - the blocks of a forest for eight neighbours. */
#include "gpu/forest/block_forest.cuh"
#include "gpu/forest/eight_collect.cuh"
#include "gpu/forest/eight_wide_pixels.cuh"

template qfz_status qfz_boruvka_solve<eight_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                 const qfz_gpu_forest *);
template qfz_status qfz_boruvka_solve<eight_wide_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                      const qfz_gpu_forest *);
