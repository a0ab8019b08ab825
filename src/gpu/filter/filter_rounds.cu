/* SPDX-License-Identifier: MIT */
/* filter_rounds.cu - memory of the area filter; clusters grow over the whole tile, after they
 * have grown in blocks (filter_block.cu).
 *
 *   hang             two clusters that picked the same edge become one; others hang on the cluster
 *                    that their edge leads to, and wait to arrive at its root
 *   offer, refine    the first edge of each live cluster, in two halves
 *   refine, weigh    the mass that arrives before that edge and did not arrive before
 *   pick             a light cluster picks the edge
 *
 * What has arrived is a part of the root's d_mass, and is not listed any more.  A block lists what
 * waits by pixels, each with a mass: that of the pixel, or that of a cluster whose root it was. */
#include "core/box.h"
#include "gpu/filter/filter_parts.cuh"

/* A few roots of a block's, and many pixels and edges. */
enum { ROOT_THREADS = 128 };

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
    qfz_carve_take(carve, &filter->d_n_edges, n_blocks);
    qfz_carve edges = *carve;
    qfz_carve_take(carve, &filter->d_side, 4 * n_words);
    filter->root_room = n_words;
    qfz_carve_take(carve, &filter->d_roots, filter->root_room);
    qfz_carve_take(&edges, &filter->d_edges, n_blocks * QFZ_FILTER_BLOCK_PX);
    if (carve->used < edges.used) carve->used = edges.used;
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

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Where a pixel's way along d_up ends, and the word there. */
struct end_of_way {
    uint32_t root, word;

    QFZ_DEVICE bool is(uint32_t flag) const
    {
        return (word & flag) != 0;
    }
};

/* Other threads may make roots non-roots. */
static QFZ_DEVICE end_of_way find(const qfz_gpu_filter &f, uint32_t p)
{
    uint32_t up;
    while (!((up = f.d_up[p]) & QFZ_FILTER_ROOT))
        p = up;
    return {p, up};
}

/* The same where they do not; the way becomes one step. */
static QFZ_DEVICE end_of_way find_shortening(const qfz_gpu_filter &f, uint32_t p)
{
    const uint32_t up = f.d_up[p];
    if (up & QFZ_FILTER_ROOT) return {p, up};
    const end_of_way end = find(f, up);
    if (end.root != up) f.d_up[p] = end.root;
    return end;
}

/* The ends of two ways, which wait for memory together. */
struct two_ends {
    end_of_way a, b;
};

