/* SPDX-License-Identifier: MIT */
/* rows_eight_wide_block.cu - the block kernel of rows.cuh for eight neighbours and levels of 32
 * bits; the steps are those of rows_block.cu. */
#include "gpu/rows_eight_wide_close.cuh"
#include "gpu/rows_eight_wide_pixels.cuh"
#include "gpu/rows_steps.cuh"

/* From pixels to the list; returns the word that store_rim() begins with. */
template <typename SOURCE>
static __device__ __forceinline__ eight_wide_work::KEY
make_list(eight_wide_work &w, const SOURCE &source, wide_settled &s, rows_kind *kind)
{
    wide_edges edges;
    eight_chosen p;
    begin(w);
    {
        typename SOURCE::values in;
        *kind = source.load(w, in);
        if (kind->fast)
            first_round<true>(w, source, in, p, s.top, edges);
        else
            first_round<false>(w, source, in, p, s.top, edges);
    }
    publish(w, p);
    show_tops(w, s);
    show_needed(w, edges);
    const eight_wide_work::KEY rim = make_components(w, p, s.comp);
    source.load_again(w, *kind, edges);
    __syncthreads(); /* the list takes the place of the pixels' words */
    s.between = collect_eight(w, edges, s.comp);
    __syncthreads();
    return rim;
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
    wide_settled s;
    wide_closing e;
    rows_kind kind;
    const eight_wide_work::KEY rim = make_list(w, source, s, &kind);
    const rows_tables tables = make_graph(w, rim, saliency);
    if (!saliency) return;
    close(w, tables, s, e, open + (int64_t)blockIdx.x * rows_eight_wide::OPEN_ITEMS);
    store_levels(w, e, kind.full, saliency);
    store_block(w);
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
