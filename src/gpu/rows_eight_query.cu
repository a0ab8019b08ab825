/* SPDX-License-Identifier: MIT */
/* rows_eight_query.cu - as rows_query.cu, but of eight neighbours.
 *
 * The list has squares of 2 x 2 pixels.  Most that have open edges have pixels of two vertices, and
 * all their open edges have one minimax level between these, which is looked up once.  Squares of
 * more vertices, and vertices that do not meet in the first rounds, are left over until the others
 * are done. */
#include "gpu/rows_columns.cuh"
#include "gpu/rows_leaving.cuh"
#include "gpu/rows_planes.cuh"

enum {
    THREADS = 256,
    LEAVING = qfz_leaving_count(true),
    LEAVING_EACH = (LEAVING + THREADS - 1) / THREADS,
    BESIDE = QFZ_SIDE + 2,            /* pixels of the column to the right of the block */
    OUTSIDE = BESIDE + BESIDE - 1,    /* and those of the row below */
    COLUMNS = QFZ_VERTICES + OUTSIDE, /* vertices; these pixels */
    AT_ONCE = 4,
    BLOCKS = 4,     /* on a multiprocessor */
    LEFT_OVER = 512 /* squares; if there are more, those are done at once */
};
static_assert((int)QFZ_VERTICES < (int)QFZ_OPEN_INVALID, "a vertex, or none");

/* Edges of a square a b / c d in masks, and in arrays: a - b, a - c, a - d, b - c; that is their
 * order in the planes, too. */
static const uint32_t AB = 1u << QFZ_RIGHT, AC = 1u << QFZ_BELOW, AD = 1u << QFZ_BELOW_RIGHT,
                      BC = 1u << QFZ_BELOW_LEFT;

struct query_memory {
    query_columns<uint16_t, COLUMNS> columns;
    uint16_t cost[OUTSIDE]; /* the greatest level from these pixels to their vertices */
    uint2 left_over[LEFT_OVER];
    uint32_t n_left_over;
    rows_planes<QFZ_MAX_DIRS> planes;
};

struct query_work {
    query_memory &m;
    const qfz_gpu_forest &forest;
    qfz_block_box box;
    planes_place place;
};

/* ---- Squares --------------------------------------------------------------------------------- */

struct square {
    uint32_t a, b, c, d; /* vertices */
    uint32_t first;      /* the pixel a */
};

static __device__ __forceinline__ square square_of(uint2 words)
{
    const uint32_t mask = QFZ_OPEN_VERTEX, inside = QFZ_SIDE - 1;
    const uint32_t y = words.x >> QFZ_OPEN_Y & inside, x = words.x >> QFZ_OPEN_X & inside;
    return {words.x & mask, words.x >> 16 & mask, words.y & mask, words.y >> 16 & mask,
            y * QFZ_SIDE + x};
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
static __device__ __forceinline__ void raise(const query_work &w, const square &s, uint32_t edges,
                                             uint32_t least)
{
#pragma unroll
    for (uint32_t k = 0; k < QFZ_MAX_DIRS; k++) {
        uint16_t *const level = &w.m.planes.level[k][s.first + (k == QFZ_BELOW_LEFT ? 1 : 0)];
        if (edges >> k & 1) *level = (uint16_t)max((uint32_t)*level, least);
    }
}

/* Answers a square's open edges, pair by pair. */
static __device__ __forceinline__ void answer_all(const query_work &w, const square &s,
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
static __device__ __forceinline__ void answer_first(const query_work &w, uint2 words)
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

static __device__ __forceinline__ void answer_left_over(const query_work &w)
{
    const uint32_t n = min(w.m.n_left_over, (uint32_t)LEFT_OVER);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        const uint2 words = w.m.left_over[i];
        answer_all(w, square_of(words), rest_of(words));
    }
}

/* Squares of the list that are on their way from memory together. */
struct some_squares {
    uint2 words[AT_ONCE];
};

/* Those from base on, a thread's; the last one again where there are no more. */
static __device__ __forceinline__ void fetch(const uint2 *__restrict__ items, uint32_t base,
                                             uint32_t n, some_squares &some)
{
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++)
        some.words[k] = __ldg(&items[min(base + k * THREADS, n - 1)]);
}

/* `some` has been fetched from the thread's first place. */
static __device__ __forceinline__ void
answer_list(const query_work &w, const uint2 *__restrict__ items, uint32_t n, some_squares some)
{
    for (uint32_t base = threadIdx.x; base < n; base += AT_ONCE * THREADS) {
        const some_squares now = some;
        if (base + AT_ONCE * THREADS < n) fetch(items, base + AT_ONCE * THREADS, n, some);
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            if (base + k * THREADS < n) answer_first(w, now.words[k]);
    }
}

