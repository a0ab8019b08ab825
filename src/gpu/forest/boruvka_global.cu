/* SPDX-License-Identifier: MIT */
/* boruvka_global.cu - Boruvka rounds on the graph that the blocks leave.
 *
 * A round is three launches: hook (a vertex picks its lightest edge; of two that picked the same
 * one the first is root and gets a number in the next round; in the first round blocks may know
 * what vertices pick, see first_known), settle (every vertex learns its root) and join (edges are
 * renamed, those inside one component go, the others offer themselves to the next round's
 * vertices).  How many vertices and edges there are is known on the device only; launches that come
 * too late find none.  What remains when vertices are few is done by one block: of the edges,
 * thousands for each pair of vertices by then, it keeps the lightest of a pair.
 *
 * Vertices are numbered anew in each round; origin[] leads back to the number of the first. */
#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/device/warp.cuh"

typedef unsigned long long weight; /* level << 32 | edge, of this round's list */

enum { THREADS = 256, EACH = 4, TAIL_THREADS = 1024, TAIL_EACH = 8 };

/* A graph of so many vertices, which has room for all pairs of them, and so many edges is left to
 * the last launch. */
enum { FEW = 176, PAIRS = FEW * (FEW - 1) / 2, EDGES_AT_LAST = 1 << 17 };

/* Rounds of no more vertices take as long as their steps have to wait for each other. */
enum { SEVERAL = 1 << 22 };

/* A vertex's word in forest.root: the vertex that it hooked itself to, then ROOT | its root's
 * number in the next round, or ROOT | ENDED. */
static const uint32_t ROOT = 1u << 31, ENDED = ROOT - 1;
static const uint32_t ALL_LANES = 0xffffffffu;
static const weight NO_WEIGHT = ~(weight)0;

namespace
{
/* The threads that share a round. */
struct team {
    uint32_t first, step; /* of warps */
    int lane;
};
} // namespace

static __device__ __forceinline__ team team_of_grid(void)
{
    const uint32_t warps = blockDim.x / QFZ_WARP;
    return team{blockIdx.x * warps + threadIdx.x / QFZ_WARP, gridDim.x * warps,
                (int)(threadIdx.x % QFZ_WARP)};
}

/* Every lane of a warp goes through EACH items a step; whole warps stay together. */
#define EACH_CHUNK(t, n, base)                                                                     \
    for (uint64_t base = (uint64_t)(t).first * (QFZ_WARP * EACH); base < (n);                      \
         base += (uint64_t)(t).step * (QFZ_WARP * EACH))

static __device__ __forceinline__ uint32_t n_vertices(const qfz_gpu_forest &f, int round)
{
    return qfz_peek(&f.count[QFZ_COUNT_VERTICES + round]);
}

static __device__ __forceinline__ uint32_t n_edges(const qfz_gpu_forest &f, int round)
{
    return qfz_peek(&f.count[QFZ_COUNT_EDGES + round]);
}

static __device__ __forceinline__ uint32_t origin_of(const qfz_gpu_forest &f, int round, uint32_t v)
{
    return round == 0 ? v : f.origin[round % 2][v];
}

static __device__ __forceinline__ uint32_t vertex_of(const qfz_gpu_forest &f, uint32_t end)
{
    return end & QFZ_RIM_REF ? f.rim[end & ~QFZ_RIM_REF].x : end;
}

namespace
{
/* Of one edge, to both of its ends, as by qfz_lower() in two steps: others look between them. */
struct edge_offer {
    weight key, at_x, at_y;
};
} // namespace

static __device__ __forceinline__ edge_offer look(const weight *best, uint2 ends, weight key)
{
    return {key, *static_cast<const volatile weight *>(&best[ends.x]),
            *static_cast<const volatile weight *>(&best[ends.y])};
}

