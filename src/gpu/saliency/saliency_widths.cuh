/* SPDX-License-Identifier: MIT */
/* saliency_widths.cuh - how wide the levels of a tile's joins are. */
#pragma once

#include "gpu/saliency/saliency.cuh"
#include "gpu/saliency/saliency_tile.cuh"

/* d_planes: the planes of saliency that the blocks have written, and zeros elsewhere; no query has
 * followed. */
qfz_status qfz_saliency_widths(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                               const qfz_saliency_blocks *blocks, const void *d_planes,
                               qfz_gpu_widths *d_widths);
