/* SPDX-License-Identifier: MIT */
/* boruvka_block.cu - the blocks of a forest for four neighbours. */
#include "gpu/forest/block_forest.cuh"
#include "gpu/forest/four_collect.cuh"
#include "gpu/forest/four_wide_pixels.cuh"

template qfz_status qfz_boruvka_solve<narrow_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                  const qfz_gpu_forest *);
template qfz_status qfz_boruvka_solve<wide_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                const qfz_gpu_forest *);