static __device__ __forceinline__ void offer(weight *best, uint2 ends, const edge_offer &edge)
{
    if (edge.key < edge.at_x) atomicMin(&best[ends.x], edge.key);
    if (edge.key < edge.at_y) atomicMin(&best[ends.y], edge.key);
}

/* The other end of the lightest edge of v, which has this key. */
static __device__ __forceinline__ uint32_t other_end(const qfz_gpu_forest &f, int round, uint32_t v,
                                                     weight key)
{
    if (round == 0 && f.first_known) return f.rim[f.root[v]].x;
    const uint2 ends = f.ends[round % 2][(uint32_t)key];
    return ends.x == v ? ends.y : ends.x;
}

namespace
{
/* Which of the items that a warp goes through in a step it keeps, by the bits of its lanes. */
struct kept_items {
    unsigned lanes[EACH];
};
} // namespace

/* Takes places after *counter for what is kept, in the order of the items, and goes through those
 * of the lane: use(j, place). */
template <typename USE>
static __device__ __forceinline__ void place(uint32_t *counter, const kept_items &kept, team t,
                                             USE use)
{
    uint32_t n = 0, first = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++)
        n += (uint32_t)__popc(kept.lanes[j]);
    if (t.lane == 0 && n > 0) first = qfz_add(counter, n);
    first = __shfl_sync(ALL_LANES, first, 0);
#pragma unroll
    for (uint32_t j = 0; j < EACH; j++) {
        const unsigned lanes = kept.lanes[j];
        if (lanes >> t.lane & 1) use(j, first + (uint32_t)__popc(lanes & ((1u << t.lane) - 1)));
        first += (uint32_t)__popc(lanes);
    }
}

/* Loads of a lane's items stand together, so that they overlap. */
static __device__ __forceinline__ void hook(const qfz_gpu_forest &f, int round, team t)
{
    const weight *const best = f.best[round % 2];
    const uint32_t n = n_vertices(f, round);
    const bool all = round == 0 && f.first_known; /* go on, even if they know of no edge */
    EACH_CHUNK(t, n, base)
    {
        const uint32_t first_v = (uint32_t)base + (uint32_t)t.lane;
        weight key[EACH], of_other[EACH];
        uint32_t other[EACH];
        kept_items roots;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            key[j] = first_v + j * QFZ_WARP < n ? best[first_v + j * QFZ_WARP] : NO_WEIGHT;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            if (key[j] != NO_WEIGHT) other[j] = other_end(f, round, first_v + j * QFZ_WARP, key[j]);
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            if (key[j] != NO_WEIGHT) of_other[j] = best[other[j]];
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            /* Of two that picked the same edge the first is the root. */
            const uint32_t v = first_v + j * QFZ_WARP;
            const bool picks = key[j] != NO_WEIGHT;
            const bool root = picks ? v < other[j] && of_other[j] == key[j] : v < n && all;
            if (v < n && !root) f.root[v] = picks ? other[j] : ROOT | ENDED;
            roots.lanes[j] = __ballot_sync(ALL_LANES, root);
        }
        place(&f.count[QFZ_COUNT_VERTICES + round + 1], roots, t, [&](uint32_t j, uint32_t at) {
            const uint32_t v = first_v + j * QFZ_WARP;
            f.root[v] = ROOT | at;
            f.origin[(round + 1) % 2][at] = origin_of(f, round, v);
            f.best[(round + 1) % 2][at] = NO_WEIGHT;
        });
    }
}

/* The words of some vertices become their roots'; those that are may be any.  A word only moves on
 * towards the root, so whatever is read of it is on the same way; ways end at a root, since of the
 * vertices on a way each has a lighter edge than the one before. */
static __device__ __forceinline__ void go_to_roots(uint32_t *root, uint32_t first_v,
                                                   uint32_t (&word)[EACH])
{
    for (bool on = true; on;) {
        uint32_t next[EACH];
        on = false;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            next[j] = word[j] & ROOT ? word[j] : qfz_peek(&root[word[j]]);
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            if (!(word[j] & ROOT))
                *static_cast<volatile uint32_t *>(&root[first_v + j * QFZ_WARP]) = next[j];
            on |= !(next[j] & ROOT);
            word[j] = next[j];
        }
    }
}

