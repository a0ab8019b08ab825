/* SPDX-License-Identifier: MIT */
/* rows_query.cu - the edges that the blocks of rows.cuh left open, and those between blocks.
 *
 * A block has some hundred vertices and ten times as many open edges, half of which meet in the
 * graph's first round, most of the others in the next few.  So what each vertex becomes in these
 * rounds is looked up once, and as well what those on the other side of the edges that leave the
 * block become; the few edges that are open then are climbed. */
#include "gpu/boruvka_climb.cuh"
#include "gpu/rows.cuh"

enum {
    THREADS = 256,
    STATES = 8,
    LEAVING = 2 * QFZ_SIDE,           /* edges to the right and down that may leave the block */
    COLUMNS = QFZ_VERTICES + LEAVING, /* vertices; the other ends of these */
    AT_ONCE = 4
};

/* Of a column, after rounds 0 to d of the graph: the vertex it belongs to, and the greatest level
 * up to there. */
template <typename T> struct query_memory {
    uint32_t vertex[STATES][COLUMNS];
    T level[STATES][COLUMNS];
};

template <typename T> struct query_work {
    query_memory<T> &m;
    const qfz_gpu_forest &forest;
    T *saliency;
    qfz_block_box box;
    uint32_t n_px, at; /* of the tile; its number of the block's first pixel */
};

/* Where an edge's level is in the planes. */
template <typename T>
static __device__ __forceinline__ T *level_at(const query_work<T> &w, bool down, uint32_t y,
                                              uint32_t x)
{
    return w.saliency + (down ? w.n_px : 0) + w.at + y * (uint32_t)w.forest.w + x;
}

template <typename T>
static __device__ __forceinline__ void make_column(query_work<T> &w, uint32_t column,
                                                   uint32_t vertex)
{
    const uint2 *__restrict__ const up = w.forest.up;
    uint2 from = __ldg(&up[vertex]);
    uint32_t level = 0;
#pragma unroll
    for (int d = 0; d < STATES; d++) {
        if ((from.x & QFZ_UP_ROOT) == (uint32_t)d) {
            vertex = from.x >> QFZ_UP_BITS;
            level = max(level, from.y);
            from = __ldg(&up[vertex]);
        }
        w.m.vertex[d][column] = vertex;
        w.m.level[d][column] = (T)level;
    }
}

/* The minimax level of two columns, at least `level`. */
template <typename T>
static __device__ __forceinline__ uint32_t find_level(const query_work<T> &w, uint32_t u,
                                                      uint32_t v, uint32_t level)
{
    int d = 0;
    while (w.m.vertex[d][u] != w.m.vertex[d][v] && d < STATES - 1)
        d++;
    const uint32_t so_far = max(w.m.level[d][u], w.m.level[d][v]);
    return climb(w.forest.up, w.m.vertex[d][u], w.m.vertex[d][v], max(level, so_far));
}

/* ---- Edges that leave the block -------------------------------------------------------------- */

/* The i-th of them, or one that would leave the image. */
struct leaving_edge {
    uint32_t own, level; /* column, or QFZ_NONE if there is no edge; the least level */
};

static __device__ __forceinline__ int2 leaving_place(int i) /* x, y */
{
    return i < QFZ_SIDE ? make_int2(QFZ_SIDE - 1, i) : make_int2(i - QFZ_SIDE, QFZ_SIDE - 1);
}

/* Its other end becomes a column. */
template <typename T>
static __device__ __forceinline__ leaving_edge begin_leaving(query_work<T> &w, int i,
                                                             uint32_t first)
{
    const qfz_gpu_forest &f = w.forest;
    const int2 p = leaving_place(i);
    const int32_t ty = w.box.y + p.y + (i >= QFZ_SIDE), tx = w.box.x + p.x + (i < QFZ_SIDE);
    if (p.y >= w.box.h || p.x >= w.box.w || ty >= f.h || tx >= f.w) return {QFZ_NONE, 0};
    const uint2 own =
        f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, p.y, p.x)];
    const uint2 other = f.rim[qfz_rim_place(f, ty, tx)];
    if (own.x == QFZ_NONE || other.x == QFZ_NONE) return {QFZ_NONE, 0};
    make_column(w, (uint32_t)(QFZ_VERTICES + i), other.x);
    return {own.x - first, max(own.y, other.y)};
}

