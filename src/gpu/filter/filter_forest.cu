/* SPDX-License-Identifier: MIT */
/* filter_forest.cu - the minimum spanning forest between the components that the area filter leaves
 * (filter.cuh), in Boruvka's rounds.
 *
 *   offer, refine   each closed component gets the place of its first edge, in two halves
 *   choose          the place has the edge, whose other end is the target; the edge is in the
 * forest join            the component joins its target; of two that chose the same edge, one stays
 *
 * An open component chooses nothing: its first edge may leave the tile.  So each round joins closed
 * components to each other and to open ones, until no edge leaves a closed component.
 *
 * The arrays of the filter have other contents in these rounds.  Of a root: d_mass and d_right have
 * the place of the first edge, d_left has the target.  d_side: of each pixel, the directions of its
 * edges that may join two components; of a root, whether it is open. */
#include "core/box.h"
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

/* Bits of d_side. */
enum { LIVE = 0x0f, OPEN = 0x10 };

static QFZ_DEVICE bool is_root(const qfz_gpu_filter &f, uint64_t p)
{
    return (f.d_up[p] & QFZ_FILTER_ROOT) != 0;
}

static QFZ_DEVICE bool is_open(const qfz_gpu_filter &f, uint32_t root)
{
    return (f.d_side[root] & OPEN) != 0;
}

static QFZ_DEVICE unsigned long long *first_of(const qfz_gpu_filter &f, uint32_t root)
{
    return reinterpret_cast<unsigned long long *>(&f.d_mass[root]);
}

