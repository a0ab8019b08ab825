/* SPDX-License-Identifier: MIT */
/* rows_query.cu - the edges that the blocks of rows.cuh left open, and those between blocks.
 *
 * A block has some hundred vertices and ten times as many open edges, half of which meet in the
 * graph's first round, most of the others in the next few.  So what each vertex becomes in these
 * rounds is looked up once, and as well what those on the other side of the edges that leave the
 * block become.  The few edges that are open then are put together and climbed. */
#include "gpu/boruvka_climb.cuh"
#include "gpu/rows_leaving.cuh"

enum {
    THREADS = 256,
    STATES = 8,
    BESIDE = QFZ_SIDE + 2,            /* pixels of the column to the right of the block */
    OUTSIDE = BESIDE + BESIDE - 1,    /* and those of the row below */
    COLUMNS = QFZ_VERTICES + OUTSIDE, /* vertices; these pixels */
    AT_ONCE = 5,
    WAITING = 512 /* edges that wait to be climbed; if there are more, those are not put together */
};
static_assert(COLUMNS <= QFZ_OPEN_VERTEX + 1, "an edge names two columns");
static_assert(STATES == 8, "find_state() goes through them by halves");

/* Of a column, after rounds 0 to d of the graph: the vertex it belongs to, and the greatest level
 * up to there. */
struct query_memory {
    uint32_t vertex[STATES][COLUMNS];
    uint16_t level[STATES][COLUMNS];
    uint16_t cost[OUTSIDE];               /* the greatest level from these pixels to vertices */
    uint32_t waiting[WAITING], n_waiting; /* as in the list, but of columns */
    uint16_t waiting_level[WAITING];
};

template <bool EIGHT_> struct query_work {
    enum {
        EIGHT = EIGHT_,
        LEAVING = qfz_leaving_count(EIGHT),
        ROOM = EIGHT ? (int)QFZ_OPEN_ROOM_8 : (int)QFZ_OPEN_ROOM_4
    };
    query_memory &m;
    const qfz_gpu_forest &forest;
    qfz_block_box box;
    uint16_t *levels; /* of the block's edges to the right, in rows of forest.w */
    int64_t n_px;     /* from there to those of the next direction */
};

/* ---- Edges ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ int direction_of(uint32_t edge)
{
    return (int)(edge >> 31 | (edge & QFZ_OPEN_DIAGONAL ? 2u : 0u));
}

/* An edge as in the list; x and y of the block's pixel. */
static __device__ __forceinline__ uint32_t edge_of(uint32_t u, uint32_t v, int direction, int y,
                                                   int x)
{
    return u | v << 16 | (uint32_t)x << QFZ_OPEN_X | (uint32_t)y << QFZ_OPEN_Y |
           (direction & 1 ? QFZ_OPEN_DOWN : 0) | (direction & 2 ? QFZ_OPEN_DIAGONAL : 0);
}

static __device__ __forceinline__ uint32_t column_u(uint32_t edge)
{
    return edge & QFZ_OPEN_VERTEX;
}

static __device__ __forceinline__ uint32_t column_v(uint32_t edge)
{
    return edge >> 16 & QFZ_OPEN_VERTEX;
}

/* Where an edge's level is in the planes: an edge that leads to the column beside the block, but
 * down to the left, starts there, in the row above. */
template <typename WORK>
static __device__ __forceinline__ uint16_t *level_at(const WORK &w, uint32_t edge)
{
    const int direction = direction_of(edge);
    const int32_t y = (int32_t)(edge >> QFZ_OPEN_Y & (QFZ_SIDE - 1));
    const int32_t x = (int32_t)(edge >> QFZ_OPEN_X & (QFZ_SIDE - 1));
    int32_t place = y * w.forest.w + x;
    if (WORK::EIGHT && direction == QFZ_BELOW_LEFT && column_v(edge) - QFZ_VERTICES < BESIDE)
        place += 1 - w.forest.w;
    return w.levels + direction * w.n_px + place;
}

/* ---- States ---------------------------------------------------------------------------------- */

template <typename WORK>
static __device__ __forceinline__ void make_column(WORK &w, uint32_t column, uint32_t vertex)
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
        w.m.level[d][column] = (uint16_t)level;
    }
}

