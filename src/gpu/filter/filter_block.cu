/* SPDX-License-Identifier: MIT */
/* filter_block.cu - light components join (filter.cuh) inside blocks of 64 x 64 pixels, in shared
 * memory.
 *
 * First each light pixel sorts its edges, and marks the first one.  Then rounds follow, until no
 * edge was marked twice:
 *
 *   join     pairs of components that marked the same edge join; what is light afterwards searches
 *   settle   each pixel's root is the root of its former root
 *   offer    pixels of searching components offer the keys of their first edges
 *   refine   those whose key is the least one of the component offer positions
 *   choose   the pixel whose position is the least one chooses: the component has its first edge
 *   mark     ... and marks this edge
 *
 * A component whose first edge leaves its block marks nothing here: it is listed for the whole
 * tile.
 *
 * Pixel p belongs to thread p % THREADS.  Between two barriers a word of shared memory is written
 * by one thread, or read, but for atomic operations. */
#include "gpu/filter/filter_edges.cuh"
#include "gpu/forest/boruvka_parts.cuh"

enum { SIDE = QFZ_SIDE, PX = SIDE * SIDE, THREADS = 512, OWN = PX / THREADS };

/* A pixel's sides in the order of their edges, ORDER_BITS each, the first one in the lowest bits;
 * and how many are left. */
enum { ORDER_BITS = 3, ORDER_LEFT_AT = 24 };

static const uint32_t NOTHING = 0xffff; /* no pixel, no search */

/* Weights of 32 bits; N is less than that of an open component. */
static const uint32_t OPEN = UINT32_MAX;

namespace
{
struct block_memory {
    unsigned long long position[PX / 2];  /* by search */
    uint32_t least_key[PX / 2];           /* by search */
    uint32_t order[PX], key[PX];          /* by pixel; in the end key: list of a root */
    uint32_t mass[PX];                    /* by root */
    uint32_t zeroed[PX / 4];              /* as in qfz_gpu_filter */
    uint16_t root[PX];                    /* by pixel */
    uint16_t to[PX], search[PX], top[PX]; /* by root: new root; search; pixel that chose */
    uint16_t pair[PX / 2];                /* pixels that were second to mark their edge */
    uint32_t n_pairs[2], n_leaving, first_leaving;
};

/* A thread and its block, which begins at pixel (y, x) of the tile; a pixel of the block has the
 * number row * SIDE + column. */
template <typename T> struct block_work {
    block_memory &m;
    qfz_filter_edges<T> edges;
    int32_t y, x, h, w;
    uint32_t light; /* bit i: pixel i of the thread is in a light component */

    __device__ __forceinline__ int2 at(uint32_t p) const
    {
        return make_int2(x + (int32_t)(p % SIDE), y + (int32_t)(p / SIDE));
    }
    /* The number of a pixel of the tile; NOTHING if it is not in the block. */
    __device__ __forceinline__ uint32_t number(int2 at) const
    {
        const int32_t in_y = at.y - y, in_x = at.x - x;
        const bool inside = in_y >= 0 && in_y < h && in_x >= 0 && in_x < w;
        return inside ? (uint32_t)(in_y * SIDE + in_x) : NOTHING;
    }
    __device__ __forceinline__ bool has_edge(uint32_t p) const
    {
        return m.order[p] >> ORDER_LEFT_AT > 0;
    }
    __device__ __forceinline__ int side(uint32_t p) const
    {
        return (int)(m.order[p] & ((1u << ORDER_BITS) - 1));
    }
    /* The pixel at the other end of the first edge of p. */
    __device__ __forceinline__ uint32_t other(uint32_t p) const
    {
        return number(qfz_filter_other(at(p), side(p)));
    }
    __device__ __forceinline__ uint64_t position(uint32_t p) const
    {
        return edges.position(at(p), side(p));
    }
    __device__ __forceinline__ bool is_light(uint32_t i) const
    {
        return (light >> i & 1) != 0;
    }
};
} // namespace

