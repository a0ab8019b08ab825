/* SPDX-License-Identifier: MIT */
/* filter_tile.cu - memory of the area filter; light components grow (filter_grow.cuh) over the
 * whole tile, after they have grown in blocks (filter_block.cu).
 *
 *   blocks, or begin   components of each block, or of each pixel
 *   grow               a thread takes a component that can grow: one whose first edge leaves its
 *                      block, or any
 *   finish             marks are removed from the result */
#include "core/box.h"
#include "gpu/filter/filter_grow.cuh"
#include "gpu/forest/boruvka_parts.cuh"

/* The room of d_leaving.  In a block of the last pass, each component that is left has a pixel on
 * the rim of the block, or was second to mark the first edge of another one: of one that has such a
 * pixel; of one that was finished while an earlier pass cut the component, which has a pixel at
 * the rims of that pass; or of one that it would have joined if the walk around the edge had come
 * to an end.  Such walks meet MOST_WAITING halves of edges at least, each walk other halves, and a
 * block has fewer than two a pixel. */
static int64_t leaving_room(int32_t h, int32_t w)
{
    const int64_t blocks =
        (int64_t)(qfz_launch_blocks(h, QFZ_SIDE) + 1) * (qfz_launch_blocks(w, QFZ_SIDE) + 1);
    return blocks * (2 * QFZ_RIM + (QFZ_FILTER_PASSES - 1) * 4 * QFZ_SIDE +
                     2 * QFZ_SIDE * QFZ_SIDE / QFZ_FILTER_MOST_WAITING);
}

void qfz_gpu_filter_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_filter *filter)
{
    const int64_t n = (int64_t)h * w, n_ring = qfz_ring_size(h, w);
    qfz_carve_take(carve, &filter->d_up, n);
    qfz_carve_take(carve, &filter->d_side, n);
    qfz_carve_take(carve, &filter->d_left, n);
    qfz_carve_take(carve, &filter->d_mass, n);
    qfz_carve_take(carve, &filter->d_zeroed, (n + 3) / 4);
    filter->leaving_room = leaving_room(h, w);
    qfz_carve_take(carve, &filter->d_leaving, filter->leaving_room);
    qfz_carve_take(carve, &filter->d_count, QFZ_FILTER_COUNTERS);
    qfz_carve_take(carve, &filter->d_first, n_ring);
    qfz_carve_take(carve, &filter->d_first_low, n_ring);
    qfz_carve_take(carve, &filter->d_ring_up, n_ring);
    qfz_carve_take(carve, &filter->d_ring_target, n_ring);
    qfz_carve items = *carve;
    qfz_carve_take(carve, &filter->d_right, n);
    /* A pixel has an event and an edge in each direction at most, which must fit. */
    const int64_t room = (int64_t)((carve->used - items.used) / sizeof(qfz_gpu_filter_item));
    filter->item_room = room > QFZ_MAX_DIRS + 1 ? room : QFZ_MAX_DIRS + 1;
    qfz_carve_take(&items, &filter->d_items, filter->item_room);
    if (carve->used < items.used) carve->used = items.used;
}

/* ---- The tile as a place of pixels ----------------------------------------------------------- */

namespace
{
template <typename T> struct tile_work {
    enum : uint32_t { NIL = QFZ_FILTER_NIL };
    qfz_filter_edges<T> edges;

    QFZ_DEVICE int2 at(uint32_t p) const
    {
        const uint32_t w = (uint32_t)edges.f.w;
        return make_int2((int32_t)(p % w), (int32_t)(p / w));
    }
    QFZ_DEVICE uint32_t node(int2 at) const
    {
        return (uint32_t)at.y * (uint32_t)edges.f.w + (uint32_t)at.x;
    }
    QFZ_DEVICE uint32_t find(uint32_t p) const
    {
        return qfz_find<qfz_filter_parents>(edges.f.d_up, p);
    }
    QFZ_DEVICE int side(uint32_t p) const
    {
        return __ldcg(&edges.f.d_side[p]) & QFZ_FILTER_SIDE;
    }
    QFZ_DEVICE bool is_list(uint32_t p) const
    {
        return (__ldcg(&edges.f.d_side[p]) & QFZ_FILTER_LIST) != 0;
    }
    QFZ_DEVICE uint32_t left(uint32_t p) const
    {
        return qfz_peek(&edges.f.d_left[p]);
    }
    QFZ_DEVICE uint32_t right(uint32_t p) const
    {
        return qfz_peek(&edges.f.d_right[p]);
    }
    QFZ_DEVICE uint32_t top(uint32_t root) const
    {
        return qfz_peek(&edges.f.d_up[root]) & NIL;
    }
    QFZ_DEVICE uint64_t mass(uint32_t root) const
    {
        return qfz_peek(&edges.f.d_mass[root]);
    }
    QFZ_DEVICE void set_node(uint32_t p, int side, uint32_t left, uint32_t right) const
    {
        __stcg(&edges.f.d_side[p], (uint8_t)side);
        __stcg(&edges.f.d_left[p], left);
        __stcg(&edges.f.d_right[p], right);
    }
    QFZ_DEVICE void set_root(uint32_t root, uint32_t top, uint64_t mass) const
    {
        __stcg(&edges.f.d_up[root], QFZ_FILTER_ROOT | top);
        __stcg(reinterpret_cast<unsigned long long *>(&edges.f.d_mass[root]),
               (unsigned long long)mass);
    }
    QFZ_DEVICE void link(uint32_t root, uint32_t to) const
    {
        __stcg(&edges.f.d_up[root], to);
    }
    QFZ_DEVICE void fence() const
    {
        __threadfence();
    }
    QFZ_DEVICE bool mark(int2 from, int side) const
    {
        const uint32_t p = node(qfz_filter_start(from, side));
        const int d = side / 2;
        const uint32_t marked = (uint32_t)QFZ_FILTER_MARKED << d;
        const uint32_t bits = marked | (edges.level(from, side) > 0 ? 1u << d : 0);
        const uint32_t before = atomicOr(&edges.f.d_zeroed[p / 4], bits << 8 * (p % 4));
        return (before >> 8 * (p % 4) & marked) != 0;
    }
};
} // namespace