/* The first state in which two columns are one vertex; the last, if they are in none before. */
static __device__ __forceinline__ int find_state(const query_memory &m, uint32_t u, uint32_t v)
{
    int d = m.vertex[3][u] != m.vertex[3][v] ? 4 : 0;
    d += m.vertex[d + 1][u] != m.vertex[d + 1][v] ? 2 : 0;
    return d + (m.vertex[d][u] != m.vertex[d][v] ? 1 : 0);
}

/* Climbs from the last state; `level` tells of the ways up to there. */
template <typename WORK>
static __device__ __forceinline__ void climb_edge(const WORK &w, uint32_t edge, uint32_t level)
{
    const uint32_t *const last = w.m.vertex[STATES - 1];
    *level_at(w, edge) =
        (uint16_t)climb(w.forest.up, last[column_u(edge)], last[column_v(edge)], level);
}

/* The edge gets the minimax level of its columns, at least `level`, or waits. */
template <typename WORK>
static __device__ __forceinline__ void answer(const WORK &w, uint32_t edge, uint32_t level)
{
    query_memory &m = w.m;
    const uint32_t u = column_u(edge), v = column_v(edge);
    const int d = find_state(m, u, v);
    level = max(level, (uint32_t)max(m.level[d][u], m.level[d][v]));
    if (d < STATES - 1 || m.vertex[d][u] == m.vertex[d][v]) {
        *level_at(w, edge) = (uint16_t)level;
        return;
    }
    const uint32_t at = qfz_add(&m.n_waiting, 1);
    if (at >= WAITING) {
        climb_edge(w, edge, level);
        return;
    }
    m.waiting[at] = edge;
    m.waiting_level[at] = (uint16_t)level;
}

template <typename WORK> static __device__ __forceinline__ void answer_waiting(const WORK &w)
{
    const uint32_t n = min(w.m.n_waiting, (uint32_t)WAITING);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        climb_edge(w, w.m.waiting[i], w.m.waiting_level[i]);
}

/* ---- Edges that leave the block -------------------------------------------------------------- */

/* The column, after vertices, of a pixel outside. */
static __device__ __forceinline__ int outside_of(int y, int x)
{
    return x == QFZ_SIDE ? y + 1 : BESIDE + x + 1;
}

/* The i-th pixel outside becomes a column, of QFZ_NONE if it is not there or has no vertex. */
template <typename WORK> static __device__ __forceinline__ void begin_outside(WORK &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const int32_t y = w.box.y + (i < BESIDE ? i - 1 : QFZ_SIDE);
    const int32_t x = w.box.x + (i < BESIDE ? QFZ_SIDE : i - BESIDE - 1);
    const bool inside = y >= 0 && y < f.h && x >= 0 && x < f.w;
    const uint2 pixel = inside ? f.rim[qfz_rim_place(f, y, x)] : make_uint2(QFZ_NONE, 0);
    w.m.cost[i] = (uint16_t)pixel.y;
    if (pixel.x == QFZ_NONE)
        w.m.vertex[0][QFZ_VERTICES + i] = QFZ_NONE;
    else
        make_column(w, (uint32_t)(QFZ_VERTICES + i), pixel.x);
}

/* What the i-th edge that leaves the block starts from: a column | level << 16, or QFZ_NONE if
 * there is no such edge. */
template <typename WORK>
static __device__ __forceinline__ uint32_t begin_leaving(const WORK &w, int i, uint32_t first)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (!e.is || e.y >= w.box.h || e.x >= w.box.w) return QFZ_NONE;
    const uint2 own =
        f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, e.y, e.x)];
    return own.x == QFZ_NONE ? QFZ_NONE : (own.x - first) | own.y << 16;
}

/* Levels of edges that do not exist are in the planes already. */
template <typename WORK>
static __device__ __forceinline__ void end_leaving(const WORK &w, int i, uint32_t own)
{
    const qfz_leaving_edge e = qfz_leaving_at(i);
    const int outside = outside_of(e.to_y, e.to_x);
    const uint32_t other = (uint32_t)(QFZ_VERTICES + outside);
    if (own == QFZ_NONE || w.m.vertex[0][other] == QFZ_NONE) return;
    answer(w, edge_of(own & 0xffff, other, qfz_leaving_direction(i), e.y, e.x),
           max(own >> 16, (uint32_t)w.m.cost[outside]));
}

/* ---- Open edges ------------------------------------------------------------------------------ */

/* Edges of the list, and their levels, that are on their way from memory together. */
struct some_edges {
    uint32_t edge[AT_ONCE], level[AT_ONCE];
};

