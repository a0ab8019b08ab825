/* SPDX-License-Identifier: MIT */
/* boruvka_block.cu - the blocks of a forest for four neighbours, and the choice of the variant. */
#include "gpu/forest/block_forest.cuh"
#include "gpu/forest/four_collect.cuh"
#include "gpu/forest/four_wide_pixels.cuh"

static bool is_wide(const qfz_gpu_edges *edges)
{
    return edges->form >= QFZ_EDGES_WIDE;
}

size_t qfz_gpu_forest_shared(const qfz_gpu_edges *edges)
{
    if (edges->connectivity == 8) return qfz_boruvka_eight_shared(is_wide(edges));
    return is_wide(edges) ? shared_of<wide_way>() : shared_of<narrow_way>();
}

qfz_status qfz_boruvka_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_forest *forest)
{
    if (edges->connectivity == 8) return qfz_boruvka_eight_blocks(gpu, edges, forest);
    return is_wide(edges) ? launch_wide_forest<wide_way>(gpu, edges, forest)
                          : launch_narrow<narrow_way>(gpu, edges, forest, forest_out());
}
