/* SPDX-License-Identifier: MIT */
/* block_launch.cuh - the kernel of the block solver (block.cuh), for all variants and outputs.
 *
 * A variant, WAY, has the types WORK, SETTLED (a thread's pixels after the first round) and THERE
 * (masks of the edges that exist); the sources BAND<T> and, if levels have 32 bits, KEYS; BLOCKS,
 * the number of blocks per multiprocessor; and make_list<FULL>(), steps choose to collect, which
 * returns the word with which store_rim() begins. FULL: all pixels of the block and around it are
 * valid and in the tile.
 *
 * A source has of(), which makes it from the edges, and load(), which loads what a thread needs and
 * returns the same to all threads of the block: true if the block is FULL.
 *
 * An output, OUT, has store_tops<FULL>() and store_comps<FULL>(), which make_list() calls when it
 * has tops and components, and finish<WAY, FULL>(), which makes the block's part of the graph
 * (make_graph()) and whatever else the output consists of. */
#ifndef QFZ_GPU_BLOCK_LAUNCH_CUH
#define QFZ_GPU_BLOCK_LAUNCH_CUH

#include "gpu/forest/block_steps.cuh"

template <typename WAY, bool FULL, typename SOURCE, typename OUT>
static __device__ __forceinline__ void solve(typename WAY::WORK &w, const SOURCE &source,
                                             typename SOURCE::values &in, const OUT &out)
{
    typename WAY::SETTLED s;
    typename WAY::THERE there;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* a constant for the compiler */
    const auto rim = WAY::template make_list<FULL>(w, source, in, s, there, out);
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

/* Launches for planes of levels. */
template <typename WAY, typename OUT>
static qfz_status launch_levels(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_forest *forest, const OUT &out)
{
    return launch<WAY, typename WAY::KEYS>(gpu, edges, forest, out);
}

/* Launches for one band of 8 or 16 bits. */
template <typename WAY, typename OUT>
static qfz_status launch_narrow(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_forest *forest, const OUT &out)
{
    return edges->form == QFZ_EDGES_U8 ? launch_band<WAY, uint8_t>(gpu, edges, forest, out)
                                       : launch_band<WAY, uint16_t>(gpu, edges, forest, out);
}

#endif
