/* SPDX-License-Identifier: MIT */
/* filter_forest.cu - minimum spanning forests in Boruvka's rounds, after the area filter
 * (filter.cuh): that between the components that the filter leaves; then, of the edges that are
 * left between open components, those that are in the forest of these edges alone.
 *
 *   offer, refine   each component that chooses gets the place of its first edge, in two halves
 *   choose          the place has the edge, which is marked, and whose other end is the target
 *   join            the component joins its target; of two that chose the same edge, one stays
 *
 * Both have the same kernels, with a class for what differs:
 *
 *   closed_way   an open component chooses nothing: its first edge may leave the tile.  So each
 *                round joins closed components to each other and to open ones, until no edge leaves
 *                a closed component
 *   link_way     open components choose, and are joined by their ring numbers alone: each keeps the
 *                number by which the graph of the ring knows it.  So fewer edges are links than
 *                there are open components */
#include "core/box.h"
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

/* Bits of d_side: directions of a pixel's edges that may join two components. */
enum { MAY_JOIN = 0x0f };

namespace
{
/* Components are numbered by root. */
struct closed_way {
    qfz_gpu_filter f;

    QFZ_DEVICE uint32_t find(uint32_t p) const
    {
        return qfz_filter_root(f, p);
    }
    QFZ_DEVICE bool chooses(uint32_t root) const
    {
        return !qfz_filter_is_open(f, root);
    }
    QFZ_DEVICE uint32_t *up(uint32_t root) const
    {
        return &f.d_up[root];
    }
    QFZ_DEVICE uint32_t *target(uint32_t root) const
    {
        return &f.d_target[root];
    }
    QFZ_DEVICE unsigned long long *first(uint32_t root) const
    {
        return &f.d_first[root];
    }
    QFZ_DEVICE uint32_t *first_low(uint32_t root) const
    {
        return &f.d_first_low[root];
    }
    /* Components at the beginning, in d_roots if they fit. */
    QFZ_DEVICE bool has_list() const
    {
        return f.d_count[QFZ_FILTER_N_ROOTS] <= f.root_room;
    }
    QFZ_DEVICE int64_t n() const
    {
        return has_list() ? (int64_t)f.d_count[QFZ_FILTER_N_ROOTS] : (int64_t)f.h * f.w;
    }
    QFZ_DEVICE uint32_t number(uint64_t i) const
    {
        return has_list() ? f.d_roots[i] : (uint32_t)i;
    }
    QFZ_DEVICE void mark(uint32_t p, int dir, uint32_t level) const
    {
        if (level > 0) atomicOr(&f.d_zeroed[p / 4], QFZ_FILTER_IN_FOREST << dir << 8 * (p % 4));
    }
};

/* Components are numbered by ring pixel.  No edge leaves a closed one. */
struct link_way {
    qfz_gpu_filter f;