template <typename T>
static __device__ __forceinline__ void end_leaving(const query_work<T> &w, int i, leaving_edge e)
{
    const int2 p = leaving_place(i);
    if (p.y >= w.box.h || p.x >= w.box.w) return;
    const uint32_t other = (uint32_t)(QFZ_VERTICES + i);
    *level_at(w, i >= QFZ_SIDE, (uint32_t)p.y, (uint32_t)p.x) =
        (T)(e.own == QFZ_NONE ? QFZ_NONE : find_level(w, e.own, other, e.level));
}

/* ---- Open edges ------------------------------------------------------------------------------ */

template <typename T>
static __device__ __forceinline__ void answer(const query_work<T> &w, uint32_t u, uint32_t v,
                                              T *level)
{
    *level = (T)find_level(w, u, v, *level);
}

template <typename T>
static __device__ __forceinline__ void answer_list(const query_work<T> &w,
                                                   const uint32_t *__restrict__ items, uint32_t n)
{
    for (uint32_t base = threadIdx.x; base < n; base += AT_ONCE * THREADS) {
        uint32_t item[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            item[k] = __ldg(&items[min(base + (uint32_t)k * THREADS, n - 1)]);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (base + (uint32_t)k * THREADS >= n) break;
            answer(w, item[k] & QFZ_OPEN_VERTEX, item[k] >> 16 & QFZ_OPEN_VERTEX,
                   level_at(w, item[k] >> 31, item[k] >> QFZ_OPEN_Y & (QFZ_SIDE - 1),
                            item[k] >> QFZ_OPEN_X & (QFZ_SIDE - 1)));
        }
    }
}

/* All edges whose pixels are in different vertices, where the list had no room. */
template <typename T>
static __device__ __forceinline__ void answer_pixels(const query_work<T> &w,
                                                     const uint16_t *__restrict__ vertex)
{
    for (uint32_t edge = threadIdx.x; edge < 2 * QFZ_BLOCK_PX; edge += THREADS) {
        const uint32_t p = edge % QFZ_BLOCK_PX, y = p / QFZ_SIDE, x = p % QFZ_SIDE;
        const bool down = edge >= QFZ_BLOCK_PX;
        if ((down ? y : x) == QFZ_SIDE - 1) continue;
        const uint32_t u = vertex[p], v = vertex[p + (down ? (uint32_t)QFZ_SIDE : 1u)];
        if (u != v && max(u, v) < QFZ_STEP_MASK) answer(w, u, v, level_at(w, down, y, x));
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_query(qfz_gpu_forest forest, const uint32_t *open, T *saliency)
{
    QFZ_SHARED(query_memory<T>, m);
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_open = block.y >> 16, n_vertices = block.y & 0xffff;
    const uint32_t *const items = open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM;
    query_work<T> w = {*m,
                       forest,
                       saliency,
                       box,
                       (uint32_t)forest.h * (uint32_t)forest.w,
                       (uint32_t)box.y * (uint32_t)forest.w + (uint32_t)box.x};
    const int i = (int)threadIdx.x - (THREADS - LEAVING); /* the thread's leaving edge, if >= 0 */
    leaving_edge leaving = {};
    if (i >= 0) leaving = begin_leaving(w, i, block.x);
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(w, v, block.x + v);
    __syncthreads();
    if (i >= 0) end_leaving(w, i, leaving);
    if (n_open <= QFZ_OPEN_ROOM)
        answer_list(w, items, n_open);
    else
        answer_pixels(w, reinterpret_cast<const uint16_t *>(items));
}

template <typename T> static qfz_status query(qfz_gpu *gpu, const qfz_rows *rows, void *d_saliency)
{
    return qfz_launch(gpu, k_query<T>, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(query_memory<T>), rows->forest, rows->open,
                      static_cast<T *>(d_saliency));
}

qfz_status qfz_rows_query(qfz_gpu *gpu, const qfz_rows *rows, bool narrow, void *d_saliency)
{
    return narrow ? query<uint16_t>(gpu, rows, d_saliency) : query<uint32_t>(gpu, rows, d_saliency);
}
