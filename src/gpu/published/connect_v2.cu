/* SPDX-License-Identifier: MIT */
/* connect_v2.cu - method connect-v2: version 2 of Carlinet, Kaci, Blin, An alpha-tree algorithm for
 * massively parallel architectures (IEEE TIP 2025). An edge becomes a node only if it is neither
 * residual nor redundant. */
#include "gpu/published/connect_blocks.cuh"

qfz_status qfz_gpu_connect_v2(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                              bool is_local, uint64_t *d_links)
{
    return qfz_connect_any<QFZ_CONNECT_V2>(gpu, edges, alpha_level, is_local, d_links);
}
