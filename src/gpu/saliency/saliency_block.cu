/* SPDX-License-Identifier: MIT */
/* saliency_block.cu - the blocks of saliency.cuh for four neighbours and levels of 16 bits. */
#include "gpu/forest/four_collect.cuh"
#include "gpu/saliency/saliency_close.cuh"
#include "gpu/saliency/saliency_out.cuh"

namespace
{
struct narrow_closes {
    template <bool FULL> using CLOSING = narrow_closing;

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

size_t qfz_saliency_narrow_shared(void)
{
    return shared_of<narrow_way>();
}

qfz_status qfz_saliency_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_saliency_blocks *blocks, void *d_saliency)
{
    const auto out = levels_out<narrow_closes, uint16_t>::of(blocks, d_saliency);
    return launch_narrow<narrow_way>(gpu, edges, &blocks->forest, out);
}