static __device__ __forceinline__ void settle(const qfz_gpu_forest &f, int round, team t)
{
    const uint32_t n = n_vertices(f, round);
    EACH_CHUNK(t, n, base)
    {
        const uint32_t first_v = (uint32_t)base + (uint32_t)t.lane;
        uint32_t word[EACH], level[EACH], origin[EACH], own[EACH];
        bool hooked[EACH]; /* else its own hook, if there is one, comes in a later round */
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            const uint32_t v = first_v + j * QFZ_WARP;
            word[j] = v < n ? qfz_peek(&f.root[v]) : ROOT | ENDED;
            level[j] = v < n ? (uint32_t)(f.best[round % 2][v] >> 32) : 0;
            own[j] = v < n ? origin_of(f, round, v) : 0;
        }
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            hooked[j] = !(word[j] & ROOT);
        go_to_roots(f.root, first_v, word);
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++)
            origin[j] = hooked[j] && word[j] != (ROOT | ENDED)
                            ? f.origin[(round + 1) % 2][word[j] & ~ROOT]
                            : 0;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            const bool ended = word[j] == (ROOT | ENDED);
            if (first_v + j * QFZ_WARP >= n || (!ended && !hooked[j])) continue;
            f.up[own[j]] = ended ? make_uint2(QFZ_UP_ROOT, 0)
                                 : make_uint2(origin[j] << QFZ_UP_BITS | (uint32_t)round, level[j]);
        }
    }
}

namespace
{
/* Edges that a lane renames: what is asked for of one does not wait for another one. */
struct some_edges {
    uint2 ends[EACH];
    uint32_t level[EACH];
};
} // namespace

/* A lane's edges from `first` on, with the numbers that their ends have in the next round; where
 * there is none, both ends are one vertex's. */
template <bool SETTLED>
static __device__ __forceinline__ void rename(const qfz_gpu_forest &f, int round, uint64_t first,
                                              uint32_t n, some_edges &some)
{
    const int now = round % 2;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint64_t e = first + (uint64_t)(j * QFZ_WARP);
        some.ends[j] = e < n ? f.ends[now][e] : make_uint2(0, 0);
        some.level[j] = e < n ? qfz_edge_level(f, now, e) : 0;
    }
#pragma unroll
    for (int j = 0; j < EACH && round == 0; j++)
        some.ends[j] = make_uint2(vertex_of(f, some.ends[j].x), vertex_of(f, some.ends[j].y));
#pragma unroll
    for (int j = 0; j < EACH; j++)
        some.ends[j] = make_uint2(f.root[some.ends[j].x], f.root[some.ends[j].y]);
    for (bool on = !SETTLED; on;) {
        on = false;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            uint2 &ends = some.ends[j];
            if (!(ends.x & ROOT)) ends.x = qfz_peek(&f.root[ends.x]);
            if (!(ends.y & ROOT)) ends.y = qfz_peek(&f.root[ends.y]);
            on |= !(ends.x & ends.y & ROOT);
        }
    }
#pragma unroll
    for (int j = 0; j < EACH; j++)
        some.ends[j] = make_uint2(some.ends[j].x & ~ROOT, some.ends[j].y & ~ROOT);
}

