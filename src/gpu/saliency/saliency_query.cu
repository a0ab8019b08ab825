/* SPDX-License-Identifier: MIT */
/* saliency_query.cu - closes the edges that blocks with four neighbours left open, and those
 * between blocks.
 *
 * A block has some hundred vertices and ten times as many open edges. Half of these meet in the
 * first round of the graph of all blocks, and most others in the next few rounds. The query
 * therefore tabulates once (saliency_columns.cuh) what each vertex becomes in these rounds, and
 * each vertex at the other end of a leaving edge. The few edges that remain open are climbed. */
#include "gpu/saliency/saliency_columns.cuh"
#include "gpu/saliency/saliency_planes.cuh"
#include "gpu/device/warp.cuh"

enum {
    THREADS = 256,
    LEAVING = 2 * QFZ_SIDE,           /* edges to the right and down that may leave the block */
    COLUMNS = QFZ_VERTICES + LEAVING, /* vertices; other ends of leaving edges */
    TOGETHER = 3                      /* edges of a thread that are looked up together */
};
static_assert(COLUMNS <= QFZ_OPEN_VERTEX + 1, "an edge names two columns");

namespace
{
template <typename T> struct query_memory {
    query_planes<T, 2> planes;
    query_columns<T, COLUMNS> columns;
};

template <typename T> struct query_work {
    query_memory<T> &m;
    const qfz_gpu_forest &forest;
    qfz_block_box box;
    planes_place<T> place;
};

/* ---- Edges ----------------------------------------------------------------------------------- */

/* An edge in the form of the list of open edges. */
QFZ_DEVICE uint32_t edge_of(uint32_t u, uint32_t v, bool down, uint32_t y, uint32_t x)
{
    return u | v << 16 | x << QFZ_OPEN_X | y << QFZ_OPEN_Y | (down ? QFZ_OPEN_DOWN : 0);
}

template <typename T> QFZ_DEVICE T *level_at(const query_work<T> &w, uint32_t edge)
{
    return level_at(w.m.planes, w.place, edge & QFZ_OPEN_DOWN ? QFZ_BELOW : QFZ_RIGHT,
                    edge >> QFZ_OPEN_Y & (QFZ_SIDE - 1), edge >> QFZ_OPEN_X & (QFZ_SIDE - 1));
}

QFZ_DEVICE uint32_t column_u(uint32_t edge)
{
    return edge & QFZ_OPEN_VERTEX;
}

QFZ_DEVICE uint32_t column_v(uint32_t edge)
{
    return edge >> 16 & QFZ_OPEN_VERTEX;
}

/* ---- States ---------------------------------------------------------------------------------- */

/* Climbs from the last state of the tables on. */
template <typename T> QFZ_DEVICE void climb_edge(const query_work<T> &w, uint32_t edge)
{
    raise_level(level_at(w, edge),
                climb_on(w.m.columns, w.forest.up, column_u(edge), column_v(edge), 0));
}

/* Raises the levels of the first n of N edges to their columns' minimax levels; those that do not
 * meet there climb. All look-ups come before the first store, so that they overlap. */
template <int N, typename T>
QFZ_DEVICE void close_edges(const query_work<T> &w, const uint32_t edge[N], uint32_t n)
{
    uint32_t level[N];
    bool open[N];
    QFZ_EACH (k, N)
        level[k] = meet(w.m.columns, column_u(edge[k]), column_v(edge[k]), &open[k]);
    QFZ_EACH (k, N) {
        if ((uint32_t)k >= n) continue;
        raise_level(level_at(w, edge[k]), level[k]);
        if (open[k]) climb_edge(w, edge[k]);
    }
}

/* ---- Edges that leave the block -------------------------------------------------------------- */

QFZ_DEVICE int2 leaving_place(int i) /* x, y */
{
    return i < QFZ_SIDE ? make_int2(QFZ_SIDE - 1, i) : make_int2(i - QFZ_SIDE, QFZ_SIDE - 1);
}

struct leaving_edge {
    uint32_t own, level; /* own: the edge's first column; QFZ_NONE: no edge */
};

/* Makes a column of the other end of the i-th leaving edge. */
template <typename T> QFZ_DEVICE leaving_edge begin_leaving(query_work<T> &w, int i, uint32_t first)
{
    const qfz_gpu_forest &f = w.forest;
    const int2 p = leaving_place(max(i, 0));
    const int32_t ty = w.box.y + p.y + (i >= QFZ_SIDE), tx = w.box.x + p.x + (i < QFZ_SIDE);
    if (i < 0 || p.y >= w.box.h || p.x >= w.box.w || ty >= f.h || tx >= f.w) return {QFZ_NONE, 0};
    const int32_t at = qfz_ring_number(w.box.h, w.box.w, p.y, p.x);
    const uint2 own = f.rim[(int64_t)blockIdx.x * f.rim_room + at];
    const uint2 other = f.rim[qfz_rim_place(f, ty, tx)];
    if (own.x == QFZ_NONE || other.x == QFZ_NONE) return {QFZ_NONE, 0};
    make_column(w.m.columns, f.up, (uint32_t)(QFZ_VERTICES + i), other.x);
    return {own.x - first, max(own.y, other.y)};
}

template <typename T>
QFZ_DEVICE void end_leaving(const query_work<T> &w, int i, leaving_edge leaving)
{
    const int2 p = leaving_place(i);
    if (p.y >= w.box.h || p.x >= w.box.w) return;
    const uint32_t y = (uint32_t)p.y, x = (uint32_t)p.x, other = (uint32_t)(QFZ_VERTICES + i);
    const uint32_t edge = edge_of(leaving.own & QFZ_OPEN_VERTEX, other, i >= QFZ_SIDE, y, x);
    T *const level = level_at(w, edge);
    if (leaving.own == QFZ_NONE) {
        *level = (T)QFZ_NONE;
        return;
    }
    bool open;
    *level = (T)max(leaving.level, meet(w.m.columns, column_u(edge), column_v(edge), &open));
    if (open) climb_edge(w, edge);
}

/* ---- Open edges ------------------------------------------------------------------------------ */
} // namespace

