/* SPDX-License-Identifier: MIT */
/* saliency_launch.cuh - the block kernel of saliency.cuh, for all widths of levels and for four or
 * eight neighbours, in the steps of saliency_block.cu.
 *
 * A WAY has the types WORK, SETTLED and CLOSING<FULL> of these steps; the sources BAND<T> and, if
 * levels have 32 bits, KEYS; BLOCKS, the number of blocks per multiprocessor; make_list<FULL>(),
 * steps choose to collect, which returns the word with which store_rim() begins; open(), the place
 * of the open edges; and store<FULL>(), which stores the saliencies of all edges. FULL: all pixels
 * of the block and around it are valid and in the tile.
 *
 * A source has of(), which makes it from the edges, and load(), which loads what a thread needs and
 * returns the same to all threads of the block: true if the block is FULL. */
#ifndef QFZ_GPU_SALIENCY_LAUNCH_CUH
#define QFZ_GPU_SALIENCY_LAUNCH_CUH

#include "gpu/saliency/saliency_steps.cuh"

/* Where blocks store saliencies and open edges, as in qfz_saliency_blocks. */
template <typename T> struct levels_out {
    uint32_t *open, *moved;
    T *saliency;
};

template <typename WAY, bool FULL, typename SOURCE, typename T>
static __device__ __forceinline__ void block(typename WAY::WORK &w, const SOURCE &source,
                                             typename SOURCE::values &in, const levels_out<T> &out)
{
    T *const saliency = out.saliency;
    typename WAY::SETTLED s;
    typename WAY::template CLOSING<FULL> e;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* a constant for the compiler */
    const typename WAY::WORK::KEY rim = WAY::template make_list<FULL>(w, source, in, s, e);
    const level_tables tables = make_graph(w, rim, saliency);
    if (!saliency) return;
    close(w, tables, s, e, WAY::open(w, out));
    WAY::template store<FULL>(w, e, out);
    store_block(w);
}

template <typename WAY, typename SOURCE, typename T>
static __global__ void __launch_bounds__(WAY::WORK::THREADS, WAY::BLOCKS)
    k_block(qfz_gpu_forest forest, SOURCE source, levels_out<T> out)
{
    QFZ_SHARED(saliency_memory<typename WAY::WORK::SHAPE>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    typename WAY::WORK w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    typename SOURCE::values in;
    if (source.load(w, in))
        block<WAY, true>(w, source, in, out);
    else
        block<WAY, false>(w, source, in, out);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

template <typename WAY, typename SOURCE, typename T>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                         const qfz_saliency_blocks *blocks, void *d_saliency)
{
    const levels_out<T> out = {blocks->open, blocks->moved, static_cast<T *>(d_saliency)};
    return qfz_launch(gpu, k_block<WAY, SOURCE, T>, dim3((unsigned)blocks->forest.n_blocks),
                      dim3(WAY::WORK::THREADS), sizeof(saliency_memory<typename WAY::WORK::SHAPE>),
                      blocks->forest, SOURCE::of(edges), out);
}

template <typename WAY, typename T>
static qfz_status launch_band(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    typedef typename WAY::WORK::LEVEL LEVEL;
    return launch<WAY, typename WAY::template BAND<T>, LEVEL>(gpu, edges, blocks, d_saliency);
}

template <typename WAY>
static qfz_status launch_keys(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    typedef typename WAY::KEYS KEYS;
    return qfz_gpu_is_narrow(edges) ? launch<WAY, KEYS, uint16_t>(gpu, edges, blocks, d_saliency)
                                    : launch<WAY, KEYS, uint32_t>(gpu, edges, blocks, d_saliency);
}

/* Launches the block kernel for the form of the edges, whose levels have 16 or 32 bits. */
template <typename WAY>
static qfz_status launch_narrow(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_saliency_blocks *blocks, void *d_saliency)
{
    return edges->form == QFZ_EDGES_U8 ? launch_band<WAY, uint8_t>(gpu, edges, blocks, d_saliency)
                                       : launch_band<WAY, uint16_t>(gpu, edges, blocks, d_saliency);
}

template <typename WAY>
static qfz_status launch_wide(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    switch (edges->form) {
    case QFZ_EDGES_U32: return launch_band<WAY, uint32_t>(gpu, edges, blocks, d_saliency);
    case QFZ_EDGES_I32: return launch_band<WAY, int32_t>(gpu, edges, blocks, d_saliency);
    case QFZ_EDGES_F32: return launch_band<WAY, float>(gpu, edges, blocks, d_saliency);
    default: return launch_keys<WAY>(gpu, edges, blocks, d_saliency);
    }
}

#endif
