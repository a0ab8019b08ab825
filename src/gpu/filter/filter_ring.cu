/* SPDX-License-Identifier: MIT */
/* filter_ring.cu - the graph of the ring (filter.cuh). */
#include "core/box.h"
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

/* ---- First edges to components that weigh N -------------------------------------------------- */

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_clear_first(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, qfz_ring_count(f.h, f.w))
    {
        f.d_ring_first[i] = QFZ_FILTER_NO_EDGE;
        f.d_ring_first_low[i] = UINT32_MAX;
    }
}

/* Calls use(ring number of the open root, place) for each edge between an open component and one
 * that weighs N. */
template <typename T, typename USE>
static QFZ_DEVICE void each_to_heavy(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                     int n_dirs, const USE &use)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    qfz_filter_each_edge(f, reader, n_dirs, (uint32_t)i,
                         [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a, uint32_t b) {
                             if (qfz_filter_is_open(f, a) == qfz_filter_is_open(f, b)) return;
                             const uint64_t position = qfz_position(f.y0 + y, f.x0 + x, d);
                             use(qfz_filter_ring_number(f, qfz_filter_is_open(f, a) ? a : b),
                                 qfz_filter_place_of(level, position));
                         });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    each_to_heavy(f, reader, n_dirs, [&](uint32_t ring, const qfz_filter_place &place) {
        qfz_lower(&f.d_ring_first[ring], place.high);
    });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    each_to_heavy(f, reader, n_dirs, [&](uint32_t ring, const qfz_filter_place &place) {
        if (f.d_ring_first[ring] == place.high) qfz_lower(&f.d_ring_first_low[ring], place.low);
    });
}

template <typename T>
static qfz_status launch_end(qfz_gpu *gpu, const qfz_gpu_filter *f,
                             const qfz_edge_reader<T> &reader, int n_dirs)
{
    const dim3 grid = qfz_filter_grid(gpu, (int64_t)f->h * f->w), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_clear_first, qfz_filter_grid(gpu, qfz_ring_size(f->h, f->w)), block,
                       0, *f));
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

static QFZ_DEVICE void append(const qfz_gpu_filter &f, uint32_t u, uint32_t v,
                              const qfz_filter_place &place, uint64_t mass)
{
    const uint32_t at = qfz_add(&f.d_count[QFZ_FILTER_N_ITEMS], 1);
    if (at >= f.item_room) return; /* the host sees by the number that there is more */
    f.d_items[at] = qfz_gpu_filter_item{
        u, v, (uint32_t)(place.high >> 32), 0, qfz_filter_position(place), mass};
}

static QFZ_DEVICE void append_event(const qfz_gpu_filter &f, uint32_t p)
{
    const uint32_t root = qfz_filter_root(f, p);
    if (!qfz_filter_is_open(f, root)) return;
    const uint32_t ring = qfz_filter_ring_number(f, root);
    if (p != root) {
        if (f.d_mass[p] > 0) append(f, ring, QFZ_NONE, qfz_filter_first(f, p), f.d_mass[p]);
        return;
    }
    const qfz_filter_place first = {f.d_ring_first[ring], f.d_ring_first_low[ring]};
    if (first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX)
        append(f, ring, QFZ_NONE, first, f.least);
}

/* The directions of a pixel's edges that may be links of these kinds. */
static QFZ_DEVICE uint32_t links_of(const qfz_gpu_filter &f, int kinds, uint32_t p)
{
    enum { ALL = 0xf };
    if (kinds & QFZ_FILTER_LINKS) return ALL;
    return kinds & QFZ_FILTER_CHOSEN_LINKS ? f.d_side[p] / QFZ_FILTER_LINK : 0u;
}

static __global__ void k_clear_items(qfz_gpu_filter f)
{
    f.d_count[QFZ_FILTER_N_ITEMS] = 0;
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_items(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, int kinds, int64_t first_px,
            int64_t end_px)
{
    QFZ_FILTER_EACH(i, first_px, end_px)
    {
        if (kinds & QFZ_FILTER_EVENTS) append_event(f, (uint32_t)i);
        const uint32_t dirs = links_of(f, kinds, (uint32_t)i);
        if (dirs == 0) continue;
        qfz_filter_each_edge(
            f, reader, n_dirs, (uint32_t)i,
            [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a, uint32_t b) {
                if ((dirs >> d & 1) && qfz_filter_is_open(f, a) && qfz_filter_is_open(f, b))
                    append(f, qfz_filter_ring_number(f, a), qfz_filter_ring_number(f, b),
                           qfz_filter_place_of(level, qfz_position(f.y0 + y, f.x0 + x, d)), 0);
            });
    }
}

template <typename T>
static qfz_status launch_items(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_dirs, int kinds,
                               int64_t first_px, int64_t end_px)
{
    return qfz_launch(gpu, k_items<T>, qfz_filter_grid(gpu, end_px - first_px),
                      dim3(QFZ_FILTER_THREADS), 0, *f, reader, n_dirs, kinds, first_px, end_px);
}

qfz_status qfz_gpu_filter_items(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int kinds, int64_t first_px,
                                int64_t end_px, const uint32_t **d_n)
{
    *d_n = filter->d_count + QFZ_FILTER_N_ITEMS;
    QFZ_TRY(qfz_launch(gpu, k_clear_items, dim3(1), dim3(1), 0, *filter));
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_items(gpu, filter, reader, edges->connectivity / 2, kinds, first_px, end_px);
    });
}