/* SETTLED: all vertices know their roots; else ways are followed, on which words only move on. */
template <bool SETTLED>
static __device__ __forceinline__ void join(const qfz_gpu_forest &f, int round, team t)
{
    const int next = 1 - round % 2;
    const uint32_t n = n_edges(f, round);
    EACH_CHUNK(t, n, base)
    {
        some_edges some;
        kept_items kept;
        rename<SETTLED>(f, round, base + (uint64_t)t.lane, n, some);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            kept.lanes[j] = __ballot_sync(ALL_LANES, some.ends[j].x != some.ends[j].y);
        edge_offer offers[EACH];
        place(&f.count[QFZ_COUNT_EDGES + round + 1], kept, t, [&](uint32_t j, uint32_t at) {
            const weight key = (weight)some.level[j] << 32 | at;
            offers[j] = look(f.best[next], some.ends[j], key);
            f.ends[next][at] = some.ends[j];
            qfz_set_edge_level(f, next, at, some.level[j]);
        });
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (some.ends[j].x != some.ends[j].y) offer(f.best[next], some.ends[j], offers[j]);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static __global__ void k_begin(qfz_gpu_forest f, qfz_gpu_links external)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < QFZ_COUNTERS) f.count[i] = i == QFZ_COUNT_EDGES ? (uint32_t)external.n : 0;
    if (i >= external.n) return;
    const int2 u = qfz_ring_pixel(f.h, f.w, (int32_t)external.d_u[i]);
    const int2 v = qfz_ring_pixel(f.h, f.w, (int32_t)external.d_v[i]);
    f.ends[0][i] = make_uint2(QFZ_RIM_REF | qfz_rim_place(f, u.y, u.x),
                              QFZ_RIM_REF | qfz_rim_place(f, v.y, v.x));
    qfz_set_edge_level(f, 0, (uint64_t)i, external.d_level[i]);
}

/* Ends that are places on rims become vertices, and every edge offers itself for the first round,
 * where blocks do not know what vertices choose. */
static __global__ void __launch_bounds__(THREADS) k_name(qfz_gpu_forest f)
{
    const uint32_t n = n_edges(f, 0);
    const uint64_t step = (uint64_t)gridDim.x * THREADS;
    for (uint64_t e = (uint64_t)blockIdx.x * THREADS + threadIdx.x; e < n; e += step) {
        const uint2 was = f.ends[0][e];
        const uint2 ends = make_uint2(vertex_of(f, was.x), vertex_of(f, was.y));
        f.ends[0][e] = ends;
        const weight key = (weight)qfz_edge_level(f, 0, e) << 32 | e;
        if (ends.x != ends.y) offer(f.best[0], ends, look(f.best[0], ends, key));
    }
}

/* Then no round of the grid comes after. */
static __device__ __forceinline__ bool is_left(const qfz_gpu_forest &f, int round)
{
    return n_vertices(f, round) <= FEW && n_edges(f, round) <= EDGES_AT_LAST;
}

static __global__ void __launch_bounds__(THREADS, QFZ_SM_THREADS / THREADS)
    k_hook(qfz_gpu_forest f, int round)
{
    qfz_await_launches();
    if (!is_left(f, round)) hook(f, round, team_of_grid());
}

static __global__ void __launch_bounds__(THREADS) k_settle(qfz_gpu_forest f, int round)
{
    qfz_await_launches();
    if (!is_left(f, round)) settle(f, round, team_of_grid());
}

static __global__ void __launch_bounds__(THREADS) k_join(qfz_gpu_forest f, int round)
{
    qfz_await_launches();
    if (!is_left(f, round)) join<true>(f, round, team_of_grid());
}

/* Both at once: whoever joins an edge follows the ways that are not settled yet.  Not in the first
 * round, in which levels may be written where settling reads what vertices picked. */
static __global__ void __launch_bounds__(THREADS) k_settle_and_join(qfz_gpu_forest f, int round)
{
    qfz_await_launches();
    if (is_left(f, round)) return;
    settle(f, round, team_of_grid());
    join<false>(f, round, team_of_grid());
}

/* ---- The last vertices ----------------------------------------------------------------------- */

