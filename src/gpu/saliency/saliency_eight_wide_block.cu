/* SPDX-License-Identifier: MIT */
/* saliency_eight_wide_block.cu - the blocks of saliency.cuh for eight neighbours and levels of 32
 * bits. */
#include "gpu/forest/eight_wide_pixels.cuh"
#include "gpu/saliency/saliency_eight_wide_close.cuh"
#include "gpu/saliency/saliency_out.cuh"

namespace
{
struct eight_wide_closes {
    template <bool FULL> using CLOSING = eight_wide_closing;

    template <typename WORK, typename OUT>
    static __device__ __forceinline__ vertex_map open(const WORK &w, const OUT &out)
    {
        return vertices_at(w.forest, w.box, out.open, out.saliency);
    }

    template <bool FULL, typename WORK, typename OUT>
    static __device__ __forceinline__ void store(const WORK &w, CLOSING<FULL> &e, const OUT &out)
    {
        if (sizeof *out.saliency == sizeof(uint32_t))
            move_levels(w, e, out.moved + (int64_t)blockIdx.x * QFZ_MOVED_WORDS);
        store_levels<FULL>(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_eight_wide_shared(void)
{
    return shared_of<eight_wide_way>();
}

qfz_status qfz_saliency_eight_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                          const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_wide<eight_wide_way, eight_wide_closes>(gpu, edges, blocks, d_saliency);
}
