/* SPDX-License-Identifier: MIT */
/* saliency_eight_block.cu - the blocks of saliency.cuh: eight neighbours, levels of 16 bits. */
#include "gpu/forest/eight_collect.cuh"
#include "gpu/saliency/saliency_out.cuh"

template qfz_status qfz_saliency_solve<eight_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                  const qfz_saliency_blocks *, void *);