/* Those from base on, a thread's; the last one again where there are no more. */
template <typename WORK>
static __device__ __forceinline__ void fetch(const WORK &w, const uint32_t *__restrict__ items,
                                             uint32_t base, uint32_t n, some_edges &some)
{
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++)
        some.edge[k] = __ldg(&items[min(base + k * THREADS, n - 1)]);
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++)
        some.level[k] = __ldcg(level_at(w, some.edge[k]));
}

/* `some` has been fetched from the thread's first place. */
template <typename WORK>
static __device__ __forceinline__ void
answer_list(const WORK &w, const uint32_t *__restrict__ items, uint32_t n, some_edges &some)
{
    for (uint32_t base = threadIdx.x; base < n;) {
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            if (base + k * THREADS < n) answer(w, some.edge[k], some.level[k]);
        base += AT_ONCE * THREADS;
        if (base < n) fetch(w, items, base, n, some);
    }
}

/* All edges whose pixels are in different vertices, where the list had no room. */
template <typename WORK>
static __device__ __forceinline__ void answer_pixels(const WORK &w,
                                                     const uint16_t *__restrict__ vertex)
{
    const int n_dirs = WORK::EIGHT ? 4 : 2;
    for (int i = (int)threadIdx.x; i < n_dirs * QFZ_BLOCK_PX; i += THREADS) {
        const int direction = i / QFZ_BLOCK_PX, p = i % QFZ_BLOCK_PX;
        const int y = p / QFZ_SIDE, x = p % QFZ_SIDE, to_y = y + (direction != QFZ_RIGHT);
        const int to_x = direction == QFZ_BELOW_LEFT ? x - 1 : x + (direction != QFZ_BELOW);
        if (to_y == QFZ_SIDE || to_x < 0 || to_x == QFZ_SIDE) continue;
        const uint32_t u = vertex[p], v = vertex[to_y * QFZ_SIDE + to_x];
        const uint32_t edge = edge_of(u, v, direction, y, x);
        if (u != v && max(u, v) != QFZ_STEP_MASK) answer(w, edge, *level_at(w, edge));
    }
}

template <bool EIGHT>
static __global__ void __launch_bounds__(THREADS, 6)
    k_query(qfz_gpu_forest forest, const uint32_t *open, uint16_t *saliency)
{
    typedef query_work<EIGHT> work;
    enum { EACH = (work::LEAVING + THREADS - 1) / THREADS };
    QFZ_SHARED(query_memory, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_open = block.y >> 16, n_vertices = block.y & 0xffff;
    const uint32_t n_listed = n_open <= work::ROOM ? n_open : 0;
    const uint32_t *const items = open + (int64_t)blockIdx.x * work::ROOM;
    work w = {*m, forest, box, saliency + (int64_t)box.y * forest.w + box.x,
              (int64_t)forest.h * forest.w};
    some_edges some;
    uint32_t leaving[EACH];
    if (thread == 0) m->n_waiting = 0;
    if (threadIdx.x < n_listed) fetch(w, items, threadIdx.x, n_listed, some);
    for (int i = THREADS - 1 - thread; i < OUTSIDE; i += THREADS)
        begin_outside(w, i);
#pragma unroll
    for (int k = 0; k < (int)EACH; k++) {
        const int i = thread + k * THREADS;
        leaving[k] = i < work::LEAVING ? begin_leaving(w, i, block.x) : QFZ_NONE;
    }
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(w, v, block.x + v);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < (int)EACH; k++)
        end_leaving(w, thread + k * THREADS, leaving[k]);
    if (n_open <= work::ROOM)
        answer_list(w, items, n_listed, some);
    else
        answer_pixels(w, reinterpret_cast<const uint16_t *>(items));
    __syncthreads();
    answer_waiting(w);
}

template <bool EIGHT>
static qfz_status query(qfz_gpu *gpu, const qfz_rows *rows, uint16_t *d_saliency)
{
    return qfz_launch(gpu, k_query<EIGHT>, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(query_memory), rows->forest, rows->open, d_saliency);
}

qfz_status qfz_rows_query(qfz_gpu *gpu, const qfz_rows *rows, uint16_t *d_saliency)
{
    return rows->forest.connectivity == 8 ? query<true>(gpu, rows, d_saliency)
                                          : query<false>(gpu, rows, d_saliency);
}
