/* SPDX-License-Identifier: MIT */
/* filter_ring.cu - the graph of the ring that the rounds of the area filter leave (filter.cuh). */
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

static __device__ __forceinline__ bool is_open(const qfz_gpu_filter &f, uint32_t root)
{
    return f.d_mass[root] == QFZ_GPU_FILTER_OPEN;
}

/* ---- First edges to components that weigh N -------------------------------------------------- */

/* Calls use(open root, place) for each edge between an open component and one that weighs N. */
template <typename T, typename USE>
static __device__ __forceinline__ void
each_to_heavy(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader, int n_dirs, const USE &use)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    qfz_filter_each_edge(f, reader, n_dirs, (uint32_t)i,
                         [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a, uint32_t b) {
                             if (is_open(f, a) != is_open(f, b))
                                 use(is_open(f, a) ? a : b, qfz_filter_place_of(f, y, x, d, level));
                         });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    each_to_heavy(f, reader, n_dirs, [&](uint32_t root, const qfz_filter_place &place) {
        qfz_lower(&f.d_first[root], place.high);
    });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    each_to_heavy(f, reader, n_dirs, [&](uint32_t root, const qfz_filter_place &place) {
        if (f.d_first[root] == place.high) qfz_lower(&f.d_first_low[root], place.low);
    });
}

template <typename T>
static qfz_status launch_end(qfz_gpu *gpu, const qfz_gpu_filter *f,
                             const qfz_edge_reader<T> &reader, int n_dirs)
{
    const dim3 grid = qfz_filter_grid(gpu, (int64_t)f->h * f->w), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_offer<T>, grid, block, 0, *f, reader, n_dirs));
    return qfz_launch(gpu, k_refine<T>, grid, block, 0, *f, reader, n_dirs);
}

qfz_status qfz_gpu_filter_end(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_end(gpu, filter, reader, edges->connectivity / 2);
    });
}

/* ---- Items ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t ring_number(const qfz_gpu_filter &f, uint32_t open_root)
{
    return (uint32_t)qfz_ring_number(f.h, f.w, (int32_t)(open_root / (uint32_t)f.w),
                                     (int32_t)(open_root % (uint32_t)f.w));
}

static __device__ __forceinline__ void append(const qfz_gpu_filter &f, uint32_t u, uint32_t v,
                                              const qfz_filter_place &place, uint64_t mass)
{
    const uint32_t at = qfz_add(&f.d_count[QFZ_FILTER_N_ITEMS], 1);
    if (at >= f.item_room) return; /* the host sees by the number that there is more */
    f.d_items[at] = qfz_gpu_filter_item{
        u, v, (uint32_t)(place.high >> 32), 0, qfz_filter_position(place), mass};
}

static __device__ __forceinline__ qfz_filter_place first_of(const qfz_gpu_filter &f, uint32_t p)
{
    return {f.d_first[p], f.d_first_low[p]};
}

/* The first edge of a pixel is set only if the pixel is a root or was joined to an open component.
 */
static __device__ __forceinline__ void append_event(const qfz_gpu_filter &f, uint32_t p)
{
    if (f.d_up[p] != p) {
        if (f.d_target[p] == QFZ_FILTER_JOINED)
            append(f, ring_number(f, qfz_filter_root(f, p)), QFZ_NONE, first_of(f, p), f.d_mass[p]);
        return;
    }
    if (!is_open(f, p)) return;
    const qfz_filter_place first = first_of(f, p);
    if (first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX)
        append(f, ring_number(f, p), QFZ_NONE, first, f.least);
}

static __global__ void k_clear_items(qfz_gpu_filter f)
{
    f.d_count[QFZ_FILTER_N_ITEMS] = 0;
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_items(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, int64_t first_px,
            int64_t end_px)
{
    QFZ_FILTER_EACH(i, first_px, end_px)
    {
        append_event(f, (uint32_t)i);
        qfz_filter_each_edge(
            f, reader, n_dirs, (uint32_t)i,
            [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a, uint32_t b) {
                if (is_open(f, a) && is_open(f, b))
                    append(f, ring_number(f, a), ring_number(f, b),
                           qfz_filter_place_of(f, y, x, d, level), 0);
            });
    }
}

template <typename T>
static qfz_status launch_items(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_dirs, int64_t first_px,
                               int64_t end_px)
{
    return qfz_launch(gpu, k_items<T>, qfz_filter_grid(gpu, end_px - first_px),
                      dim3(QFZ_FILTER_THREADS), 0, *f, reader, n_dirs, first_px, end_px);
}

qfz_status qfz_gpu_filter_items(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int64_t first_px, int64_t end_px,
                                const uint32_t **d_n)
{
    *d_n = filter->d_count + QFZ_FILTER_N_ITEMS;
    QFZ_TRY(qfz_launch(gpu, k_clear_items, dim3(1), dim3(1), 0, *filter));
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_items(gpu, filter, reader, edges->connectivity / 2, first_px, end_px);
    });
}
