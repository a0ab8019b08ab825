/* SPDX-License-Identifier: MIT */
/* rows_eight_query.cu - as rows_query.cu, but of eight neighbours.
 *
 * The list has squares of 2 x 2 pixels.  Most that have open edges have pixels of two vertices, and
 * all their open edges have one minimax level between these, which is looked up once.  Squares of
 * more vertices, and vertices that do not meet in the first rounds, are left over until the others
 * are done. */
#include <type_traits>

#include "gpu/rows_columns.cuh"
#include "gpu/rows_leaving.cuh"
#include "gpu/rows_planes.cuh"
#include "gpu/warp.cuh"

enum {
    THREADS = 256,
    LEAVING = qfz_leaving_count(true),
    LEAVING_EACH = (LEAVING + THREADS - 1) / THREADS,
    BESIDE = QFZ_SIDE + 2,            /* pixels of the column to the right of the block */
    OUTSIDE = BESIDE + BESIDE - 1,    /* and those of the row below */
    COLUMNS = QFZ_VERTICES + OUTSIDE, /* vertices; these pixels */
    AT_ONCE = 4,
    LEFT_OVER = 512 /* squares; if there are more, those are done at once */
};
static_assert((int)QFZ_VERTICES < (int)QFZ_OPEN_INVALID, "a vertex, or none");

/* Edges of a square a b / c d in masks, and in arrays: a - b, a - c, a - d, b - c; that is their
 * order in the planes, too. */
static const uint32_t AB = 1u << QFZ_RIGHT, AC = 1u << QFZ_BELOW, AD = 1u << QFZ_BELOW_RIGHT,
                      BC = 1u << QFZ_BELOW_LEFT;

template <typename T> struct query_memory {
    /* On a multiprocessor; of 16 bits there is memory for no more. */
    enum { BLOCKS = sizeof(T) == sizeof(uint16_t) ? 4 : QFZ_SM_THREADS / THREADS };
    query_columns<T, COLUMNS> columns;
    T cost[OUTSIDE]; /* the greatest level from these pixels to their vertices */
    uint2 left_over[LEFT_OVER];
    uint32_t n_left_over;
    query_planes<T, QFZ_MAX_DIRS> planes;
};

template <typename T> struct query_work {
    query_memory<T> &m;
    const qfz_gpu_forest &forest;
    qfz_block_box box;
    planes_place<T> place;
};

/* ---- Squares --------------------------------------------------------------------------------- */

struct square {
    uint32_t a, b, c, d; /* vertices */
    uint32_t y, x;       /* the pixel a */
};

static __device__ __forceinline__ square square_of(uint2 words)
{
    const uint32_t mask = QFZ_OPEN_VERTEX, inside = QFZ_SIDE - 1;
    const uint32_t y = words.x >> QFZ_OPEN_Y & inside, x = words.x >> QFZ_OPEN_X & inside;
    return {words.x & mask, words.x >> 16 & mask, words.y & mask, words.y >> 16 & mask, y, x};
}

/* The open edges of any square. */
static __device__ __forceinline__ uint32_t open_edges(const square &s, uint2 words)
{
    const uint32_t inside = QFZ_SIDE - 1;
    const bool right = (words.x >> QFZ_OPEN_X & inside) < inside;
    const bool down = (words.x >> QFZ_OPEN_Y & inside) < inside;
    auto differ = [](uint32_t u, uint32_t v) { return u != v && max(u, v) < QFZ_OPEN_INVALID; };
    return (right && differ(s.a, s.b) ? AB : 0u) | (down && differ(s.a, s.c) ? AC : 0u) |
           (right && down && differ(s.a, s.d) ? AD : 0u) |
           (right && down && differ(s.b, s.c) ? BC : 0u);
}

static __device__ __forceinline__ uint2 with_rest(uint2 words, uint32_t rest)
{
    const uint32_t mask = (AB | AC | AD | BC) << QFZ_OPEN_EDGES;
    return make_uint2(words.x, (words.y & ~mask) | rest << QFZ_OPEN_EDGES);
}

static __device__ __forceinline__ uint32_t rest_of(uint2 words)
{
    return words.y >> QFZ_OPEN_EDGES & (AB | AC | AD | BC);
}

/* Two vertices of an edge among `rest`, and which of those edges lie between them. */
struct square_pair {
    uint32_t u, v, edges;
};

static __device__ __forceinline__ square_pair first_pair(const square &s, uint32_t rest)
{
    const uint32_t u = rest & ~BC ? s.a : s.b;
    const uint32_t v = rest & AB ? s.b : (rest & (AC | AD)) == AD ? s.d : s.c;
    const bool anti = (s.b == u && s.c == v) || (s.b == v && s.c == u);
    const uint32_t between = (s.b == v ? AB : 0u) | (s.c == v ? AC : 0u) | (s.d == v ? AD : 0u);
    return {u, v, rest & ((u == s.a ? between : 0u) | (anti ? BC : 0u))};
}