    QFZ_DEVICE uint32_t find(uint32_t p) const
    {
        const uint32_t root = qfz_filter_root(f, p);
        return qfz_filter_is_open(f, root) ? qfz_find_shortening<qfz_filter_parents>(
                                                 f.d_ring_up, qfz_filter_ring_number(f, root))
                                           : QFZ_NONE;
    }
    QFZ_DEVICE bool chooses(uint32_t) const
    {
        return true;
    }
    QFZ_DEVICE uint32_t *up(uint32_t ring) const
    {
        return &f.d_ring_up[ring];
    }
    QFZ_DEVICE uint32_t *target(uint32_t ring) const
    {
        return &f.d_ring_target[ring];
    }
    QFZ_DEVICE unsigned long long *first(uint32_t ring) const
    {
        return &f.d_ring_first[ring];
    }
    QFZ_DEVICE uint32_t *first_low(uint32_t ring) const
    {
        return &f.d_ring_first_low[ring];
    }
    QFZ_DEVICE int64_t n() const
    {
        return qfz_ring_count(f.h, f.w);
    }
    QFZ_DEVICE uint32_t number(uint64_t i) const
    {
        return (uint32_t)i;
    }
    QFZ_DEVICE void mark(uint32_t p, int dir, uint32_t) const
    {
        uint32_t *const words = reinterpret_cast<uint32_t *>(f.d_side);
        atomicOr(&words[p / 4], (uint32_t)QFZ_FILTER_LINK << dir << 8 * (p % 4));
    }
};

template <typename WAY> static QFZ_DEVICE bool is_root(const WAY &way, uint32_t component)
{
    return (*way.up(component) & QFZ_FILTER_ROOT) != 0;
}

template <typename WAY> static QFZ_DEVICE void clear_first(const WAY &way, uint32_t component)
{
    *way.first(component) = QFZ_FILTER_NO_EDGE;
    *way.first_low(component) = UINT32_MAX;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

__global__ void k_clear_roots(qfz_gpu_filter f)
{
    f.d_count[QFZ_FILTER_N_ROOTS] = 0;
}

__global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_begin_closed(closed_way way)
{
    const qfz_gpu_filter &f = way.f;
    const uint64_t n = (uint64_t)f.h * (uint64_t)f.w;
    const uint64_t step = (uint64_t)gridDim.x * QFZ_FILTER_THREADS;
    for (uint64_t first = (uint64_t)blockIdx.x * QFZ_FILTER_THREADS; first < n; first += step) {
        const uint64_t i = first + threadIdx.x;
        const bool is_new = i < n && is_root(way, (uint32_t)i);
        const uint32_t at = qfz_take_one(&f.d_count[QFZ_FILTER_N_ROOTS], is_new);
        if (i < n) f.d_side[i] = MAY_JOIN;
        if (is_new && at < f.root_room) f.d_roots[at] = (uint32_t)i;
        if (is_new) clear_first(way, (uint32_t)i);
    }
}

__global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_begin_links(link_way way)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)way.f.h * way.f.w)
    {
        way.f.d_side[i] = MAY_JOIN;
        if (i >= (uint64_t)way.n()) continue;
        *way.up((uint32_t)i) = QFZ_FILTER_ROOT;
        clear_first(way, (uint32_t)i);
    }
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* Calls use(component, place) for each component that chooses at the end of an edge between two
 * components, and drops all other edges of the pixel from d_side. */
template <typename WAY, typename T, typename USE>
QFZ_DEVICE void choices_of(const WAY &way, const qfz_edge_reader<T> &reader, int n_dirs, uint32_t p,
                           const USE &use)
{
    const qfz_gpu_filter &f = way.f;
    const uint32_t was = f.d_side[p];
    if ((was & MAY_JOIN) == 0) return;
    const int32_t y = (int32_t)(p / (uint32_t)f.w), x = (int32_t)(p % (uint32_t)f.w);
    const uint32_t a = way.find(p);
    uint32_t live = 0;
    for (int d = 0; d < n_dirs; d++) {
        uint32_t level;
        if (!(was >> d & 1) || !reader.read(y, x, d, &level)) continue;
        const uint32_t b = way.find((uint32_t)((int32_t)p + reader.beyond(d)));
        if (a == b || !(way.chooses(a) || way.chooses(b))) continue;
        const qfz_filter_place place =
            qfz_filter_place_of(level, qfz_position(f.y0 + y, f.x0 + x, d));
        live |= 1u << d;
        if (way.chooses(a)) use(a, place);
        if (way.chooses(b)) use(b, place);
    }
    if (live != (was & MAY_JOIN)) f.d_side[p] = (uint8_t)((was & ~(uint32_t)MAY_JOIN) | live);
}

/* The same for all pixels, four by four: after the first round, most have no such edge. */
template <typename WAY, typename T, typename USE>
QFZ_DEVICE void each_choice(const WAY &way, const qfz_edge_reader<T> &reader, int n_dirs,
                            const USE &use)
{
    enum { FOUR = 4, ALL_MAY_JOIN = 0x01010101 * MAY_JOIN };
    const uint64_t n = (uint64_t)way.f.h * (uint64_t)way.f.w;
    QFZ_FILTER_EACH(i, 0, (n + FOUR - 1) / FOUR)
    {
        const uint64_t first = FOUR * i, end = first + FOUR < n ? first + FOUR : n;
        if (end == first + FOUR &&
            !(reinterpret_cast<const uint32_t *>(way.f.d_side)[i] & ALL_MAY_JOIN))
            continue;
        for (uint64_t p = first; p < end; p++)
            choices_of(way, reader, n_dirs, (uint32_t)p, use);
    }
}

template <typename WAY, typename T>
__global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer_first(WAY way, qfz_edge_reader<T> reader, int n_dirs)
{
    each_choice(way, reader, n_dirs, [&](uint32_t component, const qfz_filter_place &place) {
        qfz_lower(way.first(component), place.high);
    });
}

