/* SPDX-License-Identifier: MIT */
/* boruvka_global.cu - Boruvka rounds on the graph of all blocks.
 *
 * A round is three launches:
 *
 *   hook      each vertex hooks itself by its lightest edge; of two vertices that chose the same
 *             edge, the first is a root and gets a number in the next round.  In the first round
 *             the block kernels may have stored the lightest edges (first_known)
 *   settle    each vertex gets its root
 *   join      edges get the new numbers of their ends; edges inside a component are removed, and
 *             each remaining edge is offered to the next round's vertices
 *
 * The numbers of vertices and edges are known on the device only; launches after the last round
 * find no work.  When few vertices remain, one block finishes: of the edges, thousands per pair of
 * vertices by then, it keeps the lightest one of each pair.
 *
 * Vertices are numbered anew in each round; origin[] has their numbers of the first round. */
#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/device/warp.cuh"

typedef unsigned long long weight; /* level << 32 | edge, of this round's list */

enum { THREADS = 256, EACH = 4, TAIL_THREADS = 1024, TAIL_EACH = 8 };

/* The last launch solves a graph of at most FEW vertices and EDGES_AT_LAST edges; its shared memory
 * has a word for each pair of vertices. */
enum { FEW = 176, PAIRS = FEW * (FEW - 1) / 2, EDGES_AT_LAST = 1 << 17 };

/* The word of a vertex in forest.root: the vertex to which it hooked itself; after settle, IS_ROOT
 * | its root's number in the next round, or IS_ROOT | NO_NEXT if the root has no edge. */
static const uint32_t IS_ROOT = 1u << 31, NO_NEXT = IS_ROOT - 1;
static const weight NO_WEIGHT = ~(weight)0;

