/* SPDX-License-Identifier: MIT */
/* saliency_wide_block.cu - the blocks of saliency.cuh for four neighbours and levels of 32 bits. */
#include "gpu/forest/four_wide_pixels.cuh"
#include "gpu/saliency/saliency_out.cuh"
#include "gpu/saliency/saliency_wide_close.cuh"

namespace
{
struct wide_closes {
    template <bool FULL> using CLOSING = wide_closing;

    template <typename WORK, typename OUT>
    static __device__ __forceinline__ uint32_t *open(const WORK &, const OUT &out)
    {
        return list_of(out);
    }

    template <bool FULL, typename WORK, typename OUT>
    static __device__ __forceinline__ void store(const WORK &w, const CLOSING<FULL> &e,
                                                 const OUT &out)
    {
        store_levels<FULL>(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_wide_shared(void)
{
    return shared_of<wide_way>();
}

qfz_status qfz_saliency_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                    const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_wide<wide_way, wide_closes>(gpu, edges, blocks, d_saliency);
}
