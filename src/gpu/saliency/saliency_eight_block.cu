/* SPDX-License-Identifier: MIT */
/* saliency_eight_block.cu - the block kernel of saliency.cuh for eight neighbours and levels of 16
 * bits, in the steps of saliency_block.cu. */
#include "gpu/saliency/saliency_eight_close.cuh"
#include "gpu/saliency/saliency_steps.cuh"

/* Steps choose to collect. in: the pixels, loaded already if FULL. Returns the word with which
 * store_rim() begins. */
template <bool FULL, typename T>
static __device__ __forceinline__ uint32_t make_list(eight_work &w, const band_image<T> &image,
                                                     eight_values &in, eight_there &there,
                                                     eight_settled &s)
{
    eight_edges edges;
    eight_chosen p;
    begin(w);
    {
        eight_levels l;
        if (!FULL) load_some(w, image, in);
        there = FULL ? eight_there{} : find_there(w, in);
        edges.needed = find_levels<FULL>(w, in, there, l);
        choose<FULL>(w, in, l, there, p, s.top);
        show_leaving<FULL>(w, l, there);
        copy_levels(l, edges);
    }
    publish(w, p);
    show_tops(w, s);
    show_needed(w, edges);
    const uint32_t rim = make_components(w, p, s.comp);
    s.between = collect_eight(w, edges, s.comp);
    __syncthreads();
    return rim;
}

template <bool FULL, typename T>
static __device__ __forceinline__ void block(eight_work &w, const band_image<T> &image,
                                             eight_values &in, uint32_t *open, uint16_t *saliency)
{
    eight_settled s;
    eight_closing<FULL> e;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* a constant for the compiler */
    const uint32_t rim = make_list<FULL>(w, image, in, e.there, s);
    const level_tables tables = make_graph(w, rim, saliency);
    if (!saliency) return;
    close(w, tables, s, e, open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM);
    store_levels(w, e, saliency);
    store_block(w);
}

/* At most two blocks per multiprocessor. */
template <typename T>
static __global__ void __launch_bounds__(eight_work::THREADS, 2)
    k_eight_block(qfz_gpu_forest forest, band_image<T> image, uint32_t *open, uint16_t *saliency)
{
    QFZ_SHARED(saliency_memory<eight_shape>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    eight_work w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    eight_values in; /* the loads overlap with those of the mask */
    if (load_if_full(w, image, in))
        block<true>(w, image, in, open, saliency);
    else
        block<false>(w, image, in, open, saliency);
}

size_t qfz_saliency_eight_shared(void)
{
    return sizeof(saliency_memory<eight_shape>);
}

qfz_status qfz_saliency_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                     const qfz_saliency_blocks *blocks, uint16_t *d_saliency)
{
    return launch_narrow<eight_shape>(gpu, edges, blocks, k_eight_block<uint8_t>,
                                      k_eight_block<uint16_t>, d_saliency);
}
