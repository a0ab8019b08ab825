/* SPDX-License-Identifier: MIT */
/* saliency_block.cu - the blocks of saliency.cuh for four neighbours and levels of 16 bits. */
#include "gpu/forest/four_collect.cuh"
#include "gpu/saliency/saliency_out.cuh"

size_t qfz_saliency_narrow_shared(void)
{
    return shared_of<narrow_way>();
}

qfz_status qfz_saliency_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_narrow<narrow_way>(gpu, edges, &blocks->forest,
                                     levels_out<narrow_way, uint16_t>::of(blocks, d_saliency));
}