/* A number for an edge: of two edges, the later one does not have the smaller number. */
template <typename T>
static __device__ __forceinline__ uint32_t key_of(uint32_t level, uint64_t position)
{
    const int bits = 8 * (int)sizeof(T);
    return bits == 32 ? level : level << (32 - bits) | (uint32_t)(position >> (32 + bits));
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Marks the first edge of pixel p, unless it leaves the block; true if it was marked before. */
template <typename WORK> static __device__ __forceinline__ bool mark(const WORK &w, uint32_t p)
{
    const int2 at = w.at(p);
    const int side = w.side(p), d = side / 2;
    const uint32_t start = w.number(qfz_filter_start(at, side));
    if (w.other(p) == NOTHING) return false;
    const uint32_t marked = (uint32_t)QFZ_FILTER_MARKED << d;
    const uint32_t bits = marked | (w.edges.level(at, side) > 0 ? 1u << d : 0);
    const uint32_t before = atomicOr(&w.m.zeroed[start / 4], bits << 8 * (start % 4));
    return (before >> 8 * (start % 4) & marked) != 0;
}

/* Lists the pixel in the pairs of the round if it was the second one to mark its edge.  All lanes
 * call the function. */
template <typename WORK>
static __device__ __forceinline__ void list_pair(const WORK &w, int round, bool is_second,
                                                 uint32_t p)
{
    const uint32_t at = qfz_take_one(&w.m.n_pairs[round % 2], is_second);
    if (is_second) w.m.pair[at] = (uint16_t)p;
}

/* ---- Seed ------------------------------------------------------------------------------------ */

/* Sorts the edges of a pixel: returns its word of m.order. */
template <int N, typename EDGES>
static __device__ __forceinline__ uint32_t sort_sides(const EDGES &edges, int2 at)
{
    unsigned long long high[N]; /* level << 32 | higher half of the position */
    uint32_t side[N], n = 0, order = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t level;
        const bool exists = edges.read(at, i, &level);
        side[i] = (uint32_t)i;
        high[i] =
            exists ? qfz_filter_place_of(level, edges.position(at, i)).high : QFZ_FILTER_NO_EDGE;
        n += exists;
    }
#pragma unroll
    for (int i = 1; i < N; i++)
#pragma unroll
        for (int j = i; j > 0; j--) {
            bool swap = high[j] < high[j - 1];
            if (high[j] == high[j - 1] && high[j] != QFZ_FILTER_NO_EDGE)
                swap = edges.position(at, (int)side[j]) < edges.position(at, (int)side[j - 1]);
            const unsigned long long h = swap ? high[j] : high[j - 1];
            high[j] = swap ? high[j - 1] : high[j];
            high[j - 1] = h;
            const uint32_t s = swap ? side[j] : side[j - 1];
            side[j] = swap ? side[j - 1] : side[j];
            side[j - 1] = s;
        }
#pragma unroll
    for (int i = 0; i < N; i++)
        order |= side[i] << ORDER_BITS * i;
    return order | n << ORDER_LEFT_AT;
}

/* Makes pixel p a component; true if it is light. */
template <int N, typename WORK>
static __device__ __forceinline__ bool seed(const WORK &w, const uint8_t *valid, uint32_t p)
{
    const int2 at = w.at(p);
    const uint64_t least = w.edges.f.least;
    uint64_t mass = least;
    w.m.order[p] = 0;
    if (w.number(at) != NOTHING) {
        mass = qfz_filter_mass_of_px(w.edges.f, valid, at.y, at.x);
        if (mass < least) w.m.order[p] = sort_sides<N>(w.edges, at);
    }
    w.m.mass[p] = mass == QFZ_GPU_FILTER_OPEN ? OPEN : (uint32_t)mass;
    w.m.root[p] = w.m.to[p] = w.m.top[p] = (uint16_t)p;
    w.m.search[p] = (uint16_t)NOTHING;
    return mass < least;
}

template <typename T>
static __device__ __forceinline__ void set_key(const block_work<T> &w, uint32_t p)
{
    const int2 at = w.at(p);
    const int side = w.side(p);
    w.m.key[p] = key_of<T>(w.edges.level(at, side), w.edges.position(at, side));
}

template <int N, typename WORK>
static __device__ __forceinline__ void seed_all(WORK &w, const uint8_t *valid)
{
    w.light = 0;
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        const bool is_light = seed<N>(w, valid, p), has_edge = is_light && w.has_edge(p);
        w.light |= (uint32_t)is_light << i;
        if (has_edge) set_key(w, p);
        list_pair(w, 0, has_edge && mark(w, p), p);
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Pair i joins; a component is in one pair at most.  If the result is light, its search has number
 * i. */
template <typename WORK> static __device__ __forceinline__ void join(const WORK &w, uint32_t i)
{
    const uint32_t p = w.m.pair[i], a = w.m.root[p], b = w.m.root[w.other(p)];
    const uint32_t of_a = w.m.mass[a], of_b = w.m.mass[b], least = (uint32_t)w.edges.f.least;
    const uint32_t mass = of_a >= least - of_b ? least : of_a + of_b;
    const uint32_t heavier = of_a < of_b ? b : a, lighter = of_a < of_b ? a : b;
    w.m.to[lighter] = (uint16_t)heavier;
    w.m.mass[heavier] = mass;
    if (mass >= least) return;
    w.m.search[heavier] = (uint16_t)i;
    w.m.least_key[i] = UINT32_MAX;
    w.m.position[i] = QFZ_FILTER_NO_EDGE;
}

template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    for (uint32_t i = 0; i < OWN; i++) {
        if (!w.is_light(i)) continue;
        const uint32_t p = threadIdx.x + i * THREADS, root = w.m.to[w.m.root[p]];
        w.m.root[p] = (uint16_t)root;
        if (w.m.mass[root] >= w.edges.f.least) w.light &= ~(1u << i);
    }
}

