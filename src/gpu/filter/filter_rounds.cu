/* SPDX-License-Identifier: MIT */
/* filter_rounds.cu - memory of the area filter, and its rounds on the components of a whole tile.
 *
 * A round has five steps, each a kernel:
 *
 *   offer    undecided edges are offered to the light components at their two ends, and listed
 *   refine   the same for the lower halves of positions, where the higher ones are equal
 *   choose   each light component finds the component at the other end of its first edge
 *   follow   ... and from there the component where the chain of choices ends
 *   join     components join, and those that stay light are listed
 *
 * Where the rounds begin in blocks (filter_block.cu), these leave the lists of round 1; else round
 * 0 has no lists: it is of all pixels. */
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

void qfz_gpu_filter_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_filter *filter)
{
    const int64_t n = (int64_t)h * w;
    qfz_carve_take(carve, &filter->d_up, n);
    qfz_carve_take(carve, &filter->d_mass, n);
    qfz_carve_take(carve, &filter->d_first, n);
    qfz_carve_take(carve, &filter->d_first_low, n);
    qfz_carve_take(carve, &filter->d_target, n);
    qfz_carve_take(carve, &filter->d_zeroed, (n + 3) / 4);
    qfz_carve_take(carve, &filter->d_count, QFZ_FILTER_COUNTERS);
    qfz_carve items = *carve;
    for (int i = 0; i < 2; i++) {
        qfz_carve_take(carve, &filter->d_px[i], n);
        qfz_carve_take(carve, &filter->d_light[i], n);
    }
    /* A pixel has an event and an edge in each direction at most, which must fit. */
    const int64_t room = (int64_t)((carve->used - items.used) / sizeof(qfz_gpu_filter_item));
    filter->item_room = room > QFZ_MAX_DIRS + 1 ? room : QFZ_MAX_DIRS + 1;
    qfz_carve_take(&items, &filter->d_items, filter->item_room);
    if (carve->used < items.used) carve->used = items.used;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* For each i below n: appends item(i) to a list unless it is QFZ_NONE.  A warp reserves places for
 * several items at a time. */
template <typename ITEM>
static __device__ __forceinline__ void keep_some(uint32_t n, uint32_t *counter, uint32_t *list,
                                                 const ITEM &item)
{
    enum { EACH = 4 };
    const uint64_t step = (uint64_t)gridDim.x * QFZ_FILTER_THREADS * EACH;
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const uint64_t first = (uint64_t)blockIdx.x * QFZ_FILTER_THREADS + threadIdx.x - lane;
    for (uint64_t base = first * EACH; base < n; base += step) {
        uint32_t kept[EACH], count = 0;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const uint64_t i = base + lane + (uint64_t)j * QFZ_WARP;
            kept[j] = i < n ? item(i) : QFZ_NONE;
            count += kept[j] != QFZ_NONE;
        }
        uint32_t at = qfz_take(counter, count);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (kept[j] != QFZ_NONE) list[at++] = kept[j];
    }
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ bool is_on_ring(const qfz_gpu_filter &f, uint32_t p)
{
    const int32_t y = (int32_t)(p / (uint32_t)f.w), x = (int32_t)(p % (uint32_t)f.w);
    return y == 0 || y == f.h - 1 || x == 0 || x == f.w - 1;
}

/* An invalid pixel has no edges; that it weighs N keeps it out of all lists. */
static __device__ __forceinline__ uint64_t mass_of(const qfz_gpu_filter &f, const uint8_t *valid,
                                                   uint32_t p)
{
    if (valid && !valid[p]) return f.least;
    if (f.is_open_ring && is_on_ring(f, p)) return QFZ_GPU_FILTER_OPEN;
    const uint64_t mass = f.d_row_mass ? f.d_row_mass[p / (uint32_t)f.w] : 1;
    return mass < f.least ? mass : f.least;
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_begin(qfz_gpu_filter f, const uint8_t *valid)
{
    const int64_t n = (int64_t)f.h * f.w;
    if (blockIdx.x == 0 && threadIdx.x < QFZ_FILTER_COUNTERS)
        f.d_count[threadIdx.x] =
            threadIdx.x == QFZ_FILTER_N_PX || threadIdx.x == QFZ_FILTER_N_LIGHT ? (uint32_t)n : 0;
    QFZ_FILTER_EACH(i, 0, n)
    {
        const uint32_t p = (uint32_t)i;
        f.d_up[p] = p;
        f.d_mass[p] = mass_of(f, valid, p);
        f.d_first[p] = QFZ_FILTER_NO_EDGE;
        f.d_first_low[p] = UINT32_MAX;
        f.d_target[p] = QFZ_FILTER_NOWHERE;
        if (p % 4 == 0) f.d_zeroed[p / 4] = 0;
    }
}

qfz_status qfz_gpu_filter_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int *first)
{
    const bool has_blocks = qfz_filter_has_blocks(gpu, filter);
    *first = has_blocks ? 1 : 0;
    if (has_blocks) return qfz_filter_blocks(gpu, edges, filter);
    return qfz_launch(gpu, k_begin, qfz_filter_grid(gpu, (int64_t)filter->h * filter->w),
                      dim3(QFZ_FILTER_THREADS), 0, *filter, edges->d_valid);
}

/* ---- Offer and refine ------------------------------------------------------------------------ */

static __device__ __forceinline__ uint32_t px_at(const qfz_gpu_filter &f, int list, int round,
                                                 uint64_t i)
{
    return round == 0 ? (uint32_t)i : f.d_px[list][i];
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, int round)
{
    const int now = round % 2, next = 1 - now;
    const uint32_t n = f.d_count[QFZ_FILTER_N_PX + now];
    if (blockIdx.x == 0 && threadIdx.x == 0) f.d_count[QFZ_FILTER_N_LIGHT + next] = 0;
    keep_some(n, &f.d_count[QFZ_FILTER_N_PX + next], f.d_px[next], [&](uint64_t i) {
        const uint32_t p = px_at(f, now, round, i);
        bool stays = false;
        const auto offer = [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a,
                               uint32_t b) {
            const bool of_a = qfz_filter_is_light(f, a), of_b = qfz_filter_is_light(f, b);
            if (!of_a && !of_b) return;
            const qfz_filter_place place = qfz_filter_place_of(f, y, x, d, level);
            if (of_a) qfz_lower(&f.d_first[a], place.high);
            if (of_b) qfz_lower(&f.d_first[b], place.high);
            stays = true;
        };
        qfz_filter_each_edge(f, reader, n_dirs, p, offer);
        return stays ? p : QFZ_NONE;
    });
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, int round)
{
    const int next = 1 - round % 2;
    const uint32_t n = f.d_count[QFZ_FILTER_N_PX + next];
    QFZ_FILTER_EACH(i, 0, n)
    {
        const auto refine = [&](int32_t y, int32_t x, int d, uint32_t level, uint32_t a,
                                uint32_t b) {
            const qfz_filter_place place = qfz_filter_place_of(f, y, x, d, level);
            if (f.d_first[a] == place.high) qfz_lower(&f.d_first_low[a], place.low);
            if (f.d_first[b] == place.high) qfz_lower(&f.d_first_low[b], place.low);
        };
        qfz_filter_each_edge(f, reader, n_dirs, f.d_px[next][i], refine);
    }
}

/* ---- Choose ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t light_at(const qfz_gpu_filter &f, int round, uint64_t i)
{
    return round == 0 ? (uint32_t)i : f.d_light[round % 2][i];
}

/* Sets the bit of the edge in direction d of pixel p. */
static __device__ __forceinline__ void set_zeroed(const qfz_gpu_filter &f, uint32_t p, int d)
{
    atomicOr(&f.d_zeroed[p / 4], 1u << (8 * (p % 4) + (uint32_t)d));
}

/* The target of light root a, whose first edge is known. */
static __device__ __forceinline__ uint32_t target_of(const qfz_gpu_filter &f, uint32_t a)
{
    const qfz_filter_place first = {f.d_first[a], f.d_first_low[a]};
    int64_t y, x;
    int d;
    if (first.high == QFZ_FILTER_NO_EDGE && first.low == UINT32_MAX) return QFZ_FILTER_NOWHERE;
    qfz_position_edge(qfz_filter_position(first), &y, &x, &d);
    const int32_t from_y = (int32_t)(y - f.y0), from_x = (int32_t)(x - f.x0);
    const int32_t to_y = from_y + (d == QFZ_RIGHT ? 0 : 1);
    const int32_t to_x = from_x + (d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1);
    const uint32_t p = (uint32_t)from_y * (uint32_t)f.w + (uint32_t)from_x;
    if (first.high >> 32 > 0) set_zeroed(f, p, d);
    const uint32_t one = qfz_filter_root(f, p);
    const uint32_t other =
        one == a ? qfz_filter_root(f, (uint32_t)to_y * (uint32_t)f.w + (uint32_t)to_x) : one;
    if (!qfz_filter_is_light(f, other) || f.d_first[other] != first.high ||
        f.d_first_low[other] != first.low)
        return other;
    return a < other ? a : QFZ_FILTER_MUTUAL | other;
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_choose(qfz_gpu_filter f, int round)
{
    const uint32_t n = f.d_count[QFZ_FILTER_N_LIGHT + round % 2];
    if (blockIdx.x == 0 && threadIdx.x == 0) f.d_count[QFZ_FILTER_N_PX + round % 2] = 0;
    QFZ_FILTER_EACH(i, 0, n)
    {
        const uint32_t a = light_at(f, round, i);
        f.d_target[a] = qfz_filter_is_light(f, a) ? target_of(f, a) : QFZ_FILTER_NOWHERE;
    }
}

/* ---- Follow ---------------------------------------------------------------------------------- */

/* Chains of choices lead to earlier and earlier edges, so they end: at a component that is not
 * light, or at the one that remains of two that chose the same edge. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_follow(qfz_gpu_filter f, int round)
{
    const uint32_t n = f.d_count[QFZ_FILTER_N_LIGHT + round % 2];
    QFZ_FILTER_EACH(i, 0, n)
    {
        const uint32_t a = light_at(f, round, i);
        uint32_t at = qfz_peek(&f.d_target[a]);
        if (at == a || at & QFZ_FILTER_MUTUAL) continue;
        while (qfz_filter_is_light(f, at)) {
            const uint32_t further = qfz_peek(&f.d_target[at]) & ~QFZ_FILTER_MUTUAL;
            if (further == at) break;
            at = further;
            __stcg(&f.d_target[a], at);
        }
    }
}

/* ---- Join ------------------------------------------------------------------------------------ */

/* Joins light root a to its target, if it may; returns true if a stays a light root.  The one that
 * remains of two with the same edge gets weight from the other one alone, and components that
 * meanwhile find that it weighs N may join it. */
static __device__ __forceinline__ bool join(const qfz_gpu_filter &f, uint32_t a)
{
    const uint32_t target = f.d_target[a];
    if (target == QFZ_FILTER_NOWHERE) return false;
    if (target == a) return true;
    if (target & QFZ_FILTER_MUTUAL) {
        const uint32_t to = target & ~QFZ_FILTER_MUTUAL;
        const uint64_t own = f.d_mass[a], has = f.d_mass[to];
        f.d_mass[to] = own >= f.least - has ? f.least : own + has;
        f.d_up[a] = to;
        return false;
    }
    const uint64_t has = qfz_peek(&f.d_mass[target]);
    if (has < f.least) return true;
    if (has == QFZ_GPU_FILTER_OPEN) f.d_target[a] = QFZ_FILTER_JOINED;
    f.d_up[a] = target;
    return false;
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_join(qfz_gpu_filter f, int round)
{
    const int now = round % 2, next = 1 - now;
    const uint32_t n = f.d_count[QFZ_FILTER_N_LIGHT + now];
    keep_some(n, &f.d_count[QFZ_FILTER_N_LIGHT + next], f.d_light[next], [&](uint64_t i) {
        const uint32_t a = light_at(f, round, i);
        if (!join(f, a)) return QFZ_NONE;
        f.d_first[a] = QFZ_FILTER_NO_EDGE;
        f.d_first_low[a] = UINT32_MAX;
        return a;
    });
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T>
static qfz_status launch_round(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_dirs, int round)
{
    const dim3 grid = qfz_filter_grid(gpu, (int64_t)f->h * f->w), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_offer<T>, grid, block, 0, *f, reader, n_dirs, round));
    QFZ_TRY(qfz_launch(gpu, k_refine<T>, grid, block, 0, *f, reader, n_dirs, round));
    QFZ_TRY(qfz_launch(gpu, k_choose, grid, block, 0, *f, round));
    QFZ_TRY(qfz_launch(gpu, k_follow, grid, block, 0, *f, round));
    return qfz_launch(gpu, k_join, grid, block, 0, *f, round);
}

qfz_status qfz_gpu_filter_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                 const qfz_gpu_filter *filter, int first, int n,
                                 const uint32_t **d_n_light)
{
    *d_n_light = filter->d_count + QFZ_FILTER_N_LIGHT + (first + n) % 2;
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        for (int round = first; round < first + n; round++)
            QFZ_TRY(launch_round(gpu, filter, reader, edges->connectivity / 2, round));
        return QFZ_OK;
    });
}