namespace
{
/* The place of a thread among the threads of a round. */
struct team {
    uint32_t first, step; /* number of its warp; number of warps */
    int lane;
};

QFZ_DEVICE team team_of_grid(void)
{
    const uint32_t warps = blockDim.x / QFZ_WARP;
    return team{blockIdx.x * warps + threadIdx.x / QFZ_WARP, gridDim.x * warps,
                (int)(threadIdx.x % QFZ_WARP)};
}

/* Loops over n items in chunks of a warp's size times EACH; all lanes of a warp stay in the loop
 * equally long. */
#define EACH_CHUNK(t, n, base)                                                                     \
    for (uint64_t base = (uint64_t)(t).first * (QFZ_WARP * EACH); base < (n);                      \
         base += (uint64_t)(t).step * (QFZ_WARP * EACH))

QFZ_DEVICE uint32_t n_vertices(const qfz_gpu_forest &f, int round)
{
    return qfz_peek(&f.count[QFZ_COUNT_VERTICES + round]);
}

QFZ_DEVICE uint32_t n_edges(const qfz_gpu_forest &f, int round)
{
    return qfz_peek(&f.count[QFZ_COUNT_EDGES + round]);
}

QFZ_DEVICE uint32_t origin_of(const qfz_gpu_forest &f, int round, uint32_t v)
{
    return round == 0 ? v : f.origin[round % 2][v];
}

QFZ_DEVICE uint32_t vertex_of(const qfz_gpu_forest &f, uint32_t end)
{
    return end & QFZ_RIM_REF ? f.rim[end & ~QFZ_RIM_REF].x : end;
}

/* An offer of one edge to both of its ends: qfz_lower() in two steps, look() and offer(), so that
 * the reads for several edges overlap. */
struct edge_offer {
    weight key, at_x, at_y;
};

QFZ_DEVICE edge_offer look(const weight *best, uint2 ends, weight key)
{
    return {key, *static_cast<const volatile weight *>(&best[ends.x]),
            *static_cast<const volatile weight *>(&best[ends.y])};
}

QFZ_DEVICE void offer(weight *best, uint2 ends, const edge_offer &edge)
{
    if (edge.key < edge.at_x) atomicMin(&best[ends.x], edge.key);
    if (edge.key < edge.at_y) atomicMin(&best[ends.y], edge.key);
}

/* The other end of v's lightest edge; key: the weight of that edge. */
QFZ_DEVICE uint32_t other_end(const qfz_gpu_forest &f, int round, uint32_t v, weight key)
{
    if (round == 0 && f.first_known) return f.rim[f.root[v]].x;
    const uint2 ends = f.ends[round % 2][(uint32_t)key];
    return ends.x == v ? ends.y : ends.x;
}

/* The items of a warp's chunk that it keeps: per group of 32, a bit for each lane. */
struct kept_items {
    unsigned lanes[EACH];
};

/* Reserves places after *counter for the kept items, in their order, and calls use(j, place) for
 * those of the lane. */
template <typename USE>
QFZ_DEVICE void place(uint32_t *counter, const kept_items &kept, team t, USE use)
{
    uint32_t n = 0, first = 0;
    QFZ_EACH (j, EACH)
        n += (uint32_t)__popc(kept.lanes[j]);
    if (t.lane == 0 && n > 0) first = qfz_add(counter, n);
    first = __shfl_sync(QFZ_ALL_LANES, first, 0);
    QFZ_EACH (j, EACH) {
        const unsigned lanes = kept.lanes[j];
        if (lanes >> t.lane & 1) use(j, first + (uint32_t)__popc(lanes & ((1u << t.lane) - 1)));
        first += (uint32_t)__popc(lanes);
    }
}

/* The loads of a lane's items are adjacent in the code, so that they overlap. */
QFZ_DEVICE void hook(const qfz_gpu_forest &f, int round, team t)
{
    const weight *const best = f.best[round % 2];
    const uint32_t n = n_vertices(f, round);
    const bool all = round == 0 && f.first_known; /* a vertex without a known edge is a root */
    EACH_CHUNK(t, n, base)
    {
        const uint32_t first_v = (uint32_t)base + (uint32_t)t.lane;
        weight key[EACH], of_other[EACH];
        uint32_t other[EACH];
        kept_items roots;
        QFZ_EACH (j, EACH)
            key[j] = first_v + j * QFZ_WARP < n ? best[first_v + j * QFZ_WARP] : NO_WEIGHT;
        QFZ_EACH (j, EACH)
            if (key[j] != NO_WEIGHT) other[j] = other_end(f, round, first_v + j * QFZ_WARP, key[j]);
        QFZ_EACH (j, EACH)
            if (key[j] != NO_WEIGHT) of_other[j] = best[other[j]];
        QFZ_EACH (j, EACH) {
            /* Of two vertices that chose the same edge, the first is the root. */
            const uint32_t v = first_v + j * QFZ_WARP;
            const bool picks = key[j] != NO_WEIGHT;
            const bool root = picks ? v < other[j] && of_other[j] == key[j] : v < n && all;
            if (v < n && !root) f.root[v] = picks ? other[j] : IS_ROOT | NO_NEXT;
            roots.lanes[j] = __ballot_sync(QFZ_ALL_LANES, root);
        }
        place(&f.count[QFZ_COUNT_VERTICES + round + 1], roots, t, [&](uint32_t j, uint32_t at) {
            const uint32_t v = first_v + j * QFZ_WARP;
            f.root[v] = IS_ROOT | at;
            f.origin[(round + 1) % 2][at] = origin_of(f, round, v);
            f.best[(round + 1) % 2][at] = NO_WEIGHT;
        });
    }
}

/* Replaces the words of a lane's vertices by those of their roots, while other threads do the same
 * for other vertices.  A word only advances towards its root, so a stale word is on the same path.
 * A path ends at a root, because along a path each vertex's edge is lighter than the one before. */
QFZ_DEVICE void go_to_roots(uint32_t *root, uint32_t first_v, uint32_t (&word)[EACH])
{
    for (bool on = true; on;) {
        uint32_t next[EACH];
        on = false;
        QFZ_EACH (j, EACH)
            next[j] = word[j] & IS_ROOT ? word[j] : qfz_peek(&root[word[j]]);
        QFZ_EACH (j, EACH) {
            if (!(word[j] & IS_ROOT))
                *static_cast<volatile uint32_t *>(&root[first_v + j * QFZ_WARP]) = next[j];
            on |= !(next[j] & IS_ROOT);
            word[j] = next[j];
        }
    }
}

QFZ_DEVICE void settle(const qfz_gpu_forest &f, int round, team t)
{
    const uint32_t n = n_vertices(f, round);
    EACH_CHUNK(t, n, base)
    {
        const uint32_t first_v = (uint32_t)base + (uint32_t)t.lane;
        uint32_t word[EACH], level[EACH], origin[EACH], own[EACH];
        bool hooked[EACH]; /* false: a root, which may hook itself in a later round */
        QFZ_EACH (j, EACH) {
            const uint32_t v = first_v + j * QFZ_WARP;
            word[j] = v < n ? qfz_peek(&f.root[v]) : IS_ROOT | NO_NEXT;
            level[j] = v < n ? (uint32_t)(f.best[round % 2][v] >> 32) : 0;
            own[j] = v < n ? origin_of(f, round, v) : 0;
        }
        QFZ_EACH (j, EACH)
            hooked[j] = !(word[j] & IS_ROOT);
        go_to_roots(f.root, first_v, word);
        QFZ_EACH (j, EACH)
            origin[j] = hooked[j] && word[j] != (IS_ROOT | NO_NEXT)
                            ? f.origin[(round + 1) % 2][word[j] & ~IS_ROOT]
                            : 0;
        QFZ_EACH (j, EACH) {
            const bool ended = word[j] == (IS_ROOT | NO_NEXT);
            if (first_v + j * QFZ_WARP >= n || (!ended && !hooked[j])) continue;
            f.up[own[j]] = ended ? make_uint2(QFZ_UP_ROOT, 0)
                                 : make_uint2(origin[j] << QFZ_UP_BITS | (uint32_t)round, level[j]);
        }
    }
}

/* The edges of a lane in a chunk; their loads overlap. */
struct some_edges {
    uint2 ends[EACH];
    uint32_t level[EACH];
};

/* Reads a lane's edges, from `first` on, and replaces their ends by their numbers in the next
 * round. Past the end of the list, both ends of an edge are one vertex. */
QFZ_DEVICE void rename(const qfz_gpu_forest &f, int round, uint64_t first, uint32_t n,
                       some_edges &some)
{
    const int now = round % 2;
    QFZ_EACH (j, EACH) {
        const uint64_t e = first + (uint64_t)(j * QFZ_WARP);
        some.ends[j] = e < n ? f.ends[now][e] : make_uint2(0, 0);
        some.level[j] = e < n ? qfz_edge_level(f, now, e) : 0;
    }
#pragma unroll
    for (int j = 0; j < EACH && round == 0; j++)
        some.ends[j] = make_uint2(vertex_of(f, some.ends[j].x), vertex_of(f, some.ends[j].y));
    QFZ_EACH (j, EACH)
        some.ends[j] = make_uint2(f.root[some.ends[j].x], f.root[some.ends[j].y]);
    QFZ_EACH (j, EACH)
        some.ends[j] = make_uint2(some.ends[j].x & ~IS_ROOT, some.ends[j].y & ~IS_ROOT);
}

QFZ_DEVICE void join(const qfz_gpu_forest &f, int round, team t)
{
    const int next = 1 - round % 2;
    const uint32_t n = n_edges(f, round);
    EACH_CHUNK(t, n, base)
    {
        some_edges some;
        kept_items kept;
        rename(f, round, base + (uint64_t)t.lane, n, some);
        QFZ_EACH (j, EACH)
            kept.lanes[j] = __ballot_sync(QFZ_ALL_LANES, some.ends[j].x != some.ends[j].y);
        edge_offer offers[EACH];
        place(&f.count[QFZ_COUNT_EDGES + round + 1], kept, t, [&](uint32_t j, uint32_t at) {
            const weight key = (weight)some.level[j] << 32 | at;
            offers[j] = look(f.best[next], some.ends[j], key);
            f.ends[next][at] = some.ends[j];
            qfz_set_edge_level(f, next, at, some.level[j]);
        });
        QFZ_EACH (j, EACH)
            if (some.ends[j].x != some.ends[j].y) offer(f.best[next], some.ends[j], offers[j]);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

__global__ void k_begin(qfz_gpu_forest f, qfz_gpu_links external)
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

/* Without first_known: replaces ends that are indices into forest.rim by vertices, and offers every
 * edge for the first round. */
__global__ void __launch_bounds__(THREADS) k_name(qfz_gpu_forest f)
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

/* True if the graph is left to the last launch, and no round of the whole grid follows. */
QFZ_DEVICE bool is_left(const qfz_gpu_forest &f, int round)
{
    return n_vertices(f, round) <= FEW && n_edges(f, round) <= EDGES_AT_LAST;
}

__global__ void __launch_bounds__(THREADS, QFZ_SM_THREADS / THREADS)
    k_hook(qfz_gpu_forest f, int round)
{
    if (!is_left(f, round)) hook(f, round, team_of_grid());
}

__global__ void __launch_bounds__(THREADS) k_settle(qfz_gpu_forest f, int round)
{
    if (!is_left(f, round)) settle(f, round, team_of_grid());
}

__global__ void __launch_bounds__(THREADS) k_join(qfz_gpu_forest f, int round)
{
    if (!is_left(f, round)) join(f, round, team_of_grid());
}

/* ---- The last vertices ----------------------------------------------------------------------- */

/* Shared memory of the last launch.  Vertices keep their numbers of the round in which it starts.
 */
struct last_memory {
    weight best[FEW];     /* per component: level << 32 | greater vertex << 8 | lesser vertex */
    uint32_t hook[FEW];   /* per component: the component to which it hooked itself */
    uint32_t name[FEW];   /* per vertex: its component */
    uint32_t pair[PAIRS]; /* level of the lightest edge, or QFZ_NONE */
};
} // namespace
static_assert(sizeof(last_memory) <= 64u << 10, "as much as every GPU has");

/* Calls use(weight, a, b) for each pair of vertices that has an edge and lies in two components, a
 * and b. */
template <typename USE> static QFZ_DEVICE void each_pair(last_memory &m, uint32_t n, USE use)
{
    for (uint32_t u = threadIdx.x / QFZ_WARP; u < n; u += TAIL_THREADS / QFZ_WARP)
        for (uint32_t v = threadIdx.x % QFZ_WARP; v < u; v += QFZ_WARP) {
            const uint32_t level = m.pair[u * (u - 1) / 2 + v];
            if (level != QFZ_NONE && m.name[u] != m.name[v])
                use((weight)level << 32 | u << 8 | v, m.name[u], m.name[v]);
        }
}

/* Finds the lightest edge of each pair of vertices. */
static QFZ_DEVICE void find_pairs(const qfz_gpu_forest &f, last_memory &m, int round, uint32_t n)
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
        QFZ_EACH (k, TAIL_EACH) {
            const uint32_t e = min(base + k * TAIL_THREADS, n_e - 1);
            ends[k] = f.ends[round % 2][e];
            level[k] = qfz_edge_level(f, round % 2, e);
        }
#pragma unroll
        for (int k = 0; k < TAIL_EACH && round == 0; k++)
            ends[k] = make_uint2(vertex_of(f, ends[k].x), vertex_of(f, ends[k].y));
        QFZ_EACH (k, TAIL_EACH) {
            const uint32_t u = max(ends[k].x, ends[k].y), v = min(ends[k].x, ends[k].y);
            if (u != v) /* in the first round both ends may be one vertex */
                qfz_lower(&m.pair[u * (u - 1) / 2 + v], level[k]);
        }
    }
}

