/* SPDX-License-Identifier: MIT */
/* filter_rounds.cu - memory of the area filter; clusters grow over the whole tile, after they
 * have grown in blocks (filter_block.cu).
 *
 *   hang             two clusters that picked the same edge become one; others hang on the cluster
 *                    that their edge leads to
 *   settle           pixels follow; those of clusters that grow are listed anew
 *   offer, refine    the first edge of each live cluster, in two halves
 *   refine, weigh    the mass that arrives before that edge
 *   pick             a light cluster picks the edge
 *
 * Between rounds, d_up of each pixel of a cluster that grows is its root. */
#include "core/box.h"
#include "gpu/filter/filter_parts.cuh"

void qfz_gpu_filter_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_filter *filter)
{
    const int64_t n = (int64_t)h * w, n_ring = qfz_ring_size(h, w), n_words = (n + 3) / 4;
    const int64_t n_blocks = (int64_t)qfz_filter_block_count(h, w);
    qfz_carve_take(carve, &filter->d_up, n);
    qfz_carve_take(carve, &filter->d_first, n);
    qfz_carve_take(carve, &filter->d_first_low, n);
    qfz_carve_take(carve, &filter->d_mass, n);
    qfz_carve_take(carve, &filter->d_zeroed, n_words);
    qfz_carve_take(carve, &filter->d_n_growing, n_blocks);
    qfz_carve_take(carve, &filter->d_side, 4 * n_words);
    filter->root_room = n_words;
    qfz_carve_take(carve, &filter->d_roots, filter->root_room);
    qfz_carve_take(carve, &filter->d_count, QFZ_FILTER_COUNTERS);
    qfz_carve_take(carve, &filter->d_ring_first, n_ring);
    qfz_carve_take(carve, &filter->d_ring_first_low, n_ring);
    qfz_carve_take(carve, &filter->d_ring_up, n_ring);
    qfz_carve_take(carve, &filter->d_ring_target, n_ring);
    qfz_carve target = *carve, items = *carve;
    qfz_carve_take(carve, &filter->d_growing, n_blocks * QFZ_FILTER_BLOCK_PX);
    qfz_carve_take(&target, &filter->d_target, n);
    /* A pixel has an event and an edge in each direction at most, which must fit. */
    const int64_t room = (int64_t)((carve->used - items.used) / sizeof(qfz_gpu_filter_item));
    filter->item_room = room > QFZ_MAX_DIRS + 1 ? room : QFZ_MAX_DIRS + 1;
    qfz_carve_take(&items, &filter->d_items, filter->item_room);
    if (carve->used < items.used) carve->used = items.used;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* Calls use(pixel) for each pixel of this block in a cluster that grows; for roots, which come
 * first in the list. */
template <typename USE>
static QFZ_DEVICE void each_listed(const qfz_gpu_filter &f, uint32_t n, const USE &use)
{
    const uint32_t *const growing = f.d_growing + (int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX;
    for (uint32_t i = threadIdx.x; i < n; i += QFZ_FILTER_THREADS)
        use(growing[i]);
}
template <typename USE> static QFZ_DEVICE void each_growing(const qfz_gpu_filter &f, const USE &use)
{
    each_listed(f, f.d_n_growing[blockIdx.x].x, use);
}
template <typename USE> static QFZ_DEVICE void each_root(const qfz_gpu_filter &f, const USE &use)
{
    each_listed(f, f.d_n_growing[blockIdx.x].y, use);
}

/* The root of a pixel, which is one step away. */
static QFZ_DEVICE uint32_t root_of(const qfz_gpu_filter &f, uint32_t p)
{
    const uint32_t up = f.d_up[p];
    return up & QFZ_FILTER_ROOT ? p : up;
}

static QFZ_DEVICE bool is_root_with(const qfz_gpu_filter &f, uint32_t p, uint32_t flag)
{
    return (f.d_up[p] & (QFZ_FILTER_ROOT | flag)) == (QFZ_FILTER_ROOT | flag);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static __global__ void k_clear(qfz_gpu_filter f)
{
    f.d_count[threadIdx.x] = 0;
}

static QFZ_DEVICE void begin_round(const qfz_gpu_filter &f, uint32_t root)
{
    qfz_filter_set_first(f, root, {QFZ_FILTER_NO_EDGE, UINT32_MAX});
    f.d_mass[root] = qfz_filter_row_mass(f, (int32_t)(root / (uint32_t)f.w));
}

/* Each pixel of the block is a cluster. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_begin(qfz_gpu_filter f, const uint8_t *valid)
{
    const qfz_block_box box = qfz_filter_block_of(f, blockIdx.x);
    for (int32_t i = (int32_t)threadIdx.x; i < box.h * box.w; i += QFZ_FILTER_THREADS) {
        const int32_t y = box.y + i / box.w, x = box.x + i % box.w;
        const uint32_t p = (uint32_t)y * (uint32_t)f.w + (uint32_t)x;
        const uint64_t mass = qfz_filter_mass_of_px(f, valid, y, x);
        f.d_up[p] = QFZ_FILTER_ROOT | (mass < f.least ? QFZ_FILTER_LIVE : 0u);
        f.d_mass[p] = mass;
        f.d_growing[(int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX + i] = p;
    }
    const uint32_t n = (uint32_t)(box.h * box.w);
    if (threadIdx.x == 0) f.d_n_growing[blockIdx.x] = make_uint2(n, n);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* The cluster to which the first edge of a cluster leads. */
static QFZ_DEVICE uint32_t beyond(const qfz_gpu_filter &f, uint32_t root)
{
    const qfz_filter_ends ends = qfz_filter_ends_of(f, qfz_filter_first(f, root));
    const uint32_t of_p = root_of(f, ends.p);
    return of_p == root ? root_of(f, ends.q) : of_p;
}

/* Of two that picked the same edge, one stays a root, and becomes LIVE if the two are light. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_pair(qfz_gpu_filter f)
{
    each_root(f, [&](uint32_t p) {
        if (!is_root_with(f, p, QFZ_FILTER_PICKED)) return;
        const uint32_t to = beyond(f, p);
        const qfz_filter_place first = qfz_filter_first(f, p), other = qfz_filter_first(f, to);
        if (!is_root_with(f, to, QFZ_FILTER_PICKED) || to < p || other.high != first.high ||
            other.low != first.low)
            return;
        const bool is_light = f.d_mass[p] < f.least - f.d_mass[to];
        f.d_up[p] |= QFZ_FILTER_STAYS | (is_light ? QFZ_FILTER_LIVE : 0u);
    });
}

/* If the other end of the edge is a root that hangs on another one already, so may this one. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_hang(qfz_gpu_filter f)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        f.d_count[QFZ_FILTER_N_PICKS] = f.d_count[QFZ_FILTER_N_WAITING] = 0;
    each_root(f, [&](uint32_t p) {
        const uint32_t up = f.d_up[p];
        if (!is_root_with(f, p, QFZ_FILTER_PICKED)) return;
        f.d_up[p] = up & QFZ_FILTER_STAYS ? up & (QFZ_FILTER_ROOT | QFZ_FILTER_LIVE) : beyond(f, p);
    });
}

/* Keys grow from hop to hop back from the end of a chain, so that the first hop is the last edge of
 * the path.  True for a pixel of a live cluster. */
static QFZ_DEVICE bool follow(const qfz_gpu_filter &f, uint32_t p)
{
    const uint32_t up = f.d_up[p];
    if (f.d_up[up] & QFZ_FILTER_ROOT) return is_root_with(f, up, QFZ_FILTER_LIVE);
    const uint32_t root = qfz_find<qfz_filter_parents>(f.d_up, up);
    const bool is_live = is_root_with(f, root, QFZ_FILTER_LIVE);
    f.d_up[p] = root;
    if (!is_live && !qfz_filter_is_open(f, root)) return false;
    const qfz_filter_place hop = qfz_filter_first(f, up);
    if (qfz_filter_is_before(qfz_filter_first(f, p), hop)) {
        qfz_filter_set_first(f, p, hop);
        f.d_mass[p] = 0;
    }
    return is_live;
}

/* Appends pixel `of` of each lane to a list, unless it is QFZ_NONE. */
static QFZ_DEVICE void append(uint32_t *list, uint32_t *n, uint32_t px)
{
    const uint32_t at = qfz_take_one(n, px != QFZ_NONE);
    if (px != QFZ_NONE) list[at] = px;
}

/* Lists the pixels of live clusters anew, roots first. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_settle(qfz_gpu_filter f)
{
    __shared__ uint32_t hung[QFZ_FILTER_BLOCK_PX]; /* roots no more */
    __shared__ uint32_t n_listed, n_hung;
    const uint2 n = f.d_n_growing[blockIdx.x];
    uint32_t *const growing = f.d_growing + (int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX;
    if (threadIdx.x == 0) n_listed = n_hung = 0;
    __syncthreads();
    for (uint32_t first = 0; first < n.y; first += QFZ_FILTER_THREADS) {
        const uint32_t p = first + threadIdx.x < n.y ? growing[first + threadIdx.x] : QFZ_NONE;
        const bool is_root = p != QFZ_NONE && (f.d_up[p] & QFZ_FILTER_ROOT) != 0;
        const bool stays = is_root && is_root_with(f, p, QFZ_FILTER_LIVE);
        const bool hangs = p != QFZ_NONE && !is_root && follow(f, p);
        if (stays) begin_round(f, p);
        __syncthreads(); /* what is overwritten has been read */
        append(growing, &n_listed, stays ? p : QFZ_NONE);
        append(hung, &n_hung, hangs ? p : QFZ_NONE);
    }
    __syncthreads();
    const uint32_t n_roots = n_listed;
    __syncthreads();
    for (uint32_t first = n.y; first < n.x; first += QFZ_FILTER_THREADS) {
        const uint32_t p = first + threadIdx.x < n.x ? growing[first + threadIdx.x] : QFZ_NONE;
        const bool is_live = p != QFZ_NONE && follow(f, p);
        __syncthreads();
        append(growing, &n_listed, is_live ? p : QFZ_NONE);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n_hung; i += QFZ_FILTER_THREADS)
        growing[n_listed + i] = hung[i];
    if (threadIdx.x == 0) f.d_n_growing[blockIdx.x] = make_uint2(n_listed + n_hung, n_roots);
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* An edge of a pixel: side 2 d is the one that starts there in direction d, side 2 d + 1 the one
 * that ends there. */
enum { NO_SIDE = 2 * QFZ_MAX_DIRS, WAITS };

/* The place of an edge of pixel p; *beyond = its other end.  False if there is no such edge, or its
 * level is greater than `most`. */
template <typename T>
static QFZ_DEVICE bool read_side(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                 uint32_t p, int side, uint32_t most, qfz_filter_place *place,
                                 uint32_t *beyond)
{
    const int d = side / 2;
    const bool ends = side % 2 != 0;
    const int32_t y = (int32_t)(p / (uint32_t)f.w) - (ends ? qfz_step_y(d) : 0);
    const int32_t x = (int32_t)(p % (uint32_t)f.w) - (ends ? qfz_step_x(d) : 0);
    uint32_t level;
    if (y < 0 || x < 0 || x >= f.w || !reader.read(y, x, d, &level) || level > most) return false;
    *place = qfz_filter_place_of(level, qfz_position(f.y0 + y, f.x0 + x, d));
    *beyond = (uint32_t)((int32_t)p + (ends ? -reader.beyond(d) : reader.beyond(d)));
    return true;
}

/* Offers the first edge of each pixel that leaves its cluster to the cluster, and writes which side
 * it is. */
template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_sides)
{
    each_growing(f, [&](uint32_t p) {
        const uint32_t root = root_of(f, p);
        /* Edges out of the cluster come after the pixel's arrival. */
        const unsigned long long least =
            *static_cast<volatile unsigned long long *>(&f.d_first[root]);
        qfz_filter_place first = {QFZ_FILTER_NO_EDGE, UINT32_MAX};
        int first_side = NO_SIDE;
        for (int side = 0; (p == root || f.d_first[p] <= least) && side < n_sides; side++) {
            qfz_filter_place place;
            uint32_t beyond;
            if (read_side(f, reader, p, side, (uint32_t)(first.high >> 32), &place, &beyond) &&
                root_of(f, beyond) != root &&
                (first_side == NO_SIDE || qfz_filter_is_before(place, first))) {
                first = place;
                first_side = side;
            }
        }
        f.d_side[p] = (uint8_t)first_side;
        if (first_side != NO_SIDE) qfz_lower(&f.d_first[root], first.high);
    });
}

/* ---- Masses ---------------------------------------------------------------------------------- */

static QFZ_DEVICE void add_mass(const qfz_gpu_filter &f, uint32_t root, uint32_t p)
{
    unsigned long long *const sum = reinterpret_cast<unsigned long long *>(&f.d_mass[root]);
    const uint64_t mass = qfz_filter_row_mass(f, (int32_t)(p / (uint32_t)f.w));
    if (atomicAdd(sum, (unsigned long long)mass) > UINT64_MAX - mass)
        atomicMax(sum, (unsigned long long)f.least);
}

/* Finds the lower half of first edges, and adds what arrives before them as the higher half says.
 * Where it does not say, which hardly ever happens, the pixel waits for the lower half. */
template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine(qfz_gpu_filter f, qfz_edge_reader<T> reader)
{
    each_growing(f, [&](uint32_t p) {
        const uint32_t root = root_of(f, p);
        const int side = f.d_side[p];
        const unsigned long long first = f.d_first[root], arrival = p == root ? 0 : f.d_first[p];
        qfz_filter_place place;
        uint32_t beyond;
        if (side != NO_SIDE && arrival <= first &&
            read_side(f, reader, p, side, (uint32_t)(first >> 32), &place, &beyond) &&
            place.high == first)
            qfz_lower(&f.d_first_low[root], place.low);
        if (p != root && arrival < first) add_mass(f, root, p);
        if (p == root || arrival != first) return;
        f.d_side[p] = WAITS;
        f.d_count[QFZ_FILTER_N_WAITING] = 1;
    });
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_weigh(qfz_gpu_filter f)
{
    if (f.d_count[QFZ_FILTER_N_WAITING] == 0) return;
    each_growing(f, [&](uint32_t p) {
        const uint32_t root = root_of(f, p);
        if (f.d_side[p] == WAITS && f.d_first_low[p] < f.d_first_low[root]) add_mass(f, root, p);
    });
}

/* ---- Picks ----------------------------------------------------------------------------------- */

static QFZ_DEVICE void mark(const qfz_gpu_filter &f, const qfz_filter_place &place)
{
    const qfz_filter_ends ends = qfz_filter_ends_of(f, place);
    if (place.high >> 32 > 0) atomicOr(&f.d_zeroed[ends.p / 4], 1u << ends.dir << 8 * (ends.p % 4));
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS) k_pick(qfz_gpu_filter f)
{
    each_root(f, [&](uint32_t p) {
        const qfz_filter_place first = qfz_filter_first(f, p);
        const bool has_edge = first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX;
        const bool picks = has_edge && f.d_mass[p] < f.least;
        f.d_up[p] = QFZ_FILTER_ROOT | (picks ? QFZ_FILTER_PICKED : 0u);
        if (!picks) return;
        mark(f, first);
        if (qfz_peek(&f.d_count[QFZ_FILTER_N_PICKS]) == 0) f.d_count[QFZ_FILTER_N_PICKS] = 1;
    });
}

/* ---- Launches -------------------------------------------------------------------------------- */

static dim3 all_blocks(const qfz_gpu_filter *filter)
{
    return dim3(qfz_filter_block_count(filter->h, filter->w));
}

qfz_status qfz_gpu_filter_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter)
{
    QFZ_TRY(qfz_launch(gpu, k_clear, dim3(1), dim3(QFZ_FILTER_COUNTERS), 0, *filter));
    QFZ_TRY(qfz_gpu_fill(gpu, filter->d_zeroed, 0, ((int64_t)filter->h * filter->w + 3) / 4));
    if (qfz_filter_has_blocks(gpu, edges, filter)) return qfz_filter_blocks(gpu, edges, filter);
    return qfz_launch(gpu, k_begin, all_blocks(filter), dim3(QFZ_FILTER_THREADS), 0, *filter,
                      edges->d_valid);
}

template <typename T>
static qfz_status launch_round(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_sides)
{
    const dim3 grid = all_blocks(f), block(QFZ_FILTER_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_pair, grid, block, 0, *f));
    QFZ_TRY(qfz_launch(gpu, k_hang, grid, block, 0, *f));
    QFZ_TRY(qfz_launch(gpu, k_settle, grid, block, 0, *f));
    QFZ_TRY(qfz_launch(gpu, k_offer<T>, grid, block, 0, *f, reader, n_sides));
    QFZ_TRY(qfz_launch(gpu, k_refine<T>, grid, block, 0, *f, reader));
    QFZ_TRY(qfz_launch(gpu, k_weigh, grid, block, 0, *f));
    return qfz_launch(gpu, k_pick, grid, block, 0, *f);
}

qfz_status qfz_gpu_filter_round(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, const uint32_t **d_picked)
{
    *d_picked = filter->d_count + QFZ_FILTER_N_PICKS;
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_round(gpu, filter, reader, edges->connectivity);
    });
}