/* All squares, where the list had no room. */
static __device__ __forceinline__ void answer_pixels(const query_work &w,
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

/* The number of a pixel outside. */
static __device__ __forceinline__ int outside_of(int y, int x)
{
    return x == QFZ_SIDE ? y + 1 : BESIDE + x + 1;
}

/* The i-th pixel outside becomes a column, of QFZ_NONE if it is not there or has no vertex. */
static __device__ __forceinline__ void begin_outside(query_work &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const int32_t y = w.box.y + (i < BESIDE ? i - 1 : (int)QFZ_SIDE);
    const int32_t x = w.box.x + (i < BESIDE ? (int)QFZ_SIDE : i - BESIDE - 1);
    uint2 pixel = make_uint2(QFZ_NONE, 0);
    if (y >= 0 && y < f.h && x >= 0 && x < f.w) pixel = f.rim[qfz_rim_place(f, y, x)];
    w.m.cost[i] = (uint16_t)pixel.y;
    if (pixel.x == QFZ_NONE)
        w.m.columns.vertex[0][QFZ_VERTICES + i] = QFZ_NONE;
    else
        make_column(w.m.columns, f.up, (uint32_t)(QFZ_VERTICES + i), pixel.x);
}

/* What the i-th edge that leaves the block starts from: a vertex, or QFZ_NONE if there is no such
 * edge, and the level up to there. */
static __device__ __forceinline__ uint2 begin_leaving(const query_work &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (i >= LEAVING || !e.is || e.y >= w.box.h || e.x >= w.box.w) return make_uint2(QFZ_NONE, 0);
    return f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, e.y, e.x)];
}

/* Levels of edges that do not exist are in the planes already. */
static __device__ __forceinline__ void end_leaving(const query_work &w, int i, uint2 own,
                                                   uint32_t first)
{
    const qfz_leaving_edge e = qfz_leaving_at(i);
    const int outside = outside_of(e.to_y, e.to_x), direction = qfz_leaving_direction(i);
    const uint32_t u = own.x - first, v = (uint32_t)(QFZ_VERTICES + outside);
    if (own.x == QFZ_NONE || w.m.columns.vertex[0][v] == QFZ_NONE) return;
    const bool starts_outside = direction == QFZ_BELOW_LEFT && e.to_y < e.y;
    bool open;
    uint32_t level = meet(w.m.columns, u, v, &open);
    level = max(level, max(own.y, (uint32_t)w.m.cost[outside]));
    if (open) level = climb_on(w.m.columns, w.forest.up, u, v, level);
    if (starts_outside)
        w.place.first[direction * w.place.n_px + e.to_y * w.place.pitch + e.to_x] = (uint16_t)level;
    else
        w.m.planes.level[direction][e.y * QFZ_SIDE + e.x] = (uint16_t)level;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    k_query(qfz_gpu_forest forest, const uint2 *open, uint16_t *saliency)
{
    QFZ_SHARED(query_memory, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_open = block.y >> 16, n_vertices = block.y & 0xffff;
    const uint32_t n_listed = n_open <= QFZ_OPEN_SQUARES ? n_open : 0;
    const uint2 *const items = open + (int64_t)blockIdx.x * QFZ_OPEN_SQUARES;
    query_work w = {*m, forest, box, planes_at(forest, box, saliency)};
    planes_on_way<THREADS, QFZ_MAX_DIRS> planes;
    some_squares some;
    uint2 leaving[LEAVING_EACH];
    if (thread == 0) m->n_left_over = 0;
    fetch_planes(w.place, planes);
#pragma unroll
    for (int k = 0; k < LEAVING_EACH; k++)
        leaving[k] = begin_leaving(w, thread + k * THREADS);
    for (int i = THREADS - 1 - thread; i < OUTSIDE; i += THREADS)
        begin_outside(w, i);
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(m->columns, forest.up, v, block.x + v);
    if (threadIdx.x < n_listed) fetch(items, threadIdx.x, n_listed, some);
    keep_planes(w.place, planes, m->planes);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < LEAVING_EACH; k++)
        end_leaving(w, thread + k * THREADS, leaving[k], block.x);
    if (n_open <= QFZ_OPEN_SQUARES)
        answer_list(w, items, n_listed, some);
    else
        answer_pixels(w, reinterpret_cast<const uint16_t *>(items));
    __syncthreads();
    answer_left_over(w);
    __syncthreads();
    store_planes<THREADS>(w.place, m->planes);
}

qfz_status qfz_rows_eight_query(qfz_gpu *gpu, const qfz_rows *rows, uint16_t *d_saliency)
{
    return qfz_launch(gpu, k_query, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(query_memory), rows->forest,
                      reinterpret_cast<const uint2 *>(rows->open), d_saliency);
}