/* The component to which component c hooks itself: the one at the other end of its lightest edge.
 * Component c itself if it has no edge, or if the other component, with a greater number, chose the
 * same edge. */
static QFZ_DEVICE uint32_t last_hook(const last_memory &m, uint32_t c)
{
    const weight key = m.best[c];
    if (key == NO_WEIGHT) return c;
    const uint32_t a = m.name[(uint32_t)key >> 8], b = m.name[(uint32_t)key & 0xff];
    const uint32_t other = a == c ? b : a;
    return c < other && m.best[other] == key ? c : other;
}

/* Runs rounds on the pairs until no pair lies in two components. */
static QFZ_DEVICE void finish(const qfz_gpu_forest &f, last_memory &m, int round, uint32_t n)
{
    const uint32_t c = threadIdx.x; /* a component, if c < n */
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

/* n_rounds: the number of rounds that were launched before. */
__global__ void __launch_bounds__(TAIL_THREADS) k_finish(qfz_gpu_forest f, int n_rounds)
{
    QFZ_SHARED(last_memory, m);
    const team t = team_of_grid(); /* the grid is one block */
    const int first_left = __ffs((int)__ballot_sync(QFZ_ALL_LANES, is_left(f, t.lane))) - 1;
    int round = first_left < 0 ? n_rounds : min(first_left, n_rounds);
    for (; n_vertices(f, round) > FEW; round++) {
        hook(f, round, t);
        __syncthreads();
        settle(f, round, t);
        __syncthreads();
        join(f, round, t);
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
    return qfz_launch_each(gpu, k_begin, n, THREADS, *forest, links);
}

/* Blocks for n items, at most as many as the device runs at once. */
static dim3 grid_of(const qfz_gpu *gpu, int64_t n)
{
    return qfz_launch_grid(gpu, n, THREADS * EACH, 8);
}

/* The number of rounds to launch.  A round leaves at most half of the vertices, usually a third;
 * with that, the graph is small enough for the last launch.  If it is not, the last launch is
 * slower. */
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
        QFZ_TRY(qfz_launch(gpu, k_hook, vertices, block, 0, *forest, round));
        QFZ_TRY(qfz_launch(gpu, k_settle, vertices, block, 0, *forest, round));
        QFZ_TRY(qfz_launch(gpu, k_join, edges, block, 0, *forest, round));
    }
    return qfz_launch(gpu, k_finish, dim3(1), dim3(TAIL_THREADS), sizeof(last_memory), *forest,
                      n_rounds);
}