template <typename T>
static QFZ_DEVICE void close_list(const query_work<T> &w, const uint32_t *__restrict__ items,
                                  uint32_t n)
{
    for (uint32_t first = threadIdx.x; first < n; first += TOGETHER * THREADS) {
        uint32_t edge[TOGETHER];
        QFZ_EACH (k, TOGETHER)
            edge[k] = __ldg(&items[min(first + k * THREADS, n - 1)]);
        close_edges<TOGETHER>(w, edge, (n - first + THREADS - 1) / THREADS);
    }
}

/* Closes all edges between different vertices, if the list had no room. */
template <typename T>
static QFZ_DEVICE void close_pixels(const query_work<T> &w, const uint16_t *__restrict__ vertex)
{
    for (uint32_t i = threadIdx.x; i < 2 * QFZ_FOREST_BLOCK_PX; i += THREADS) {
        const uint32_t p = i % QFZ_FOREST_BLOCK_PX, y = p / QFZ_SIDE, x = p % QFZ_SIDE;
        const bool down = i >= QFZ_FOREST_BLOCK_PX;
        if ((down ? y : x) == QFZ_SIDE - 1) continue;
        const uint32_t u = vertex[p], v = vertex[p + (down ? (uint32_t)QFZ_SIDE : 1u)];
        const uint32_t edge = edge_of(u, v, down, y, x);
        if (u != v && max(u, v) < QFZ_STEP_MASK) close_edges<1>(w, &edge, 1);
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS, QFZ_SM_THREADS / THREADS)
    k_query(qfz_saliency_blocks blocks, T *saliency)
{
    QFZ_SHARED(query_memory<T>, m);
    const qfz_gpu_forest &forest = blocks.forest;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    query_work<T> w = {*m, forest, box, planes_at(forest, box, saliency)};
    const int i = (int)threadIdx.x - (THREADS - LEAVING); /* the thread's leaving edge, if >= 0 */
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_open = block.y >> 16, n_vertices = block.y & 0xffff;
    const uint32_t *const items = blocks.open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM;
    fetch_planes<THREADS>(w.place, m->planes); /* started first: later loads queue behind these */
    const leaving_edge leaving = begin_leaving(w, i, block.x);
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(m->columns, forest.up, v, block.x + v);
    await_planes();
    __syncthreads();
    if (i >= 0) end_leaving(w, i, leaving);
    if (n_open <= QFZ_OPEN_ROOM)
        close_list(w, items, n_open);
    else
        close_pixels(w, reinterpret_cast<const uint16_t *>(items));
    __syncthreads();
    store_planes<THREADS>(w.place, m->planes);
}

qfz_status qfz_saliency_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                              void *d_saliency)
{
    if (narrow)
        return launch_query<query_memory>(gpu, blocks, k_query<uint16_t>, THREADS, d_saliency);
    return launch_query<query_memory>(gpu, blocks, k_query<uint32_t>, THREADS, d_saliency);
}
