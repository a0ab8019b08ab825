/* SPDX-License-Identifier: MIT */
/* saliency_eight_block.cu - the block kernel of saliency.cuh for eight neighbours and levels of 16
 * bits, in the steps of saliency_block.cu. */
#include "gpu/saliency/saliency_eight_close.cuh"
#include "gpu/saliency/saliency_launch.cuh"

namespace
{
struct eight_way {
    typedef eight_work WORK;
    typedef eight_settled SETTLED;
    template <bool FULL> using CLOSING = eight_closing<FULL>;
    template <typename T> using BAND = pair_band<T, eight_values>;
    enum { BLOCKS = 2 };

    template <bool FULL, typename SOURCE>
    static __device__ __forceinline__ WORK::KEY
    make_list(WORK &w, const SOURCE &source, eight_values &in, SETTLED &s, CLOSING<FULL> &e)
    {
        eight_edges edges;
        eight_chosen p;
        begin(w);
        {
            eight_levels l;
            if (!FULL) load_some(w, source.image, in);
            e.there = FULL ? eight_there{} : find_there(w, in);
            edges.needed = find_levels<FULL>(w, in, e.there, l);
            choose<FULL>(w, in, l, e.there, p, s.top);
            show_leaving<FULL>(w, l, e.there);
            copy_levels(l, edges);
        }
        publish(w, p);
        show_tops(w, s);
        show_needed(w, edges);
        const WORK::KEY rim = make_components(w, p, s.comp);
        s.between = collect_eight(w, edges, s.comp);
        __syncthreads();
        return rim;
    }

    static __device__ __forceinline__ uint32_t *open(const WORK &, const levels_out<uint16_t> &out)
    {
        return out.open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM;
    }

    template <bool FULL>
    static __device__ __forceinline__ void store(const WORK &w, const CLOSING<FULL> &e,
                                                 const levels_out<uint16_t> &out)
    {
        store_levels(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_eight_shared(void)
{
    return sizeof(saliency_memory<eight_shape>);
}

qfz_status qfz_saliency_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                     const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_narrow<eight_way>(gpu, edges, blocks, d_saliency);
}
