/* SPDX-License-Identifier: MIT */
/* saliency_wide_block.cu - the blocks of saliency.cuh for four neighbours and levels of 32 bits. */
#include "gpu/forest/four_wide_pixels.cuh"
#include "gpu/saliency/saliency_out.cuh"

size_t qfz_saliency_wide_shared(void)
{
    return shared_of<wide_way>();
}

qfz_status qfz_saliency_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                    const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_wide<wide_way>(gpu, edges, blocks, d_saliency);
}