/* Drops the first edges of pixel p that are inside its component; true if there is an edge left. */
template <typename WORK>
static __device__ __forceinline__ bool drop_inner(const WORK &w, uint32_t p, uint32_t root)
{
    bool drops = false;
    while (w.has_edge(p)) {
        const uint32_t q = w.other(p);
        if (q == NOTHING || w.m.root[q] != root) break;
        const uint32_t order = w.m.order[p], left = order >> ORDER_LEFT_AT;
        const uint32_t rest = (order & ((1u << ORDER_LEFT_AT) - 1)) >> ORDER_BITS;
        w.m.order[p] = rest | (left - 1) << ORDER_LEFT_AT;
        drops = true;
    }
    if (!w.has_edge(p)) return false;
    if (drops) set_key(w, p);
    return true;
}

/* Returns the pixels of the thread that offered. */
template <typename WORK> static __device__ __forceinline__ uint32_t offer(const WORK &w)
{
    uint32_t offered = 0;
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        if (!w.is_light(i)) continue;
        const uint32_t root = w.m.root[p], search = w.m.search[root];
        if (search == NOTHING || !drop_inner(w, p, root)) continue;
        qfz_lower(&w.m.least_key[search], w.m.key[p]);
        offered |= 1u << i;
    }
    return offered;
}

/* Of these, those with the least keys. */
template <typename WORK>
static __device__ __forceinline__ uint32_t refine(const WORK &w, uint32_t offered)
{
    uint32_t refined = 0;
    for (uint32_t rest = offered; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__ffs((int)rest) - 1, p = threadIdx.x + i * THREADS;
        const uint32_t search = w.m.search[w.m.root[p]];
        if (w.m.key[p] != w.m.least_key[search]) continue;
        atomicMin(&w.m.position[search], (unsigned long long)w.position(p));
        refined |= 1u << i;
    }
    return refined;
}

/* Of these, those with the least positions. */
template <typename WORK>
static __device__ __forceinline__ uint32_t choose(const WORK &w, uint32_t refined)
{
    uint32_t chosen = 0;
    for (uint32_t rest = refined; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__ffs((int)rest) - 1, p = threadIdx.x + i * THREADS;
        if (w.m.position[w.m.search[w.m.root[p]]] == w.position(p)) chosen |= 1u << i;
    }
    return chosen;
}

template <typename WORK>
static __device__ __forceinline__ void mark_chosen(const WORK &w, int round, uint32_t chosen)
{
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        bool is_second = false;
        if (chosen >> i & 1) {
            const uint32_t root = w.m.root[p];
            w.m.search[root] = (uint16_t)NOTHING;
            w.m.top[root] = (uint16_t)p;
            is_second = mark(w, p);
        }
        list_pair(w, round, is_second, p);
    }
}

template <typename WORK> static __device__ __forceinline__ void run_rounds(WORK &w)
{
    for (int round = 0;; round++) {
        const uint32_t n = w.m.n_pairs[round % 2];
        if (n == 0) return;
        if (threadIdx.x == 0) w.m.n_pairs[(round + 1) % 2] = 0;
        for (uint32_t i = threadIdx.x; i < n; i += THREADS)
            join(w, i);
        __syncthreads();
        settle(w);
        __syncthreads();
        const uint32_t offered = offer(w);
        __syncthreads();
        const uint32_t refined = refine(w, offered);
        __syncthreads();
        const uint32_t chosen = choose(w, refined);
        __syncthreads();
        mark_chosen(w, round + 1, chosen);
        __syncthreads();
    }
}

/* ---- Store ----------------------------------------------------------------------------------- */

template <typename WORK> static __device__ __forceinline__ uint32_t px_of(const WORK &w, uint32_t p)
{
    const int2 at = w.at(p);
    return (uint32_t)at.y * (uint32_t)w.edges.f.w + (uint32_t)at.x;
}

/* The pixel with the first edge of a light component; NOTHING if no edge leaves it. */
template <typename WORK>
static __device__ __forceinline__ uint32_t top_of(const WORK &w, uint32_t root)
{
    const uint32_t top = w.m.top[root];
    return w.m.search[root] == NOTHING && w.has_edge(top) ? top : NOTHING;
}

