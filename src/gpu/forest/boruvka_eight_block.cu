/* SPDX-License-Identifier: MIT */
/* boruvka_eight_block.cu - the blocks of a forest for eight neighbours. */
#include "gpu/forest/block_forest.cuh"
#include "gpu/forest/eight_collect.cuh"
#include "gpu/forest/eight_wide_pixels.cuh"

size_t qfz_boruvka_eight_shared(bool wide)
{
    return wide ? shared_of<eight_wide_way>() : shared_of<eight_way>();
}

qfz_status qfz_boruvka_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                    const qfz_gpu_forest *forest)
{
    return edges->form >= QFZ_EDGES_WIDE
               ? launch_wide_forest<eight_wide_way>(gpu, edges, forest)
               : launch_narrow<eight_way>(gpu, edges, forest, forest_out());
}
