/* SPDX-License-Identifier: MIT */
/* saliency_eight_wide_block.cu - the blocks of saliency.cuh: eight neighbours, 32 bits. */
#include "gpu/forest/eight_wide_pixels.cuh"
#include "gpu/saliency/saliency_out.cuh"

template qfz_status qfz_saliency_solve<eight_wide_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                       const qfz_saliency_blocks *, void *);