/* Lists the pixels of light components that have edges, each after the one before it: the list of
 * a root is in m.key. */
template <typename WORK> static __device__ __forceinline__ void store_lists(const WORK &w)
{
    for (uint32_t p = threadIdx.x; p < PX; p += THREADS)
        w.m.key[p] = NOTHING;
    __syncthreads();
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        if (!w.is_light(i) || !w.has_edge(p)) continue;
        const uint32_t root = w.m.root[p];
        if (p == top_of(w, root)) continue;
        const uint32_t next = atomicExch(&w.m.key[root], p);
        w.edges.f.d_right[px_of(w, p)] = next == NOTHING ? QFZ_FILTER_NIL : px_of(w, next);
    }
    __syncthreads();
}

/* Stores pixel i of the thread, but its place in a list; true if it is the root of a light
 * component whose first edge leaves the block. */
template <typename WORK> static __device__ __forceinline__ bool store_px(const WORK &w, uint32_t i)
{
    const qfz_gpu_filter &f = w.edges.f;
    const uint32_t p = threadIdx.x + i * THREADS, px = px_of(w, p);
    const bool is_light = w.is_light(i);
    const uint32_t root = w.m.root[p];
    uint32_t side = QFZ_FILTER_NO_SIDE;
    const uint32_t top = is_light ? top_of(w, root) : NOTHING;
    if (is_light && w.has_edge(p)) side = (uint32_t)w.side(p);
    if (p == top) {
        const uint32_t list = w.m.key[root];
        side |= QFZ_FILTER_LIST;
        f.d_left[px] = QFZ_FILTER_NIL;
        f.d_right[px] = list == NOTHING ? QFZ_FILTER_NIL : px_of(w, list);
    }
    f.d_side[px] = (uint8_t)side;
    reinterpret_cast<uint8_t *>(f.d_zeroed)[px] = (uint8_t)(w.m.zeroed[p / 4] >> (8 * (p % 4)));
    if (root != p) {
        f.d_up[px] = px_of(w, root);
        return false;
    }
    f.d_up[px] = QFZ_FILTER_ROOT | (top == NOTHING ? QFZ_FILTER_NIL : px_of(w, top));
    f.d_mass[px] = w.m.mass[p] == OPEN ? QFZ_GPU_FILTER_OPEN : w.m.mass[p];
    return top != NOTHING && w.other(top) == NOTHING;
}

template <typename WORK> static __device__ __forceinline__ void store_all(const WORK &w)
{
    block_memory &m = w.m;
    const qfz_gpu_filter &f = w.edges.f;
    store_lists(w);
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        const bool leaves = w.number(w.at(p)) != NOTHING && store_px(w, i);
        const uint32_t at = qfz_take_one(&m.n_leaving, leaves);
        if (leaves) m.pair[at] = (uint16_t)p;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        m.first_leaving = atomicAdd(&f.d_count[QFZ_FILTER_N_LEAVING], m.n_leaving);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < m.n_leaving; i += THREADS)
        f.d_leaving[m.first_leaving + i] = px_of(w, m.pair[i]);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T, int N>
static __global__ void __launch_bounds__(THREADS, 2)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid)
{
    QFZ_SHARED(block_memory, m);
    const uint32_t n_x = ((uint32_t)f.w + SIDE - 1) / SIDE;
    const int32_t y = (int32_t)(blockIdx.x / n_x) * SIDE, x = (int32_t)(blockIdx.x % n_x) * SIDE;
    block_work<T> w = {
        *m, {f, reader, N}, y, x, min((int32_t)SIDE, f.h - y), min((int32_t)SIDE, f.w - x), 0};
    for (uint32_t i = threadIdx.x; i < PX / 4; i += THREADS)
        m->zeroed[i] = 0;
    if (threadIdx.x == 0) m->n_pairs[0] = m->n_leaving = 0;
    __syncthreads();
    seed_all<N>(w, valid);
    __syncthreads();
    run_rounds(w);
    store_all(w);
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return filter->least < OPEN && sizeof(block_memory) <= gpu->shared_max;
}

template <typename T>
static qfz_status launch_blocks(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const qfz_gpu_edges *edges)
{
    const dim3 n_blocks(qfz_launch_blocks(f->w, SIDE) * qfz_launch_blocks(f->h, SIDE));
    return qfz_launch(gpu, edges->connectivity == 4 ? k_block<T, 4> : k_block<T, 8>, n_blocks,
                      dim3(THREADS), sizeof(block_memory), *f, reader, edges->d_valid);
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(
        edges, [=](const auto &reader) { return launch_blocks(gpu, filter, reader, edges); });
}
