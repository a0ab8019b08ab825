/* SPDX-License-Identifier: MIT */
/* connect_v1.cu - method connect-v1: version 1 of Carlinet, Kaci, Blin, An alpha-tree algorithm for
 * massively parallel architectures (IEEE TIP 2025). Every edge is a node; each pixel begins as the
 * chain of its edges. */
#include "gpu/published/connect_blocks.cuh"

qfz_status qfz_gpu_connect_v1(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                              bool is_local, uint64_t *d_links)
{
    return qfz_connect_any<QFZ_CONNECT_V1>(gpu, edges, alpha_level, is_local, d_links);
}
