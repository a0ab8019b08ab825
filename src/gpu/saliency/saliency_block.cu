/* SPDX-License-Identifier: MIT */
/* saliency_block.cu - the block kernel of saliency.cuh for four neighbours and levels of 16 bits:
 * the rounds of boruvka_block.cu by the same rules, with pixels in registers. Its steps, which the
 * other block kernels share:
 *
 *   choose    every pixel hooks itself by its lightest edge
 *   number,   of two pixels that chose the same edge the first one is the root of a component;
 *   settle    components are numbered, and every pixel finds its component
 *   collect   edges between two components, except the heaviest edge of each square, form a list
 *   rounds    Boruvka rounds on that list, until almost every component waits for an edge that
 *             leaves the block
 *   span      the remaining components and edges become vertices and edges of the graph of blocks
 *   close     every edge gets its saliency or is added to the list of open edges */
#include "gpu/saliency/saliency_close.cuh"
#include "gpu/saliency/saliency_collect.cuh"
#include "gpu/saliency/saliency_launch.cuh"

/* Stores the tops of a thread's pixels in shared memory and in s, and reads those of the row
 * below. */
static __device__ __forceinline__ void show_tops(narrow_work &w, const uint32_t own[OWN_ROWS],
                                                 narrow_settled &s)
{
    const int first_own = narrow_shape::SHARED_TOPS;
    uint32_t *const top = reinterpret_cast<uint32_t *>(w.m.top);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        top[two_at(w, j)] = own[j];
        if (j < first_own)
            w.m.tops.two[j][w.thread] = own[j];
        else
            s.last_top[j - first_own] = own[j];
    }
    __syncthreads();
    s.last_top[OWN_ROWS - first_own] = top[below(w)];
}

namespace
{
struct narrow_way {
    typedef narrow_work WORK;
    typedef narrow_settled SETTLED;
    template <bool FULL> using CLOSING = narrow_closing;
    template <typename T> using BAND = pair_band<T, narrow_values>;
    enum { BLOCKS = 4 };

    template <bool FULL, typename SOURCE>
    static __device__ __forceinline__ WORK::KEY
    make_list(WORK &w, const SOURCE &source, narrow_values &in, SETTLED &s, CLOSING<FULL> &e)
    {
        uint32_t top[OWN_ROWS];
        narrow_edges edges;
        chosen_ways<WORK> p;
        begin(w);
        {
            narrow_levels l;
            if (!FULL) load_some(w, source.image, in);
            find_levels(w, in, l);
            const narrow_there there = FULL ? all_there() : find_there(w, in);
            choose<FULL>(w, l, there, p, top);
            find_edges<FULL>(w, l, there, edges);
            e.there_r = there.right;
            e.there_d = there.down;
        }
        publish(w, p);
        show_tops(w, top, s);
        const WORK::KEY rim = make_components(w, p, s.comp);
        s.between = collect(w, edges, s.comp);
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
        store_levels<FULL>(w, e, out.saliency);
    }
};
} // namespace

size_t qfz_saliency_narrow_shared(void)
{
    return sizeof(saliency_memory<narrow_shape>);
}

qfz_status qfz_saliency_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return launch_narrow<narrow_way>(gpu, edges, blocks, d_saliency);
}