static QFZ_DEVICE void clear_first(const qfz_gpu_filter &f, uint64_t root)
{
    f.d_mass[root] = QFZ_FILTER_NO_EDGE;
    f.d_right[root] = UINT32_MAX;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_begin_rounds(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    {
        const bool is_open_root = is_root(f, i) && f.d_mass[i] == QFZ_GPU_FILTER_OPEN;
        f.d_side[i] = LIVE | (is_open_root ? OPEN : 0);
        clear_first(f, i);
    }
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_end_rounds(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    f.d_mass[i] = is_open(f, (uint32_t)i) ? QFZ_GPU_FILTER_OPEN : f.least;
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* Calls use(root, place) for each closed component at the end of an edge between two components,
 * and drops all other edges of the pixel from d_side. */
template <typename T, typename USE>
static QFZ_DEVICE void each_choice(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                   int n_dirs, uint32_t p, const USE &use)
{
    const uint32_t was = f.d_side[p];
    if ((was & LIVE) == 0) return;
    const int32_t y = (int32_t)(p / (uint32_t)f.w), x = (int32_t)(p % (uint32_t)f.w);
    const uint32_t a = qfz_filter_root(f, p);
    const bool a_is_open = is_open(f, a);
    uint32_t live = 0;
    for (int d = 0; d < n_dirs; d++) {
        uint32_t level;
        if (!(was >> d & 1) || !reader.read(y, x, d, &level)) continue;
        const uint32_t b = qfz_filter_root(f, (uint32_t)((int32_t)p + reader.beyond(d)));
        const bool b_is_open = is_open(f, b);
        if (a == b || (a_is_open && b_is_open)) continue;
        const qfz_filter_place place =
            qfz_filter_place_of(level, qfz_position(f.y0 + y, f.x0 + x, d));
        live |= 1u << d;
        if (!a_is_open) use(a, place);
        if (!b_is_open) use(b, place);
    }
    if (live != (was & LIVE)) f.d_side[p] = (uint8_t)((was & ~(uint32_t)LIVE) | live);
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer_first(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    each_choice(f, reader, n_dirs, (uint32_t)i, [&](uint32_t root, const qfz_filter_place &place) {
        qfz_lower(first_of(f, root), place.high);
    });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine_first(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    each_choice(f, reader, n_dirs, (uint32_t)i, [&](uint32_t root, const qfz_filter_place &place) {
        if (*first_of(f, root) == place.high) qfz_lower(&f.d_right[root], place.low);
    });
}

/* ---- Joins ----------------------------------------------------------------------------------- */

/* The component at the other end of the first edge of a root, which is marked.  Two components that
 * weigh N together may not have joined yet (filter_block.cu): their edge has filtered level 0. */
static QFZ_DEVICE uint32_t take_first(const qfz_gpu_filter &f, uint32_t root,
                                      const qfz_filter_place &first)
{
    int64_t y, x;
    int dir;
    qfz_position_edge(qfz_filter_position(first), &y, &x, &dir);
    const int32_t down = dir == QFZ_RIGHT ? 0 : 1;
    const int32_t right = dir == QFZ_BELOW ? 0 : dir == QFZ_BELOW_LEFT ? -1 : 1;
    const uint32_t p = (uint32_t)(y - f.y0) * (uint32_t)f.w + (uint32_t)(x - f.x0);
    const uint32_t q = (uint32_t)((int32_t)p + down * f.w + right);
    const uint32_t zeroed = 1u << dir << 8 * (p % 4);
    if (first.high >> 32 > 0 && !(qfz_peek(&f.d_zeroed[p / 4]) & zeroed))
        atomicOr(&f.d_zeroed[p / 4], zeroed * QFZ_FILTER_IN_FOREST);
    const uint32_t of_p = qfz_filter_root(f, p);
    return of_p == root ? qfz_filter_root(f, q) : of_p;
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_choose(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    {
        if (!is_root(f, i)) continue;
        const qfz_filter_place first = {f.d_mass[i], f.d_right[i]};
        const bool has_edge = first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX;
        f.d_left[i] = has_edge ? take_first(f, (uint32_t)i, first) : (uint32_t)QFZ_FILTER_NIL;
        clear_first(f, i);
    }
}

/* First edges differ, but for those of two components that chose each other. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_join(qfz_gpu_filter f)
{
    QFZ_FILTER_EACH(i, 0, (int64_t)f.h * f.w)
    {
        if (!is_root(f, i)) continue;
        const uint32_t target = f.d_left[i];
        if (target == QFZ_FILTER_NIL || (f.d_left[target] == i && i < target)) continue;
        f.d_up[i] = target;
        f.d_count[QFZ_FILTER_N_JOINS] = 1;
    }
}

static __global__ void k_clear_joins(qfz_gpu_filter f)
{
    f.d_count[QFZ_FILTER_N_JOINS] = 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static dim3 all_of(const qfz_gpu *gpu, const qfz_gpu_filter *f)
{
    return qfz_filter_grid(gpu, (int64_t)f->h * f->w);
}

qfz_status qfz_gpu_filter_forest_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return qfz_launch(gpu, k_begin_rounds, all_of(gpu, filter), dim3(QFZ_FILTER_THREADS), 0,
                      *filter);
}

template <typename T>
static qfz_status launch_first(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_dirs)
{
    const dim3 grid = all_of(gpu, f), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_offer_first<T>, grid, block, 0, *f, reader, n_dirs));
    return qfz_launch(gpu, k_refine_first<T>, grid, block, 0, *f, reader, n_dirs);
}

qfz_status qfz_gpu_filter_forest_round(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                       const qfz_gpu_filter *filter, const uint32_t **d_joined)
{
    const dim3 grid = all_of(gpu, filter), block(QFZ_FILTER_THREADS);
    *d_joined = filter->d_count + QFZ_FILTER_N_JOINS;
    QFZ_TRY(qfz_launch(gpu, k_clear_joins, dim3(1), dim3(1), 0, *filter));
    QFZ_TRY(qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_first(gpu, filter, reader, edges->connectivity / 2);
    }));
    QFZ_TRY(qfz_launch(gpu, k_choose, grid, block, 0, *filter));
    return qfz_launch(gpu, k_join, grid, block, 0, *filter);
}

qfz_status qfz_gpu_filter_forest_end(qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return qfz_launch(gpu, k_end_rounds, all_of(gpu, filter), dim3(QFZ_FILTER_THREADS), 0, *filter);
}
