/* SPDX-License-Identifier: MIT */
/* rows_eight_wide_block.cu - the block kernel of rows.cuh for eight neighbours and levels of 32
 * bits; the steps are those of rows_block.cu. */
#include "gpu/rows_eight_wide_close.cuh"
#include "gpu/rows_eight_wide_pixels.cuh"
#include "gpu/rows_steps.cuh"

/* From pixels, read already, to the list; returns the word that store_rim() begins with. */
template <bool FULL, typename SOURCE>
static __device__ __forceinline__ eight_wide_work::KEY
make_list(eight_wide_work &w, const SOURCE &source, const typename SOURCE::values &in,
          wide_settled &s)
{
    wide_edges edges;
    eight_chosen p;
    begin(w);
    first_round<FULL>(w, source, in, p, s.top, edges);
    publish(w, p);
    show_tops(w, s);
    show_needed(w, edges);
    const eight_wide_work::KEY rim = make_components(w, p, s.comp);
    source.template load_again<FULL>(w, edges);
    __syncthreads(); /* the list takes the place of the pixels' words */
    s.between = collect_eight(w, edges, s.comp);
    __syncthreads();
    return rim;
}

template <bool FULL, typename SOURCE, typename T>
static __device__ __forceinline__ void block(eight_wide_work &w, const SOURCE &source,
                                             const typename SOURCE::values &in, uint32_t *open,
                                             T *saliency)
{
    wide_settled s;
    wide_closing e;
    if (FULL) w.box.h = w.box.w = QFZ_SIDE; /* now the compiler knows, too */
    const eight_wide_work::KEY rim = make_list<FULL>(w, source, in, s);
    const rows_tables tables = make_graph(w, rim, saliency);
    if (!saliency) return;
    close(w, tables, s, e, open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM);
    store_levels<FULL>(w, e, saliency);
    store_block(w);
}

/* Two blocks a multiprocessor. */
template <typename SOURCE, typename T>
static __global__ void __launch_bounds__(eight_wide_work::THREADS, 2)
    k_rows_eight_wide(qfz_gpu_forest forest, SOURCE source, uint32_t *open, T *saliency)
{
    QFZ_SHARED(rows_memory<rows_eight_wide>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    eight_wide_work w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    typename SOURCE::values in;
    if (source.load(w, in))
        block<true>(w, source, in, open, saliency);
    else
        block<false>(w, source, in, open, saliency);
}

size_t qfz_rows_eight_wide_shared(void)
{
    return sizeof(rows_memory<rows_eight_wide>);
}

template <typename SOURCE, typename T>
static qfz_status launch(qfz_gpu *gpu, const SOURCE &source, const qfz_rows *rows, T *d_saliency)
{
    return qfz_launch(gpu, k_rows_eight_wide<SOURCE, T>, dim3((unsigned)rows->forest.n_blocks),
                      dim3(eight_wide_work::THREADS), sizeof(rows_memory<rows_eight_wide>),
                      rows->forest, source, rows->open, d_saliency);
}

template <typename T>
static qfz_status launch_band(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                              void *d_saliency)
{
    const eight_band<T> source = {band_of<T>(edges)};
    return launch(gpu, source, rows, static_cast<uint32_t *>(d_saliency));
}

static qfz_status launch_keys(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                              void *d_saliency)
{
    const eight_keys source = {edges->d_keys, (int64_t)edges->h * edges->w};
    if (qfz_gpu_is_narrow(edges))
        return launch(gpu, source, rows, static_cast<uint16_t *>(d_saliency));
    return launch(gpu, source, rows, static_cast<uint32_t *>(d_saliency));
}

qfz_status qfz_rows_eight_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_rows *rows, void *d_saliency)
{
    switch (edges->form) {
    case QFZ_EDGES_U32: return launch_band<uint32_t>(gpu, edges, rows, d_saliency);
    case QFZ_EDGES_I32: return launch_band<int32_t>(gpu, edges, rows, d_saliency);
    case QFZ_EDGES_F32: return launch_band<float>(gpu, edges, rows, d_saliency);
    default: return launch_keys(gpu, edges, rows, d_saliency);
    }
}
