/* SPDX-License-Identifier: MIT */
/* saliency_wide_block.cu - the block kernel of saliency.cuh for four neighbours and levels of 32
 * bits. */
#include "gpu/saliency/saliency_launch.cuh"
#include "gpu/saliency/saliency_wide_close.cuh"
#include "gpu/saliency/saliency_wide_pixels.cuh"

namespace
{
struct wide_way {
    typedef wide_work WORK;
    typedef wide_settled SETTLED;
    template <bool FULL> using CLOSING = wide_closing;
    template <typename T> using BAND = wide_band<T>;
    typedef wide_keys KEYS;
    enum { BLOCKS = 3 };

    template <bool FULL, typename SOURCE>
    static __device__ __forceinline__ WORK::KEY make_list(WORK &w, const SOURCE &source,
                                                          typename SOURCE::values &in, SETTLED &s,
                                                          CLOSING<FULL> &)
    {
        wide_edges edges;
        chosen_ways<WORK> p;
        begin(w);
        first_round<FULL, SOURCE>(w, in, p, s.top, edges);
        publish(w, p);
        __syncthreads();
        const uint2 under = reinterpret_cast<const uint2 *>(w.m.top)[below(w)];
        s.top[OWN_ROWS][0] = under.x;
        s.top[OWN_ROWS][1] = under.y;
        const WORK::KEY rim = make_components(w, p, s.comp);
        source.template load_again<FULL>(w, edges);
        s.between = collect(w, edges, s.comp);
        __syncthreads();
        return rim;
    }

    template <typename T>
    static __device__ __forceinline__ uint32_t *open(const WORK &, const levels_out<T> &out)
    {
        return out.open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM;
    }

    template <bool FULL, typename T>
    static __device__ __forceinline__ void store(const WORK &w, const CLOSING<FULL> &e,
                                                 const levels_out<T> &out)
    {
        store_levels<FULL>(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_wide_shared(void)
{
    return sizeof(saliency_memory<wide_shape>);
}

qfz_status qfz_saliency_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                    const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_wide<wide_way>(gpu, edges, blocks, d_saliency);
}
