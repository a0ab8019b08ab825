/* SPDX-License-Identifier: MIT */
/* rows_block.cu - the block kernel of rows.cuh: the rounds of boruvka_block.cu, by the same rules,
 * with pixels in registers.
 *
 *   choose    every pixel hooks itself by its lightest edge
 *   number,   of two pixels that chose the same edge the first is the root of a component; the
 *   settle    components are numbered and every pixel learns its own
 *   collect   edges between two components, but for the heaviest of each square, become a list
 *   rounds    on that list, until (almost) every component waits: its lightest edge leaves the
 * block span      what remains becomes vertices and edges of the graph of all blocks close every
 * edge gets its level, or goes to the list of open edges */
#include "gpu/rows_close.cuh"
#include "gpu/rows_collect.cuh"
#include "gpu/rows_eight_close.cuh"
#include "gpu/rows_steps.cuh"

/* Shows the levels of a thread's pixels; what the row below has to s.top. */
template <typename WORK>
static __device__ __forceinline__ void show_tops(WORK &w, rows_settled<WORK> &s)
{
    uint32_t *const top = reinterpret_cast<uint32_t *>(w.m.top);
#pragma unroll
    for (int j = 0; j < WORK::OWN_ROWS; j++)
        top[two_at(w, j)] = s.top[j];
    __syncthreads();
    s.top[WORK::OWN_ROWS] = top[below(w)];
}

/* From pixels to the list; returns the word that store_rim() begins with. */
template <bool FULL, typename T>
static __device__ __forceinline__ uint32_t make_list(narrow_work &w, const rows_image<T> &image,
                                                     rows_there &there,
                                                     rows_settled<narrow_work> &s)
{
    rows_edges edges;
    rows_chosen<narrow_work> p;
    begin(w);
    {
        rows_values in;
        rows_levels l;
        if (FULL)
            load_full(w, image, in);
        else
            load_some(w, image, in);
        find_levels(w, in, l);
        if (!FULL) there = find_there(w, in);
        choose<FULL>(w, l, there, p, s.top);
        find_edges<FULL>(w, l, there, edges);
    }
    publish(w, p);
    show_tops(w, s);
    const uint32_t rim = make_components(w, p, s.comp);
    collect(w, edges, s.comp);
    __syncthreads();
    return rim;
}

template <bool FULL, typename T>
static __device__ __forceinline__ uint32_t make_list(eight_work &w, const rows_image<T> &image,
                                                     eight_there &there,
                                                     rows_settled<eight_work> &s)
{
    eight_edges edges;
    eight_chosen p;
    begin(w);
    {
        eight_values in;
        eight_levels l;
        if (FULL)
            load_full(w, image, in);
        else
            load_some(w, image, in);
        if (!FULL) there = find_there(w, in);
        edges.needed = find_levels<FULL>(w, in, there, l);
        choose<FULL>(w, in, l, there, p, s.top);
        show_leaving<FULL>(w, l, there);
        keep_levels(l, edges);
    }
    publish(w, p);
    show_tops(w, s);
    show_needed(w, edges);
    const uint32_t rim = make_components(w, p, s.comp);
    collect(w, edges, s.comp);
    __syncthreads();
    return rim;
}

/* Which edges exist, where all do, and what becomes of them. */
template <typename WORK> struct rows_parts;
template <> struct rows_parts<narrow_work> {
    typedef rows_there there;
    typedef rows_closing closing;
    static __device__ __forceinline__ there all(void)
    {
        return {EVEN, EVEN, EVEN, EVEN, EVEN, EVEN, EVEN};
    }
};
template <> struct rows_parts<eight_work> {
    typedef eight_there there;
    typedef eight_closing closing;
    static __device__ __forceinline__ there all(void)
    {
        const uint32_t ones = 0xffffffffu;
        return {ones, ones, ones, ones, ones, ones, ones, ones};
    }
};

template <bool FULL, typename WORK, typename T>
static __device__ __forceinline__ void block(WORK &w, const rows_image<T> &image, uint32_t *open,
                                             uint16_t *saliency)
{
    typename rows_parts<WORK>::there there = rows_parts<WORK>::all();
    typename rows_parts<WORK>::closing e;
    rows_settled<WORK> s;
    const uint32_t rim = make_list<FULL>(w, image, there, s);
    const uint32_t n_rounds = make_graph(w, rim);
    close(w, there, n_rounds, s, e, open + (int64_t)blockIdx.x * WORK::SHAPE::OPEN_ROOM);
    store_levels<FULL>(w, there, e, saliency);
    store_block(w);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* 1024 threads a multiprocessor. */
template <typename SHAPE, typename T>
static __global__ void __launch_bounds__(SHAPE::THREADS, 1024 / SHAPE::THREADS)
    k_rows(qfz_gpu_forest forest, rows_image<T> image, uint32_t *open, uint16_t *saliency)
{
    QFZ_SHARED(rows_memory<SHAPE>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    rows_work<SHAPE> w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    if (is_full(w, image))
        block<true>(w, image, open, saliency);
    else
        block<false>(w, image, open, saliency);
}

template <typename SHAPE, typename T>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                         uint16_t *d_saliency)
{
    const rows_image<T> image = {static_cast<const T *>(edges->d_values), edges->d_valid,
                                 edges->bias};
    return qfz_launch(gpu, k_rows<SHAPE, T>, dim3((unsigned)rows->forest.n_blocks),
                      dim3(SHAPE::THREADS), sizeof(rows_memory<SHAPE>), rows->forest, image,
                      rows->open, d_saliency);
}

size_t qfz_rows_shared(const qfz_gpu_edges *edges)
{
    return edges->connectivity == 8 ? sizeof(rows_memory<rows_eight>)
                                    : sizeof(rows_memory<rows_narrow>);
}

template <typename SHAPE>
static qfz_status blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                         uint16_t *d_saliency)
{
    return edges->form == QFZ_EDGES_U8 ? launch<SHAPE, uint8_t>(gpu, edges, rows, d_saliency)
                                       : launch<SHAPE, uint16_t>(gpu, edges, rows, d_saliency);
}

qfz_status qfz_rows_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                           uint16_t *d_saliency)
{
    return edges->connectivity == 8 ? blocks<rows_eight>(gpu, edges, rows, d_saliency)
                                    : blocks<rows_narrow>(gpu, edges, rows, d_saliency);
}
