/* SPDX-License-Identifier: MIT */
/* saliency_eight_block.cu - the blocks of saliency.cuh for eight neighbours and levels of 16 bits.
 */
#include "gpu/forest/eight_collect.cuh"
#include "gpu/saliency/saliency_out.cuh"

size_t qfz_saliency_eight_shared(void)
{
    return shared_of<eight_way>();
}

qfz_status qfz_saliency_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                     const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_narrow<eight_way>(gpu, edges, &blocks->forest,
                                    levels_out<eight_way, uint16_t>::of(blocks, d_saliency));
}