static QFZ_DEVICE two_ends find_both(const qfz_gpu_filter &f, uint32_t p, uint32_t q)
{
    two_ends ends = {{p, f.d_up[p]}, {q, f.d_up[q]}};
    while (!(ends.a.word & ends.b.word & QFZ_FILTER_ROOT)) {
        if (!ends.a.is(QFZ_FILTER_ROOT)) ends.a.root = ends.a.word;
        if (!ends.b.is(QFZ_FILTER_ROOT)) ends.b.root = ends.b.word;
        const uint32_t of_a = f.d_up[ends.a.root], of_b = f.d_up[ends.b.root];
        ends.a.word = of_a;
        ends.b.word = of_b;
    }
    return ends;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static QFZ_DEVICE uint32_t *growing_of(const qfz_gpu_filter &f, uint32_t block)
{
    return f.d_growing + (int64_t)block * QFZ_FILTER_BLOCK_PX;
}

/* Calls use(block) for some of all blocks: in the first rounds for one, and later, when few blocks
 * have anything to do, for more. */
template <typename USE> static QFZ_DEVICE void each_block(uint32_t n_blocks, const USE &use)
{
    for (uint32_t block = blockIdx.x; block < n_blocks; block += gridDim.x)
        use(block);
}

/* Appends `of_lane` of each lane that has one to a list, as far as there is room. */
template <typename ITEM>
static QFZ_DEVICE void append(ITEM *list, uint32_t *n, bool has, uint32_t of_lane)
{
    const uint32_t at = qfz_take_one(n, has);
    if (has && at < QFZ_FILTER_BLOCK_PX) list[at] = (ITEM)of_lane;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static __global__ void k_clear(qfz_gpu_filter f)
{
    f.d_count[threadIdx.x] = 0;
}

/* Each pixel of the block is a cluster. */
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_begin(qfz_gpu_filter f, const uint8_t *valid)
{
    const qfz_block_box box = qfz_filter_block_of(f, blockIdx.x);
    for (int32_t i = (int32_t)threadIdx.x; i < box.h * box.w; i += QFZ_FILTER_THREADS) {
        const int32_t y = box.y + i / box.w, x = box.x + i % box.w;
        const uint32_t p = (uint32_t)y * (uint32_t)f.w + (uint32_t)x;
        qfz_filter_begin_px(f, p, qfz_filter_mass_of_px(f, valid, y, x));
        growing_of(f, blockIdx.x)[i] = p;
    }
    if (threadIdx.x > 0) return;
    const uint32_t n = (uint32_t)(box.h * box.w);
    f.d_n_growing[blockIdx.x] = make_uint2(n, n);
    f.d_n_edges[blockIdx.x] = QFZ_FILTER_ALL_EDGES;
}

/* ---- Pick ------------------------------------------------------------------------------------ */

/* A root picks its first edge. */
static QFZ_DEVICE void pick(const qfz_gpu_filter &f, uint32_t p)
{
    const qfz_filter_place first = qfz_filter_first(f, p);
    const bool has_edge = first.high != QFZ_FILTER_NO_EDGE || first.low != UINT32_MAX;
    const bool picks = f.d_mass[p] < f.least && has_edge;
    f.d_up[p] = QFZ_FILTER_ROOT | (picks ? QFZ_FILTER_PICKED : 0u);
    if (!picks) return;
    const qfz_filter_ends edge = qfz_filter_ends_of(f, first);
    if (first.high >> 32 > 0) atomicOr(&f.d_zeroed[edge.p / 4], 1u << edge.dir << 8 * (edge.p % 4));
    if (qfz_peek(&f.d_count[QFZ_FILTER_N_PICKS]) == 0) f.d_count[QFZ_FILTER_N_PICKS] = 1;
}

static __global__ void __launch_bounds__(ROOT_THREADS) k_pick(qfz_gpu_filter f, uint32_t n_blocks)
{
    each_block(n_blocks, [&](uint32_t block) {
        const uint32_t n = f.d_n_growing[block].y;
        for (uint32_t i = threadIdx.x; i < n; i += ROOT_THREADS)
            pick(f, growing_of(f, block)[i]);
    });
}

/* ---- Hang ------------------------------------------------------------------------------------ */

/* Read at once and not where it is used, so that the read does not wait for that of d_up; and read
 * anew where it is used again. */
template <typename WORD> static QFZ_DEVICE WORD read_now(const WORD *word)
{
    return *static_cast<const volatile WORD *>(word);
}

static QFZ_DEVICE qfz_filter_place read_first(const qfz_gpu_filter &f, uint32_t p)
{
    return {read_now(f.d_first + p), read_now(f.d_first_low + p)};
}

/* Of two clusters that picked the same edge, the one with the first root stays, and the other hangs
 * on it.  Each root looks for its own pair, and meanwhile the other one may have done so: then it
 * has written into the word of the root that stays what becomes of it, before it hung. */
static QFZ_DEVICE uint32_t stays_as(const qfz_gpu_filter &f, uint32_t p, uint32_t q)
{
    const uint64_t mass = f.d_mass[p];
    return QFZ_FILTER_STAYS | (f.d_mass[q] < f.least - mass ? QFZ_FILTER_LIVE : 0u);
}

/* True if the root to, whose word was read, picked the same edge.  The first edge of a root that
 * stays is lost, but only after its word has no PICKED any more. */
static QFZ_DEVICE bool is_pair(const qfz_gpu_filter &f, uint32_t p, const end_of_way &to,
                               const qfz_filter_place &first)
{
    if (!to.is(QFZ_FILTER_PICKED)) return false;
    const qfz_filter_place other = read_first(f, to.root);
    if (other.high != first.high || other.low != first.low) return false;
    __threadfence();
    const uint32_t word = read_now(f.d_up + to.root);
    return word == p ||
           (word & (QFZ_FILTER_ROOT | QFZ_FILTER_PICKED)) == (QFZ_FILTER_ROOT | QFZ_FILTER_PICKED);
}

/* What becomes of a root that picked an edge: its word, or STAYS and perhaps LIVE. */
static QFZ_DEVICE uint32_t hang_on(const qfz_gpu_filter &f, uint32_t p,
                                   const qfz_filter_place &first)
{
    const uint32_t picked = QFZ_FILTER_ROOT | QFZ_FILTER_PICKED;
    const qfz_filter_ends edge = qfz_filter_ends_of(f, first);
    const two_ends ends = find_both(f, edge.p, edge.q);
    const end_of_way &to = ends.a.root == p ? ends.b : ends.a;
    if (to.root == p) {
        __threadfence();
        return read_now(f.d_up + p);
    }
    if (!is_pair(f, p, to, first)) return to.root;
    if (p < to.root) return QFZ_FILTER_ROOT | stays_as(f, p, to.root);
    atomicCAS(&f.d_up[to.root], picked, picked | stays_as(f, to.root, p));
    __threadfence();
    return to.root;
}

/* True if the root stays one and its cluster grows.  If the cluster that it hangs on hangs on
 * another one already, so may this one. */
static QFZ_DEVICE bool hang(const qfz_gpu_filter &f, uint32_t p)
{
    const qfz_filter_place first = read_first(f, p);
    uint32_t word = read_now(f.d_up + p);
    if (word & QFZ_FILTER_PICKED) word = hang_on(f, p, first);
    if (word & QFZ_FILTER_ROOT) word &= QFZ_FILTER_ROOT | QFZ_FILTER_LIVE;
    f.d_up[p] = word;
    if ((word & (QFZ_FILTER_ROOT | QFZ_FILTER_LIVE)) != (QFZ_FILTER_ROOT | QFZ_FILTER_LIVE))
        return false;
    __threadfence();
    qfz_filter_set_first(f, p, {QFZ_FILTER_NO_EDGE, UINT32_MAX});
    return true;
}

/* Roots that go on come first in the list, then the other ones. */
static QFZ_DEVICE void hang_roots(const qfz_gpu_filter &f, uint32_t block)
{
    __shared__ uint32_t others[QFZ_FILTER_BLOCK_PX];
    __shared__ uint32_t n_roots, n_others;
    uint32_t *const growing = growing_of(f, block);
    const uint32_t n = f.d_n_growing[block].y;
    if (n == 0) return;
    __syncthreads(); /* the lists of another block have been read */
    if (threadIdx.x == 0) n_roots = n_others = 0;
    __syncthreads();
    for (uint32_t first = 0; first < n; first += ROOT_THREADS) {
        const bool has = first + threadIdx.x < n;
        const uint32_t p = has ? growing[first + threadIdx.x] : QFZ_NONE;
        const bool stays = has && hang(f, p);
        __syncthreads(); /* what is overwritten has been read */
        append(growing, &n_roots, stays, p);
        append(others, &n_others, has && !stays, p);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n_others; i += ROOT_THREADS)
        growing[n_roots + i] = others[i];
    if (threadIdx.x == 0) f.d_n_growing[block].y = n_roots;
}

static __global__ void __launch_bounds__(ROOT_THREADS) k_hang(qfz_gpu_filter f, uint32_t n_blocks)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        f.d_count[QFZ_FILTER_N_PICKS] = f.d_count[QFZ_FILTER_N_WAITING] = 0;
    each_block(n_blocks, [&](uint32_t block) { hang_roots(f, block); });
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* In d_edges, beside an edge's number: it may be the first edge of a cluster. */
enum { MAY_BE_FIRST = 1 << 15 };

/* The edges of a block. */
struct edge_list {
    uint16_t *listed;
    uint32_t n;
    bool is_all; /* nothing is listed, entry i is i */

    QFZ_DEVICE uint32_t at(uint32_t i) const
    {
        return is_all ? i | MAY_BE_FIRST : listed[i];
    }
};

static QFZ_DEVICE edge_list edges_of_block(const qfz_gpu_filter &f, uint32_t block, int n_dirs)
{
    const uint32_t n = f.d_n_edges[block];
    const bool is_all = n == QFZ_FILTER_ALL_EDGES;
    return {f.d_edges + (int64_t)block * QFZ_FILTER_BLOCK_PX,
            is_all ? (uint32_t)(QFZ_FILTER_QUADS * n_dirs) : n, is_all};
}

/* An edge between two clusters of which one is live. */
struct live_edge {
    qfz_filter_place place;
    two_ends ends;
};

/* True if the block's edge is in the tile, with both ends valid, and not too high. */
template <typename T>
static QFZ_DEVICE bool is_edge(const qfz_edge_reader<T> &reader, const qfz_filter_edge &at)
{
    uint32_t level;
    return at.y >= 0 && at.x >= 0 && at.x < reader.w && reader.read(at.y, at.x, at.dir, &level);
}

/* False if the block's entry is no such edge any more, or no edge. */
template <typename T>
static QFZ_DEVICE bool read_edge(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                 uint32_t block, int n_dirs, bool is_listed, uint32_t entry,
                                 live_edge *edge)
{
    const qfz_block_box box = qfz_filter_block_of(f, block);
    const uint32_t number = entry & ~(uint32_t)MAY_BE_FIRST;
    const qfz_filter_edge at = qfz_filter_edge_of(box.y - 1, box.x - 1, number, (uint32_t)n_dirs);
    if (!is_listed && !is_edge(reader, at)) return false;
    const uint32_t p = (uint32_t)at.y * (uint32_t)f.w + (uint32_t)at.x;
    const uint32_t level = reader.level_of(p, at.dir);
    edge->ends = find_both(f, p, (uint32_t)((int32_t)p + reader.beyond(at.dir)));
    edge->place = qfz_filter_place_of(level, qfz_position(f.y0 + at.y, f.x0 + at.x, at.dir));
    const end_of_way &a = edge->ends.a, &b = edge->ends.b;
    return a.root != b.root && ((a.word | b.word) & QFZ_FILTER_LIVE);
}

/* Offers an edge to the clusters at its ends.  True if it may be the first one of a cluster. */
static QFZ_DEVICE bool offer(const qfz_gpu_filter &f, const live_edge &edge)
{
    const auto first_of = [&](const end_of_way &to) {
        const volatile unsigned long long *const first = &f.d_first[to.root];
        return to.is(QFZ_FILTER_LIVE) ? *first : 0;
    };
    const unsigned long long high = edge.place.high;
    unsigned long long of_a = first_of(edge.ends.a), of_b = first_of(edge.ends.b);
    if (high < of_a) of_a = atomicMin(&f.d_first[edge.ends.a.root], high);
    if (high < of_b) of_b = atomicMin(&f.d_first[edge.ends.b.root], high);
    return high <= of_a || high <= of_b;
}

/* Offers edges to the clusters at their ends, and lists them anew, or for the first time. */
template <typename T>
static QFZ_DEVICE void offer_edges(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                   uint32_t block, int n_dirs)
{
    __shared__ uint32_t n_listed;
    const edge_list edges = edges_of_block(f, block, n_dirs);
    if (edges.n == 0) return;
    __syncthreads(); /* n_listed of another block has been read */
    if (threadIdx.x == 0) n_listed = 0;
    __syncthreads();
    for (uint32_t first = 0; first < edges.n; first += QFZ_FILTER_THREADS) {
        const uint32_t i = first + threadIdx.x;
        const uint32_t entry = i < edges.n ? edges.at(i) & ~(uint32_t)MAY_BE_FIRST : 0;
        live_edge edge;
        const bool is_live =
            i < edges.n && read_edge(f, reader, block, n_dirs, !edges.is_all, entry, &edge);
        const bool may_be_first = is_live && offer(f, edge);
        __syncthreads(); /* what is overwritten has been read */
        append(edges.listed, &n_listed, is_live, may_be_first ? entry | MAY_BE_FIRST : entry);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        f.d_n_edges[block] = n_listed <= QFZ_FILTER_BLOCK_PX ? n_listed : QFZ_FILTER_ALL_EDGES;
}

template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_offer(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, uint32_t n_blocks)
{
    each_block(n_blocks, [&](uint32_t block) { offer_edges(f, reader, block, n_dirs); });
}

static QFZ_DEVICE void refine(const qfz_gpu_filter &f, const end_of_way &to,
                              const qfz_filter_place &place)
{
    if (to.is(QFZ_FILTER_LIVE) && f.d_first[to.root] == place.high)
        qfz_lower(&f.d_first_low[to.root], place.low);
}

template <typename T>
static QFZ_DEVICE void refine_edges(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                    uint32_t block, int n_dirs)
{
    const edge_list edges = edges_of_block(f, block, n_dirs);
    for (uint32_t i = threadIdx.x; i < edges.n; i += QFZ_FILTER_THREADS) {
        const uint32_t entry = edges.at(i);
        live_edge edge;
        if (!(entry & MAY_BE_FIRST) ||
            !read_edge(f, reader, block, n_dirs, !edges.is_all, entry, &edge))
            continue;
        refine(f, edge.ends.a, edge.place);
        refine(f, edge.ends.b, edge.place);
    }
}

/* ---- Masses ---------------------------------------------------------------------------------- */

/* For masses whose sum may have more than 64 bits. */
static QFZ_APART void add_great_mass(unsigned long long *sum, unsigned long long mass,
                                     unsigned long long least)
{
    if (atomicAdd(sum, mass) > UINT64_MAX - mass) atomicMax(sum, least);
}

/* What waits at a pixel becomes a part of the weight of the root; at an open root in the end, it is
 * no event of its own any more.  A plain store between atomic operations nearby takes ten times as
 * long. */
static QFZ_DEVICE void arrive(const qfz_gpu_filter &f, uint32_t root, uint32_t p)
{
    unsigned long long *const masses = reinterpret_cast<unsigned long long *>(f.d_mass);
    const unsigned long long mass = f.is_open_ring ? atomicExch(&masses[p], 0ull) : masses[p];
    if (f.least > UINT32_MAX)
        add_great_mass(&masses[root], mass, f.least);
    else
        atomicAdd(&masses[root], mass);
}

/* Calls waits(pixel) for what the block lists as waiting, and lists that anew for which it is
 * true. */
template <typename WAITS>
static QFZ_DEVICE void list_waiting(const qfz_gpu_filter &f, uint32_t block, const WAITS &waits)
{
    __shared__ uint32_t n_listed;
    const uint2 n = f.d_n_growing[block];
    if (n.x == n.y) return;
    __syncthreads(); /* n_listed of another block has been read */
    if (threadIdx.x == 0) n_listed = n.y;
    __syncthreads();
    uint32_t *const growing = growing_of(f, block);
    for (uint32_t first = n.y; first < n.x; first += QFZ_FILTER_THREADS) {
        const bool has = first + threadIdx.x < n.x;
        const uint32_t p = has ? growing[first + threadIdx.x] : QFZ_NONE;
        const bool stays = has && waits(p);
        __syncthreads(); /* what is overwritten has been read */
        append(growing, &n_listed, stays, p);
    }
    __syncthreads();
    if (threadIdx.x == 0) f.d_n_growing[block].x = n_listed;
}

/* Weighs what arrives before first edges, as their higher half says.  Where it does not say, which
 * hardly ever happens, the lower half is awaited. */
template <typename T>
static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_refine(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, uint32_t n_blocks)
{
    const auto waits = [&](uint32_t p) {
        const unsigned long long arrival = f.d_first[p]; /* while the way is looked for */
        const end_of_way to = find_shortening(f, p);
        if (!to.is(QFZ_FILTER_LIVE)) return false;
        const unsigned long long first = f.d_first[to.root];
        if (arrival < first) arrive(f, to.root, p);
        if (arrival == first) f.d_count[QFZ_FILTER_N_WAITING] = 1;
        return arrival >= first;
    };
    each_block(n_blocks, [&](uint32_t block) {
        refine_edges(f, reader, block, n_dirs);
        list_waiting(f, block, waits);
    });
}

static __global__ void __launch_bounds__(QFZ_FILTER_THREADS)
    k_weigh(qfz_gpu_filter f, uint32_t n_blocks)
{
    if (f.d_count[QFZ_FILTER_N_WAITING] == 0) return;
    const auto waits = [&](uint32_t p) {
        const uint32_t root = find(f, p).root;
        const bool arrives =
            qfz_filter_is_before(qfz_filter_first(f, p), qfz_filter_first(f, root));
        if (arrives) arrive(f, root, p);
        return !arrives;
    };
    each_block(n_blocks, [&](uint32_t block) { list_waiting(f, block, waits); });
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Rounds whose kernels have a thread block for each block; those of later rounds have one for some
 * blocks. */
enum { FULL_ROUNDS = 3, SOME_BLOCKS = 16 };

qfz_status qfz_gpu_filter_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter)
{
    QFZ_TRY(qfz_launch(gpu, k_clear, dim3(1), dim3(QFZ_FILTER_COUNTERS), 0, *filter));
    QFZ_TRY(qfz_gpu_fill(gpu, filter->d_zeroed, 0, ((int64_t)filter->h * filter->w + 3) / 4));
    if (!qfz_filter_has_blocks(gpu, edges, filter))
        return qfz_launch(gpu, k_begin, dim3(qfz_filter_block_count(filter->h, filter->w)),
                          dim3(QFZ_FILTER_THREADS), 0, *filter, edges->d_valid);
    return qfz_filter_blocks(gpu, edges, filter);
}

template <typename T>
static qfz_status launch_round(qfz_gpu *gpu, const qfz_gpu_filter *f,
                               const qfz_edge_reader<T> &reader, int n_dirs)
{
    const unsigned n = qfz_filter_block_count(f->h, f->w);
    const dim3 grid(f->n_rounds < FULL_ROUNDS ? n : (n + SOME_BLOCKS - 1) / SOME_BLOCKS);
    const dim3 block(QFZ_FILTER_THREADS), of_roots(ROOT_THREADS);
    QFZ_TRY(qfz_launch(gpu, k_hang, grid, of_roots, 0, *f, n));
    QFZ_TRY(qfz_launch(gpu, k_offer<T>, grid, block, 0, *f, reader, n_dirs, n));
    QFZ_TRY(qfz_launch(gpu, k_refine<T>, grid, block, 0, *f, reader, n_dirs, n));
    QFZ_TRY(qfz_launch(gpu, k_weigh, qfz_filter_grid(gpu, (int64_t)f->h * f->w), block, 0, *f, n));
    return qfz_launch(gpu, k_pick, grid, of_roots, 0, *f, n);
}

qfz_status qfz_gpu_filter_round(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, const uint32_t **d_picked)
{
    *d_picked = filter->d_count + QFZ_FILTER_N_PICKS;
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        return launch_round(gpu, filter, reader, edges->connectivity / 2);
    });
}
