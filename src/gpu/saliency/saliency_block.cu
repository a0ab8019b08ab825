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
#include "gpu/saliency/saliency_steps.cuh"

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

/* Steps choose to collect. in: the pixels, loaded already if FULL. Returns the word with which
 * store_rim() begins. */
template <bool FULL, typename T>
static __device__ __forceinline__ uint32_t make_list(narrow_work &w, const band_image<T> &image,
                                                     narrow_values &in, narrow_there &there,
                                                     narrow_settled &s)
{
    uint32_t top[OWN_ROWS];
    narrow_edges edges;
    chosen_ways<narrow_work> p;
    begin(w);
    {
        narrow_levels l;
        if (!FULL) load_some(w, image, in);
        find_levels(w, in, l);
        if (!FULL) there = find_there(w, in);
        choose<FULL>(w, l, there, p, top);
        find_edges<FULL>(w, l, there, edges);
    }
    publish(w, p);
    show_tops(w, top, s);
    const uint32_t rim = make_components(w, p, s.comp);
    s.between = collect(w, edges, s.comp);
    __syncthreads();
    return rim;
}

template <bool FULL, typename T>
static __device__ __forceinline__ void block(narrow_work &w, const band_image<T> &image,
                                             narrow_values &in, uint32_t *open, uint16_t *saliency)
{
    narrow_there there = {EVEN, EVEN, EVEN, EVEN, EVEN, EVEN, EVEN};
    narrow_settled s;
    narrow_closing e;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* a constant for the compiler */
    const uint32_t rim = make_list<FULL>(w, image, in, there, s);
    const level_tables tables = make_graph(w, rim, saliency);
    if (!saliency) return;
    e.there_r = there.right;
    e.there_d = there.down;
    close(w, tables, s, e, open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM);
    store_levels<FULL>(w, e, saliency);
    store_block(w);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* At most four blocks per multiprocessor. */
template <typename T>
static __global__ void __launch_bounds__(narrow_work::THREADS, 4)
    k_narrow_block(qfz_gpu_forest forest, band_image<T> image, uint32_t *open, uint16_t *saliency)
{
    QFZ_SHARED(saliency_memory<narrow_shape>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    narrow_work w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    narrow_values in; /* the loads overlap with those of the mask */
    if (load_if_full(w, image, in))
        block<true>(w, image, in, open, saliency);
    else
        block<false>(w, image, in, open, saliency);
}

size_t qfz_saliency_narrow_shared(void)
{
    return sizeof(saliency_memory<narrow_shape>);
}

qfz_status qfz_saliency_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_saliency_blocks *blocks, uint16_t *d_saliency)
{
    return launch_narrow<narrow_shape>(gpu, edges, blocks, k_narrow_block<uint8_t>,
                                       k_narrow_block<uint16_t>, d_saliency);
}