/* Levels of some edges become `least` at least; that of b - c is b's. */
template <typename T>
static __device__ __forceinline__ void raise(const query_work<T> &w, const square &s,
                                             uint32_t edges, uint32_t least)
{
#pragma unroll
    for (uint32_t k = 0; k < QFZ_MAX_DIRS; k++) {
        const uint32_t x = s.x + (k == QFZ_BELOW_LEFT ? 1 : 0);
        if (edges >> k & 1) raise_level(level_at(w.m.planes, w.place, (int)k, s.y, x), least);
    }
}

/* Answers a square's open edges, pair by pair. */
template <typename T>
static __device__ __forceinline__ void answer_all(const query_work<T> &w, const square &s,
                                                  uint32_t rest)
{
    while (rest) {
        const square_pair pair = first_pair(s, rest);
        bool open;
        uint32_t level = meet(w.m.columns, pair.u, pair.v, &open);
        if (open) level = climb_on(w.m.columns, w.forest.up, pair.u, pair.v, level);
        raise(w, s, pair.edges, level);
        rest &= ~pair.edges;
    }
}

/* Those between the first pair if it meets; what remains is left over. */
template <typename T>
static __device__ __forceinline__ void answer_first(const query_work<T> &w, uint2 words)
{
    const square s = square_of(words);
    uint32_t rest = rest_of(words);
    const square_pair pair = first_pair(s, rest);
    bool open;
    const uint32_t level = meet(w.m.columns, pair.u, pair.v, &open);
    if (!open) {
        raise(w, s, pair.edges, level);
        rest &= ~pair.edges;
    }
    if (rest == 0) return;
    const uint32_t at = qfz_add(&w.m.n_left_over, 1);
    if (at < LEFT_OVER)
        w.m.left_over[at] = with_rest(words, rest);
    else
        answer_all(w, s, rest);
}

template <typename T>
static __device__ __forceinline__ void answer_left_over(const query_work<T> &w)
{
    const uint32_t n = min(w.m.n_left_over, (uint32_t)LEFT_OVER);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        const uint2 words = w.m.left_over[i];
        answer_all(w, square_of(words), rest_of(words));
    }
}

/* The list's; some are on their way from memory together, the last one again where there are no
 * more. */
template <typename T>
static __device__ __forceinline__ void answer_list(const query_work<T> &w,
                                                   const uint2 *__restrict__ items, uint32_t n)
{
    for (uint32_t base = threadIdx.x; base < n; base += AT_ONCE * THREADS) {
        uint2 words[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            words[k] = __ldg(&items[min(base + k * THREADS, n - 1)]);
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            if (base + k * THREADS < n) answer_first(w, words[k]);
    }
}

/* All squares, where the list had no room. */
template <typename T>
static __device__ __forceinline__ void answer_pixels(const query_work<T> &w,
                                                     const uint16_t *__restrict__ vertex)
{
    for (int p = (int)threadIdx.x; p < QFZ_BLOCK_PX; p += THREADS) {
        const int y = p / QFZ_SIDE, x = p % QFZ_SIDE;
        const int right = x < QFZ_SIDE - 1 ? 1 : 0, down = y < QFZ_SIDE - 1 ? (int)QFZ_SIDE : 0;
        auto listed = [&](int q) { return min((uint32_t)vertex[q], (uint32_t)QFZ_OPEN_INVALID); };
        const uint2 words = make_uint2(listed(p) | listed(p + right) << 16 |
                                           (uint32_t)x << QFZ_OPEN_X | (uint32_t)y << QFZ_OPEN_Y,
                                       listed(p + down) | listed(p + right + down) << 16);
        const square s = square_of(words);
        answer_all(w, s, open_edges(s, words));
    }
}

/* ---- Edges that leave the block -------------------------------------------------------------- */

/* A vertex's column | level << 16. */
template <typename T>
using start_of = typename std::conditional<sizeof(T) < 4, uint32_t, unsigned long long>::type;
template <typename T> static const start_of<T> NO_START = ~(start_of<T>)0;

/* The number of a pixel outside. */
static __device__ __forceinline__ int outside_of(int y, int x)
{
    return x == QFZ_SIDE ? y + 1 : BESIDE + x + 1;
}

/* The i-th pixel outside becomes a column, of QFZ_NONE if it is not there or has no vertex. */
template <typename T> static __device__ __forceinline__ void begin_outside(query_work<T> &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const int32_t y = w.box.y + (i < BESIDE ? i - 1 : (int)QFZ_SIDE);
    const int32_t x = w.box.x + (i < BESIDE ? (int)QFZ_SIDE : i - BESIDE - 1);
    uint2 pixel = make_uint2(QFZ_NONE, 0);
    if (y >= 0 && y < f.h && x >= 0 && x < f.w) pixel = f.rim[qfz_rim_place(f, y, x)];
    w.m.cost[i] = (T)pixel.y;
    if (pixel.x == QFZ_NONE)
        w.m.columns.vertex[0][QFZ_VERTICES + i] = QFZ_NONE;
    else
        make_column(w.m.columns, f.up, (uint32_t)(QFZ_VERTICES + i), pixel.x);
}

/* What the i-th edge that leaves the block starts from: a column | level << 16, or NO_START. */
template <typename T>
static __device__ __forceinline__ start_of<T> begin_leaving(const query_work<T> &w, int i,
                                                            uint32_t first)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (i >= LEAVING || !e.is || e.y >= w.box.h || e.x >= w.box.w) return NO_START<T>;
    const uint2 own =
        f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, e.y, e.x)];
    return own.x == QFZ_NONE ? NO_START<T> : (own.x - first) | (start_of<T>)own.y << 16;
}