template <typename WAY, typename T>
__global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine_first(WAY way, qfz_edge_reader<T> reader, int n_dirs)
{
    each_choice(way, reader, n_dirs, [&](uint32_t component, const qfz_filter_place &place) {
        if (*way.first(component) == place.high) qfz_lower(way.first_low(component), place.low);
    });
}

/* ---- Joins ----------------------------------------------------------------------------------- */

/* The component at the other end of the first edge of a component, which is marked. */
template <typename WAY>
QFZ_DEVICE uint32_t take_first(const WAY &way, uint32_t component, const qfz_filter_place &first)
{
    const qfz_filter_ends ends = qfz_filter_ends_of(way.f, first);
    way.mark(ends.p, ends.dir, (uint32_t)(first.high >> 32));
    const uint32_t of_p = way.find(ends.p);
    return of_p == component ? way.find(ends.q) : of_p;
}

template <typename WAY> __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_choose(WAY way)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) way.f.d_count[QFZ_FILTER_N_JOINS] = 0;
    QFZ_FILTER_EACH(i, 0, way.n())
    {
        const uint32_t component = way.number(i);
        if (!is_root(way, component)) continue;
        const qfz_filter_place first = {*way.first(component), *way.first_low(component)};
        const bool has_edge = first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX;
        *way.target(component) = has_edge ? take_first(way, component, first) : QFZ_NONE;
        clear_first(way, component);
    }
}

/* First edges differ, but for those of two components that chose each other. */
template <typename WAY> static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_join(WAY way)
{
    QFZ_FILTER_EACH(i, 0, way.n())
    {
        const uint32_t component = way.number(i);
        if (!is_root(way, component)) continue;
        const uint32_t target = *way.target(component);
        if (target == QFZ_NONE || (*way.target(target) == component && component < target))
            continue;
        *way.up(component) = target;
        way.f.d_count[QFZ_FILTER_N_JOINS] = 1;
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

dim3 all_of(const qfz_gpu *gpu, const qfz_gpu_filter *f)
{
    return qfz_filter_grid(gpu, (int64_t)f->h * f->w);
}

template <typename WAY, typename T>
qfz_status launch_round(qfz_gpu *gpu, const WAY &way, const qfz_edge_reader<T> &reader, int n_dirs)
{
    const dim3 grid = all_of(gpu, &way.f), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_offer_first<WAY, T>, grid, block, 0, way, reader, n_dirs));
    QFZ_TRY(qfz_launch(gpu, k_refine_first<WAY, T>, grid, block, 0, way, reader, n_dirs));
    QFZ_TRY(qfz_launch(gpu, k_choose<WAY>, grid, block, 0, way));
    return qfz_launch(gpu, k_join<WAY>, grid, block, 0, way);
}

/* Rounds after the last join do nothing, and cost less than to look after each round.  Natural
 * tiles of 2048 x 2048 pixels take nine or ten of them. */
template <typename WAY>
qfz_status launch_rounds(qfz_gpu *gpu, const WAY &way, const qfz_gpu_edges *edges)
{
    enum { ROUNDS = 5 };
    for (int round = 0; round < ROUNDS; round++)
        QFZ_TRY(qfz_filter_with_reader(edges, [=](const auto &reader) {
            return launch_round(gpu, way, reader, edges->connectivity / 2);
        }));
    return QFZ_OK;
}
} // namespace

qfz_status qfz_gpu_filter_forest_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    const closed_way way = {*filter};
    QFZ_TRY(qfz_launch(gpu, k_clear_roots, dim3(1), dim3(1), 0, *filter));
    return qfz_launch(gpu, k_begin_closed, all_of(gpu, filter), dim3(QFZ_FILTER_THREADS), 0, way);
}

qfz_status qfz_gpu_filter_forest_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                        const qfz_gpu_filter *filter, const uint32_t **d_joined)
{
    const closed_way way = {*filter};
    *d_joined = filter->d_count + QFZ_FILTER_N_JOINS;
    return launch_rounds(gpu, way, edges);
}

qfz_status qfz_gpu_filter_links_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    const link_way way = {*filter};
    return qfz_launch(gpu, k_begin_links, all_of(gpu, filter), dim3(QFZ_FILTER_THREADS), 0, way);
}

qfz_status qfz_gpu_filter_links_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                       const qfz_gpu_filter *filter, const uint32_t **d_joined)
{
    const link_way way = {*filter};
    *d_joined = filter->d_count + QFZ_FILTER_N_JOINS;
    return launch_rounds(gpu, way, edges);
}
