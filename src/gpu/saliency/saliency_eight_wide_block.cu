/* SPDX-License-Identifier: MIT */
/* saliency_eight_wide_block.cu - the block kernel of saliency.cuh for eight neighbours and levels
 * of 32 bits. */
#include "gpu/saliency/saliency_eight_wide_close.cuh"
#include "gpu/saliency/saliency_eight_wide_pixels.cuh"
#include "gpu/saliency/saliency_launch.cuh"

namespace
{
struct eight_wide_way {
    typedef eight_wide_work WORK;
    typedef eight_wide_settled SETTLED;
    template <bool FULL> using CLOSING = eight_wide_closing;
    template <typename T> using BAND = eight_band<T>;
    typedef eight_keys KEYS;
    enum { BLOCKS = 2 };

    template <bool FULL, typename SOURCE>
    static __device__ __forceinline__ WORK::KEY make_list(WORK &w, const SOURCE &source,
                                                          const typename SOURCE::values &in,
                                                          SETTLED &s, CLOSING<FULL> &)
    {
        eight_wide_edges edges;
        eight_chosen p;
        begin(w);
        first_round<FULL>(w, source, in, p, s.top, edges);
        publish(w, p);
        show_tops(w, s);
        show_needed(w, edges);
        const WORK::KEY rim = make_components(w, p, s.comp);
        source.template load_again<FULL>(w, edges);
        __syncthreads(); /* the list overwrites the pixels' words */
        s.between = collect_eight(w, edges, s.comp);
        __syncthreads();
        return rim;
    }

    template <typename T>
    static __device__ __forceinline__ vertex_map open(const WORK &w, const levels_out<T> &out)
    {
        return vertices_at(w.forest, w.box, out.open, out.saliency);
    }

    template <bool FULL, typename T>
    static __device__ __forceinline__ void store(const WORK &w, CLOSING<FULL> &e,
                                                 const levels_out<T> &out)
    {
        if (sizeof(T) == sizeof(uint32_t))
            move_levels(w, e, out.moved + (int64_t)blockIdx.x * QFZ_MOVED_WORDS);
        store_levels<FULL>(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_eight_wide_shared(void)
{
    return sizeof(saliency_memory<eight_wide_shape>);
}

qfz_status qfz_saliency_eight_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                          const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_wide<eight_wide_way>(gpu, edges, blocks, d_saliency);
}