/* ---- Begin ----------------------------------------------------------------------------------- */

static __global__ void k_clear(qfz_gpu_filter f)
{
    f.d_count[threadIdx.x] = 0;
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_begin(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_sides, const uint8_t *valid)
{
    const tile_work<T> w = {{f, reader, n_sides}};
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    {
        const uint32_t p = (uint32_t)i;
        const int2 at = w.at(p);
        const uint64_t mass = qfz_filter_mass_of_px(f, valid, at.y, at.x);
        qfz_filter_edge first = {at, QFZ_FILTER_NO_SIDE, 0};
        if (mass < f.least) first = qfz_filter_first_edge(w.edges, at, [](int2) { return true; });
        w.set_node(p, first.side, w.NIL, w.NIL);
        w.set_root(p, first.side == QFZ_FILTER_NO_SIDE ? (uint32_t)w.NIL : p, mass);
        if (p % 4 == 0) f.d_zeroed[p / 4] = 0;
    }
}

/* ---- Grow ------------------------------------------------------------------------------------ */

/* Components in d_leaving, or of all pixels. */
template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_grow(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_sides, bool has_list)
{
    const tile_work<T> w = {{f, reader, n_sides}};
    const uint64_t n = has_list ? f.d_count[QFZ_FILTER_N_LEAVING] : (uint64_t)f.h * f.w;
    const uint64_t step = (uint64_t)gridDim.x * QFZ_FILTER_THREADS;
    uint64_t i = (uint64_t)blockIdx.x * QFZ_FILTER_THREADS + threadIdx.x;
    qfz_filter_component c = {};
    for (bool grows = false; grows || i < n;) {
        if (grows) {
            grows = qfz_filter_grow(w, &c);
            continue;
        }
        c.root = has_list ? f.d_leaving[i] : (uint32_t)i;
        i += step;
        /* Nobody joins it before this thread marks its first edge. */
        c.top = w.top(c.root);
        c.mass = w.mass(c.root);
        grows = c.top != w.NIL && qfz_filter_mark(w, c.top);
    }
}

/* ---- Finish ---------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_finish(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, ((int64_t)f.h * f.w + 3) / 4)
    f.d_zeroed[i] &= QFZ_FILTER_ALL_ZEROED;
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T>
static qfz_status launch_begin(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, const qfz_gpu_edges *edges)
{
    return qfz_launch(gpu, k_begin<T>, qfz_filter_grid(gpu, (int64_t)f->h * f->w),
                      dim3(QFZ_FILTER_THREADS), 0, *f, reader, edges->connectivity, edges->d_valid);
}

template <typename T>
static qfz_status launch_grow(qfz_gpu *gpu, const qfz_gpu_filter *f,
                              const qfz_edge_reader<T> &reader, int n_sides, bool has_list)
{
    return qfz_launch(gpu, k_grow<T>, qfz_filter_grid(gpu, (int64_t)f->h * f->w),
                      dim3(QFZ_FILTER_THREADS), 0, *f, reader, n_sides, has_list);
}

qfz_status qfz_gpu_filter_run(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_filter *filter)
{
    const bool has_blocks = qfz_filter_has_blocks(gpu, edges, filter);
    const int64_t n = (int64_t)filter->h * filter->w;
    QFZ_TRY(qfz_launch(gpu, k_clear, dim3(1), dim3(QFZ_FILTER_COUNTERS), 0, *filter));
    if (has_blocks) {
        QFZ_TRY(qfz_filter_blocks(gpu, edges, filter));
    } else {
        QFZ_TRY(qfz_filter_with_reader(
            edges, [=](const auto &reader) { return launch_begin(gpu, filter, reader, edges); }));
    }
    QFZ_TRY(qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_grow(gpu, filter, reader, edges->connectivity, has_blocks);
    }));
    return qfz_launch(gpu, k_finish, qfz_filter_grid(gpu, (n + 3) / 4), dim3(QFZ_FILTER_THREADS), 0,
                      *filter);
}
