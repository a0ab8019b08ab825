/* SPDX-License-Identifier: MIT */
/* block_launch.cuh - the kernel of the block solver (block.cuh), for all variants and outputs.
 *
 * A variant, WAY, has the types WORK, CHOSEN (the ways that a thread's pixels chose), EDGES (a
 * thread's edges, for the list), SETTLED (a thread's pixels after the first round) and THERE (masks
 * of the edges that exist); the sources BAND<T> and, if levels have 32 bits, KEYS; BLOCKS, the
 * number of blocks per multiprocessor; SHOWS_TOPS: first_round() stores tops in shared memory row
 * by row, which saves registers there; and first_round<FULL>(), the step choose: each pixel's way
 * and top, the edges that are needed, and leave[]. FULL: all pixels of the block and around it are
 * valid and in the tile. Levels of 32 bits are worked out a second time, by the source, for the
 * list, which costs less than to hold them in registers.
 *
 * A source has of(), which makes it from the edges, and load(), which loads what a thread needs and
 * returns the same to all threads of the block: true if the block is FULL.
 *
 * An output, OUT, has store_tops<FULL>() and store_comps<FULL>(), which make_list() calls when it
 * has tops and components, and finish<WAY, FULL>(), which makes the block's part of the graph
 * (make_graph()) and whatever else the output consists of. */
#pragma once

#include "gpu/forest/block_steps.cuh"

/* Steps choose to collect; returns the word with which store_rim() begins. */
template <typename WAY, bool FULL, typename SOURCE, typename OUT>
QFZ_DEVICE typename WAY::WORK::KEY make_list(typename WAY::WORK &w, const SOURCE &source,
                                             typename SOURCE::values &in, typename WAY::SETTLED &s,
                                             typename WAY::THERE &there, const OUT &out)
{
    typedef typename WAY::WORK WORK;
    typename WAY::EDGES edges;
    typename WAY::CHOSEN p;
    typename WORK::PAIR top[WORK::OWN_ROWS];
    begin(w);
    WAY::template first_round<FULL>(w, source, in, p, top, edges, there);
    publish(w, p);
    show_tops<WAY::SHOWS_TOPS>(w, top, s);
    out.template store_tops<FULL>(w, s);
    if constexpr (WORK::SHAPE::EIGHT) show_needed(w, edges);
    const typename WORK::KEY rim = make_components(w, p, s.comp);
    out.template store_comps<FULL>(w, s.comp);
    if constexpr (sizeof(typename WORK::LEVEL) == sizeof(uint32_t))
        source.template load_again<FULL>(w, edges);
    if (WORK::SHAPE::TIGHT) __syncthreads(); /* the list overwrites the pixels' words */
    s.between = collect(w, edges, s.comp);
    __syncthreads();
    return rim;
}

template <typename WAY, bool FULL, typename SOURCE, typename OUT>
QFZ_DEVICE void solve(typename WAY::WORK &w, const SOURCE &source, typename SOURCE::values &in,
                      const OUT &out)
{
    typename WAY::SETTLED s;
    typename WAY::THERE there;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* a constant for the compiler */
    const auto rim = make_list<WAY, FULL>(w, source, in, s, there, out);
    out.template finish<FULL>(w, s, there, rim);
}

template <typename WAY, typename SOURCE, typename OUT>
static __global__ void __launch_bounds__(WAY::WORK::THREADS, WAY::BLOCKS)
    k_block(qfz_gpu_forest forest, SOURCE source, OUT out)
{
    QFZ_SHARED(block_memory<typename WAY::WORK::SHAPE>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    typename WAY::WORK w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    typename SOURCE::values in;
    if (source.load(w, in))
        solve<WAY, true>(w, source, in, out);
    else
        solve<WAY, false>(w, source, in, out);
}

template <typename WAY, typename SOURCE, typename OUT>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_forest *forest,
                         const OUT &out)
{
    return qfz_launch(gpu, k_block<WAY, SOURCE, OUT>, dim3((unsigned)forest->n_blocks),
                      dim3(WAY::WORK::THREADS), sizeof(block_memory<typename WAY::WORK::SHAPE>),
                      *forest, SOURCE::of(edges), out);
}

/* Launches for one band of type T, or of words of type T. */
template <typename WAY, typename T, typename OUT>
static qfz_status launch_band(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_forest *forest, const OUT &out)
{
    return launch<WAY, typename WAY::template BAND<T>>(gpu, edges, forest, out);
}

/* Launches for one band of 8 or 16 bits. */
template <typename WAY, typename OUT>
static qfz_status launch_narrow(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_forest *forest, const OUT &out)
{
    return edges->form == QFZ_EDGES_U8 ? launch_band<WAY, uint8_t>(gpu, edges, forest, out)
                                       : launch_band<WAY, uint16_t>(gpu, edges, forest, out);
}
