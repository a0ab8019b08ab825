/* SPDX-License-Identifier: MIT */
/* saliency_wide_block.cu - the blocks of saliency.cuh for four neighbours and levels of 32 bits. */
#include "gpu/forest/four_wide_pixels.cuh"
#include "gpu/saliency/saliency_out.cuh"

template qfz_status qfz_saliency_solve<wide_way>(qfz_gpu *, const qfz_gpu_edges *,
                                                 const qfz_saliency_blocks *, void *);