namespace
{
/* Vertices keep their numbers of the round in which they became few. */
struct last_memory {
    weight best[FEW];              /* of a component: level << 32 | greater vertex << 8 | lesser */
    uint32_t hook[FEW], name[FEW]; /* what a component hooked itself to; of a vertex, its own */
    uint32_t pair[PAIRS];          /* level of the lightest edge, or QFZ_NONE */
};
} // namespace
static_assert(sizeof(last_memory) <= 64u << 10, "as much as every GPU has");

/* All pairs of n vertices in two components, of which there is an edge: use(weight, a, b). */
template <typename USE>
static __device__ __forceinline__ void each_pair(last_memory &m, uint32_t n, USE use)
{
    for (uint32_t u = threadIdx.x / QFZ_WARP; u < n; u += TAIL_THREADS / QFZ_WARP)
        for (uint32_t v = threadIdx.x % QFZ_WARP; v < u; v += QFZ_WARP) {
            const uint32_t level = m.pair[u * (u - 1) / 2 + v];
            if (level != QFZ_NONE && m.name[u] != m.name[v])
                use((weight)level << 32 | u << 8 | v, m.name[u], m.name[v]);
        }
}

static __device__ __forceinline__ void find_pairs(const qfz_gpu_forest &f, last_memory &m,
                                                  int round, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < PAIRS; i += TAIL_THREADS)
        m.pair[i] = QFZ_NONE;
    for (uint32_t v = threadIdx.x; v < n; v += TAIL_THREADS)
        m.name[v] = v;
    __syncthreads();
    const uint32_t n_e = n_edges(f, round);
    for (uint32_t base = threadIdx.x; base < n_e; base += TAIL_EACH * TAIL_THREADS) {
        uint2 ends[TAIL_EACH];
        uint32_t level[TAIL_EACH];
#pragma unroll
        for (uint32_t k = 0; k < TAIL_EACH; k++) {
            const uint32_t e = min(base + k * TAIL_THREADS, n_e - 1);
            ends[k] = f.ends[round % 2][e];
            level[k] = qfz_edge_level(f, round % 2, e);
        }
#pragma unroll
        for (int k = 0; k < TAIL_EACH && round == 0; k++)
            ends[k] = make_uint2(vertex_of(f, ends[k].x), vertex_of(f, ends[k].y));
#pragma unroll
        for (int k = 0; k < TAIL_EACH; k++) {
            const uint32_t u = max(ends[k].x, ends[k].y), v = min(ends[k].x, ends[k].y);
            if (u != v) /* in the first round there may be such */
                qfz_lower(&m.pair[u * (u - 1) / 2 + v], level[k]);
        }
    }
}

/* What component c hooks itself to: the one at the other end of its lightest edge, or, if the
 * other has the same and comes later, or there is none, itself. */
static __device__ __forceinline__ uint32_t last_hook(const last_memory &m, uint32_t c)
{
    const weight key = m.best[c];
    if (key == NO_WEIGHT) return c;
    const uint32_t a = m.name[(uint32_t)key >> 8], b = m.name[(uint32_t)key & 0xff];
    const uint32_t other = a == c ? b : a;
    return c < other && m.best[other] == key ? c : other;
}

/* Rounds as above, until no pair is in two components. */
static __device__ __forceinline__ void finish(const qfz_gpu_forest &f, last_memory &m, int round,
                                              uint32_t n)
{
    const uint32_t c = threadIdx.x; /* a component, if there is one of that name */
    const uint32_t *const origin = f.origin[round % 2];
    auto vertex = [&](uint32_t v) { return round == 0 ? v : origin[v]; };
    find_pairs(f, m, round, n);
    for (uint32_t at = (uint32_t)round;; at++) {
        bool more = false;
        if (c < n) m.best[c] = NO_WEIGHT;
        __syncthreads();
        each_pair(m, n, [&](weight pair, uint32_t a, uint32_t b) {
            qfz_lower(&m.best[a], pair);
            qfz_lower(&m.best[b], pair);
            more = true;
        });
        if (!__syncthreads_or(more)) break;
        if (c < n) m.hook[c] = last_hook(m, c);
        __syncthreads();
        uint32_t root = c;
        if (c < n) {
            while (m.hook[root] != root)
                root = m.hook[root];
            if (root != c)
                f.up[vertex(c)] =
                    make_uint2(vertex(root) << QFZ_UP_BITS | at, (uint32_t)(m.best[c] >> 32));
        }
        __syncthreads();
        if (c < n) m.hook[c] = root;
        __syncthreads();
        if (c < n) m.name[c] = m.hook[m.name[c]];
    }
    if (c < n && m.name[c] == c) f.up[vertex(c)] = make_uint2(QFZ_UP_ROOT, 0);
}