/* The level of an edge that does not exist is QFZ_NONE; one that starts outside the tile has no
 * place for it. */
template <typename T>
static __device__ __forceinline__ void end_leaving(const query_work<T> &w, int i, start_of<T> own)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (i >= LEAVING || !e.is || e.y >= w.box.h || e.x >= w.box.w) return;
    const int outside = outside_of(e.to_y, e.to_x), direction = qfz_leaving_direction(i);
    const uint32_t u = (uint32_t)own & 0xffff, v = (uint32_t)(QFZ_VERTICES + outside);
    const bool starts_outside = direction == QFZ_BELOW_LEFT && e.to_y < e.y;
    uint32_t level = QFZ_NONE;
    if (own != NO_START<T> && w.m.columns.vertex[0][v] != QFZ_NONE) {
        bool open;
        level = meet(w.m.columns, u, v, &open);
        level = max(level, max((uint32_t)(own >> 16), (uint32_t)w.m.cost[outside]));
        if (open) level = climb_on(w.m.columns, f.up, u, v, level);
    }
    if (!starts_outside)
        *level_at(w.m.planes, w.place, direction, (uint32_t)e.y, (uint32_t)e.x) = (T)level;
    else if (w.box.y + e.to_y >= 0 && w.box.x + e.to_x < f.w)
        *stored_level(w.place, direction, e.to_y, e.to_x) = (T)level;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T>
static __global__ void __launch_bounds__(THREADS, query_memory<T>::BLOCKS)
    k_query(qfz_gpu_forest forest, const uint2 *open, T *saliency)
{
    QFZ_SHARED(query_memory<T>, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_open = block.y >> 16, n_vertices = block.y & 0xffff;
    const uint2 *const items = open + (int64_t)blockIdx.x * QFZ_OPEN_SQUARES;
    query_work<T> w = {*m, forest, box, planes_at(forest, box, saliency)};
    start_of<T> leaving[LEAVING_EACH];
    if (thread == 0) m->n_left_over = 0;
    load_planes<THREADS>(w.place, m->planes);
    for (int i = THREADS - 1 - thread; i < OUTSIDE; i += THREADS)
        begin_outside(w, i);
#pragma unroll
    for (int k = 0; k < LEAVING_EACH; k++)
        leaving[k] = begin_leaving(w, thread + k * THREADS, block.x);
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(m->columns, forest.up, v, block.x + v);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < LEAVING_EACH; k++)
        end_leaving(w, thread + k * THREADS, leaving[k]);
    if (n_open <= QFZ_OPEN_SQUARES)
        answer_list(w, items, n_open);
    else
        answer_pixels(w, reinterpret_cast<const uint16_t *>(items));
    __syncthreads();
    answer_left_over(w);
    __syncthreads();
    store_planes<THREADS>(w.place, m->planes);
}

template <typename T> static qfz_status query(qfz_gpu *gpu, const qfz_rows *rows, void *d_saliency)
{
    return qfz_launch(gpu, k_query<T>, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(query_memory<T>), rows->forest,
                      reinterpret_cast<const uint2 *>(rows->open), static_cast<T *>(d_saliency));
}

qfz_status qfz_rows_eight_query(qfz_gpu *gpu, const qfz_rows *rows, bool narrow, void *d_saliency)
{
    return narrow ? query<uint16_t>(gpu, rows, d_saliency) : query<uint32_t>(gpu, rows, d_saliency);
}