/* n_rounds have been launched. */
static __global__ void __launch_bounds__(TAIL_THREADS) k_finish(qfz_gpu_forest f, int n_rounds)
{
    qfz_await_launches();
    QFZ_SHARED(last_memory, m);
    const team t = team_of_grid(); /* of one block */
    const int first_left = __ffs((int)__ballot_sync(ALL_LANES, is_left(f, t.lane))) - 1;
    int round = first_left < 0 ? n_rounds : min(first_left, n_rounds);
    for (; n_vertices(f, round) > FEW; round++) {
        hook(f, round, t);
        __syncthreads();
        settle(f, round, t);
        __syncthreads();
        join<true>(f, round, t);
        __syncthreads();
    }
    finish(f, *m, round, n_vertices(f, round));
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_boruvka_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                             const qfz_gpu_links *external)
{
    const qfz_gpu_links none = {}, links = external ? *external : none;
    const int64_t n = links.n > QFZ_COUNTERS ? links.n : (int64_t)QFZ_COUNTERS;
    return qfz_launch(gpu, k_begin, dim3(qfz_launch_blocks(n, THREADS)), dim3(THREADS), 0, *forest,
                      links);
}

/* Blocks for n items, or as many as keep the device busy. */
static dim3 grid_of(const qfz_gpu *gpu, int64_t n)
{
    const unsigned most = (unsigned)gpu->n_sms * 8, wanted = qfz_launch_blocks(n, THREADS * EACH);
    return dim3(wanted < most ? wanted : most);
}

/* After so many rounds, each leaving at most half of the vertices and mostly a third, the graph
 * is small enough for one block; if not, it is only slower. */
static int rounds_of_grid(int64_t n_vertices)
{
    int halvings = 0;
    while (n_vertices >> halvings > FEW)
        halvings++;
    return (halvings + 1) / 2;
}

qfz_status qfz_boruvka_rounds(qfz_gpu *gpu, const qfz_gpu_forest *forest)
{
    const int n_rounds = rounds_of_grid(forest->vertex_room);
    const dim3 block(THREADS);
    if (!forest->first_known)
        QFZ_TRY(qfz_launch(gpu, k_name, grid_of(gpu, forest->edge_room), block, 0, *forest));
    for (int round = 0; round < n_rounds; round++) {
        const dim3 vertices = grid_of(gpu, forest->vertex_room >> round);
        const dim3 edges = grid_of(gpu, forest->edge_room >> round);
        QFZ_TRY(qfz_launch_early(gpu, k_hook, vertices, block, 0, *forest, round));
        if (round > 0 && forest->vertex_room >> round < SEVERAL) {
            QFZ_TRY(qfz_launch_early(gpu, k_settle_and_join, edges, block, 0, *forest, round));
            continue;
        }
        QFZ_TRY(qfz_launch_early(gpu, k_settle, vertices, block, 0, *forest, round));
        QFZ_TRY(qfz_launch_early(gpu, k_join, edges, block, 0, *forest, round));
    }
    return qfz_launch_early(gpu, k_finish, dim3(1), dim3(TAIL_THREADS), sizeof(last_memory),
                            *forest, n_rounds);
}
