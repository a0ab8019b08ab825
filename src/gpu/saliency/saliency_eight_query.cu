/* SPDX-License-Identifier: MIT */
/* saliency_eight_query.cu - as saliency_query.cu, for eight neighbours.
 *
 * The stored vertices of a block's pixels show which edges of its squares of 2 x 2 pixels are open;
 * squares with open edges form a list. In most of them the pixels belong to two vertices, and all
 * open edges have the same saliency, which is looked up once. Squares with more vertices, and pairs
 * of vertices that do not meet in the tables, are postponed until the others are done. */
#include "gpu/saliency/saliency_columns.cuh"
#include "gpu/forest/block_leaving.cuh"
#include "gpu/saliency/saliency_planes.cuh"
#include "gpu/device/warp.cuh"

enum {
    THREADS = 512,
    LEAVING = qfz_leaving_count(true),
    LEAVING_EACH = (LEAVING + THREADS - 1) / THREADS,
    BESIDE = QFZ_SIDE + 2,            /* pixels of the column right of the block */
    OUTSIDE = BESIDE + BESIDE - 1,    /* and of the row below it */
    COLUMNS = QFZ_VERTICES + OUTSIDE, /* vertices of the block; pixels outside */
    VERTEX_PITCH = QFZ_SIDE + 16,     /* four rows of a few pixels lie in different banks */
    TOGETHER = 2,                     /* squares of a thread that are looked up together */
    POSTPONED = 512                   /* squares; more of them are closed at once */
};
static_assert((int)QFZ_VERTICES < (int)QFZ_OPEN_INVALID, "a vertex, or none");

/* A square's edges as bits and indices: a - b, a - c, a - d, b - c, the order of the planes. */
static const uint32_t AB = 1u << QFZ_RIGHT, AC = 1u << QFZ_BELOW, AD = 1u << QFZ_BELOW_RIGHT,
                      BC = 1u << QFZ_BELOW_LEFT;

/* 1 in both halves of a word; the word of two invalid pixels. */
static const uint32_t ONES = 0x10001, NO_VERTICES = QFZ_OPEN_INVALID * ONES;

/* An entry of a list of squares: the pixel a, and from bit EDGES on the mask of open edges. */
enum { EDGES = 12, ROWS = QFZ_SIDE * QFZ_WARP / THREADS /* of a warp */ };
static_assert(QFZ_FOREST_BLOCK_PX == 1 << EDGES, "a pixel, and four edges in 16 bits");

namespace
{
template <typename T> struct query_memory {
    /* Blocks per multiprocessor; its shared memory has room for no more. */
    enum { BLOCKS = QFZ_SM_THREADS / THREADS };
    query_planes<T, QFZ_MAX_DIRS> planes; /* first: a row then covers each bank once */
    query_columns<T, COLUMNS> columns;
    T cost[OUTSIDE]; /* the greatest level between each outside pixel and its vertex */
    uint16_t open[QFZ_FOREST_BLOCK_PX], postponed[POSTPONED]; /* squares */
    /* The vertices of pixels; one row more, since squares may extend beyond the block. */
    __align__(4) uint16_t vertex[(QFZ_SIDE + 1) * VERTEX_PITCH];
    uint32_t n_open, n_postponed;
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

template <typename T> QFZ_DEVICE square square_of(const query_work<T> &w, uint32_t item)
{
    const uint32_t p = item & (QFZ_FOREST_BLOCK_PX - 1), y = p / QFZ_SIDE, x = p % QFZ_SIDE;
    const uint16_t *const a = w.m.vertex + y * VERTEX_PITCH + x;
    return {a[0], a[1], a[VERTEX_PITCH], a[VERTEX_PITCH + 1], y, x};
}

/* The two vertices of one open edge, and all open edges between these two. */
struct square_pair {
    uint32_t u, v, edges;
};

QFZ_DEVICE square_pair first_pair(const square &s, uint32_t rest)
{
    const uint32_t u = rest & ~BC ? s.a : s.b;
    const uint32_t v = rest & AB ? s.b : (rest & (AC | AD)) == AD ? s.d : s.c;
    const bool anti = (s.b == u && s.c == v) || (s.b == v && s.c == u);
    const uint32_t between = (s.b == v ? AB : 0u) | (s.c == v ? AC : 0u) | (s.d == v ? AD : 0u);
    return {u, v, rest & ((u == s.a ? between : 0u) | (anti ? BC : 0u))};
}

/* Raises the levels of some edges to at least `least`; the level of b - c is stored at b. */
template <typename T>
QFZ_DEVICE void raise(const query_work<T> &w, const square &s, uint32_t edges, uint32_t least)
{
    QFZ_EACH (k, QFZ_MAX_DIRS) {
        const uint32_t x = s.x + (k == QFZ_BELOW_LEFT ? 1 : 0);
        if (edges >> k & 1) raise_level(level_at(w.m.planes, w.place, (int)k, s.y, x), least);
    }
}

/* Closes a square's open edges, one pair of vertices at a time. */
template <typename T>
QFZ_DEVICE void close_all(const query_work<T> &w, const square &s, uint32_t rest)
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

/* Postpones a lane's remaining edges, rest, which may be none. All lanes of a warp call. */
template <typename T>
QFZ_DEVICE void postpone(const query_work<T> &w, const square &s, uint32_t rest)
{
    const uint32_t at = qfz_take_one(&w.m.n_postponed, rest != 0);
    if (rest == 0) return;
    if (at < POSTPONED)
        w.m.postponed[at] = (uint16_t)((s.y * QFZ_SIDE + s.x) | rest << EDGES);
    else
        close_all(w, s, rest);
}

/* Closes, in each of n squares of a lane, the open edges between its first pair of vertices if that
 * pair meets in the tables; the rest is postponed. All look-ups come before the first store, so
 * that they overlap; unused places repeat another square. */
template <typename T>
QFZ_DEVICE void close_first_pair(const query_work<T> &w, const uint32_t item[TOGETHER], uint32_t n)
{
    square_pair pair[TOGETHER];
    uint32_t level[TOGETHER];
    bool open[TOGETHER];
    QFZ_EACH (k, TOGETHER) {
        pair[k] = first_pair(square_of(w, item[k]), item[k] >> EDGES);
        level[k] = meet(w.m.columns, pair[k].u, pair[k].v, &open[k]);
    }
    QFZ_EACH (k, TOGETHER) {
        const square s = square_of(w, item[k]);
        const uint32_t all = (uint32_t)k < n ? item[k] >> EDGES : 0,
                       edges = open[k] ? 0 : pair[k].edges & all;
        raise(w, s, edges, level[k]);
        postpone(w, s, all & ~edges);
    }
}

template <typename T> QFZ_DEVICE void close_postponed(const query_work<T> &w)
{
    const uint32_t n = min(w.m.n_postponed, (uint32_t)POSTPONED);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        const uint32_t item = w.m.postponed[i];
        close_all(w, square_of(w, item), item >> EDGES);
    }
}

/* ---- The list -------------------------------------------------------------------------------- */

/* Loads the vertices of a thread's two pixels in each of its warp's rows and the row after. */
QFZ_DEVICE void fetch_vertices(const vertex_map &vertices, uint32_t two[ROWS + 1])
{
    const int32_t lane = (int32_t)threadIdx.x % QFZ_WARP;
#pragma unroll
    for (int32_t j = 0; j <= ROWS; j++) {
        const int32_t y = (int32_t)threadIdx.x / QFZ_WARP * ROWS + j;
        const bool is = y < vertices.h && lane < vertices.n_words;
        two[j] = is ? vertices.first[y * vertices.pitch + lane] : NO_VERTICES;
    }
}

/* The mask of open edges of four rows: bit row + 4 * direction + 16 * column. right: the pixels one
 * place to the right; both have the row after, too. */
QFZ_DEVICE uint32_t open_edges(const uint32_t two[5], const uint32_t right[5])
{
    const uint32_t four_rows = 0xf * ONES;
    uint32_t differ = 0, own = 0, beside = 0;
    QFZ_EACH (j, 5) {
        own += __vminu2(two[j] ^ NO_VERTICES, ONES) << j;
        beside += __vminu2(right[j] ^ NO_VERTICES, ONES) << j;
        if (j == 4) continue;
        differ += __vminu2(two[j] ^ right[j], ONES) << j;
        differ += __vminu2(two[j] ^ two[j + 1], ONES) << (4 * QFZ_BELOW + j);
        differ += __vminu2(two[j] ^ right[j + 1], ONES) << (4 * QFZ_BELOW_RIGHT + j);
        differ += __vminu2(right[j] ^ two[j + 1], ONES) << (4 * QFZ_BELOW_LEFT + j);
    }
    return differ & ((own & beside & four_rows) | (own & own >> 1 & four_rows) << 4 * QFZ_BELOW |
                     (own & beside >> 1 & four_rows) << 4 * QFZ_BELOW_RIGHT |
                     (beside & own >> 1 & four_rows) << 4 * QFZ_BELOW_LEFT);
}

/* Appends the squares with open edges that begin at a thread's pixels in four rows from y on. */
template <typename T>
QFZ_DEVICE void list_squares(query_memory<T> &m, const uint32_t two[5], uint32_t y)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP, last = lane == QFZ_WARP - 1;
    uint32_t right[5];
    QFZ_EACH (j, 5) {
        const uint32_t next = __shfl_down_sync(QFZ_ALL_LANES, two[j], 1);
        right[j] = __byte_perm(two[j], last ? (uint32_t)QFZ_OPEN_INVALID : next, 0x5432);
    }
    const uint32_t edges = open_edges(two, right);
    uint32_t some = edges | edges >> 8;
    some = (some | some >> 4) & 0xf * ONES;
    uint32_t at = qfz_take(&m.n_open, (uint32_t)__popc(some));
    QFZ_EACH (i, 8) {
        const uint32_t row = i / 2, column = i % 2, bit = row + 16 * column;
        /* gathers four bits that are four places apart; no two products overlap */
        const uint32_t mask = (edges >> bit & 0x1111u) * 0x1248u & 0xfu << EDGES;
        if (some >> bit & 1)
            m.open[at++] = (uint16_t)(mask | ((y + row) * QFZ_SIDE + 2 * lane + column));
    }
}

template <typename T> QFZ_DEVICE void list_open(query_memory<T> &m, const uint32_t two[ROWS + 1])
{
    const uint32_t lane = threadIdx.x % QFZ_WARP, y = threadIdx.x / QFZ_WARP * ROWS;
    static_assert(ROWS == 4, "gone through at once");
    QFZ_EACH (j, ROWS)
        reinterpret_cast<uint32_t *>(m.vertex)[(y + j) * (VERTEX_PITCH / 2) + lane] = two[j];
    list_squares(m, two, y);
}

template <typename T> QFZ_DEVICE void close_list(const query_work<T> &w)
{
    const uint32_t n = w.m.n_open, lane = threadIdx.x % QFZ_WARP;
    for (uint32_t i = threadIdx.x; i - lane < n; i += TOGETHER * THREADS) {
        uint32_t item[TOGETHER];
        QFZ_EACH (k, TOGETHER)
            item[k] = w.m.open[min(i + k * THREADS, n - 1)];
        close_first_pair(w, item, i < n ? (n - i + THREADS - 1) / THREADS : 0);
    }
}

/* ---- Edges that leave the block -------------------------------------------------------------- */

/* The number of a pixel outside the block, right of it or below. */
QFZ_DEVICE int outside_of(int y, int x)
{
    return x == QFZ_SIDE ? y + 1 : BESIDE + x + 1;
}

/* Makes a column of the i-th pixel outside: QFZ_NONE if the pixel does not exist or has no
 * vertex. */
template <typename T> QFZ_DEVICE void begin_outside(query_work<T> &w, int i)
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

/* The start of the i-th leaving edge: its vertex, or QFZ_NONE if there is no such edge, and the
 * greatest level between the pixel and its vertex. */
template <typename T> QFZ_DEVICE uint2 begin_leaving(const query_work<T> &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (i >= LEAVING || !e.is || e.y >= w.box.h || e.x >= w.box.w) return make_uint2(QFZ_NONE, 0);
    return f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, e.y, e.x)];
}

/* Stores the saliency of the i-th leaving edge, QFZ_NONE if the edge does not exist. An edge that
 * starts outside the tile has no place and is skipped. */
template <typename T>
QFZ_DEVICE void end_leaving(const query_work<T> &w, int i, uint2 own, uint32_t first)
{
    const qfz_gpu_forest &f = w.forest;
    const qfz_leaving_edge e = qfz_leaving_at(i);
    if (i >= LEAVING || !e.is || e.y >= w.box.h || e.x >= w.box.w) return;
    const int outside = outside_of(e.to_y, e.to_x), direction = qfz_leaving_direction(i);
    const uint32_t u = own.x - first, v = (uint32_t)(QFZ_VERTICES + outside);
    const bool starts_outside = direction == QFZ_BELOW_LEFT && e.to_y < e.y;
    uint32_t level = QFZ_NONE;
    if (own.x != QFZ_NONE && w.m.columns.vertex[0][v] != QFZ_NONE) {
        bool open;
        level = meet(w.m.columns, u, v, &open);
        level = max(level, max(own.y, (uint32_t)w.m.cost[outside]));
        if (open) level = climb_on(w.m.columns, f.up, u, v, level);
    }
    if (!starts_outside)
        *level_at(w.m.planes, w.place, direction, (uint32_t)e.y, (uint32_t)e.x) = (T)level;
    else if (w.box.y + e.to_y >= 0 && w.box.x + e.to_x < f.w)
        *stored_level(w.place, direction, e.to_y, e.to_x) = (T)level;
}

/* ---- The last planes ------------------------------------------------------------------------- */

/* Moves bit k of a word to bit 2 * k. */
QFZ_DEVICE uint64_t spread(uint32_t half)
{
    uint64_t bits = half;
    bits = (bits | bits << 16) & 0x0000ffff0000ffffull;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffull;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0full;
    bits = (bits | bits << 2) & 0x3333333333333333ull;
    return (bits | bits << 1) & 0x5555555555555555ull;
}

QFZ_DEVICE uint64_t of_lane(uint64_t bits, int lane)
{
    const uint32_t low = __shfl_sync(QFZ_ALL_LANES, (uint32_t)bits, lane);
    return (uint64_t)__shfl_sync(QFZ_ALL_LANES, (uint32_t)(bits >> 32), lane) << 32 | low;
}

/* A row whose late planes a warp makes; a lane has the pixels x and x + QFZ_WARP. */
struct late_row {
    const planes_place<uint32_t> &place;
    int32_t y;
    uint64_t diagonal, anti; /* bits of moved levels (saliency.cuh) */

    QFZ_DEVICE uint32_t *at(int direction, int32_t x) const
    {
        return stored_level(place, direction, y, x);
    }

    /* The saliency of the edge to the right from x. If a moved diagonal has its place, it equals
     * that down from the next pixel; if a moved anti has that place, too, it equals that to the
     * right from there, and so on. */
    QFZ_DEVICE uint32_t right(int32_t x) const
    {
        const uint64_t on = (diagonal & anti >> 1) >> x;
        const int32_t last = x + __ffsll((long long)~on) - 1;
        return diagonal >> last & 1 ? *at(QFZ_BELOW, last + 1) : *at(QFZ_RIGHT, last);
    }
};
} // namespace

/* Makes both late planes of one row, and restores the levels whose places were used. All reads of a
 * row come before its writes. Leaving edges are not written here. */
static QFZ_DEVICE void make_late(const query_work<uint32_t> &w, const late_row &row)
{
    const int32_t lane = (int32_t)threadIdx.x % QFZ_WARP, bottom = w.forest.h - 1 - w.box.y;
    uint32_t right[2], down[2], of_right[2], of_down[2];
    bool in[2];
    QFZ_EACH (c, 2) {
        const int32_t x = lane + c * QFZ_WARP;
        in[c] = row.y < w.box.h && x < w.box.w;
        of_right[c] = in[c] ? *row.at(QFZ_RIGHT, x) : QFZ_NONE;
        of_down[c] = in[c] ? *row.at(QFZ_BELOW, x) : QFZ_NONE;
        right[c] = in[c] && row.diagonal >> x & 1 ? row.right(x) : of_right[c];
        down[c] = row.anti >> x & 1 ? right[c] : of_down[c];
    }
    const uint32_t first = __shfl_sync(QFZ_ALL_LANES, down[1], 0);
    __syncwarp();
    QFZ_EACH (c, 2) {
        const int32_t x = lane + c * QFZ_WARP;
        const uint32_t next = __shfl_down_sync(QFZ_ALL_LANES, down[c], 1);
        const uint32_t beside = c == 0 && lane == QFZ_WARP - 1 ? first : next;
        const bool diagonal = row.diagonal >> x & 1, anti = row.anti >> x & 1;
        const bool missing = row.y == bottom || (row.y < bottom && w.box.x == 0);
        if (x == 0 && missing) *row.at(QFZ_BELOW_LEFT, 0) = QFZ_NONE;
        if (!in[c] || row.y == QFZ_SIDE - 1 || x == QFZ_SIDE - 1) continue;
        *row.at(QFZ_BELOW_RIGHT, x) = diagonal ? of_right[c] : max(right[c], beside);
        if (x + 1 < w.box.w)
            *row.at(QFZ_BELOW_LEFT, x + 1) = anti ? of_down[c] : max(right[c], down[c]);
        if (diagonal) *row.at(QFZ_RIGHT, x) = right[c];
        if (anti) *row.at(QFZ_BELOW, x) = down[c];
    }
}

/* Makes the late planes of a warp's rows: before any level is raised, and after all vertices have
 * been read, since these lie in the same place. */
static QFZ_DEVICE void make_late(const query_work<uint32_t> &w, const uint32_t *__restrict__ moved)
{
    const int32_t lane = (int32_t)threadIdx.x % QFZ_WARP,
                  y = (int32_t)threadIdx.x / QFZ_WARP * ROWS;
    const uint32_t *const words = moved + 4 * y + 2 * (lane % (2 * ROWS));
    const uint64_t bits = spread(__ldg(words)) | spread(__ldg(words + 1)) << 1;
#pragma unroll 1
    for (int j = 0; j < ROWS; j++)
        make_late(w, late_row{w.place, y + j, of_lane(bits, 2 * j), of_lane(bits, 2 * j + 1)});
}

static QFZ_DEVICE void make_late(const query_work<uint16_t> &, const uint32_t *)
{
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T>
static __global__ void __launch_bounds__(THREADS, query_memory<T>::BLOCKS)
    k_query(qfz_saliency_blocks blocks, T *saliency)
{
    QFZ_SHARED(query_memory<T>, m);
    const int thread = (int)threadIdx.x;
    const qfz_gpu_forest &forest = blocks.forest;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    query_work<T> w = {*m, forest, box, planes_at(forest, box, saliency)};
    uint2 leaving[LEAVING_EACH];
    uint32_t two[ROWS + 1];
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_vertices = block.y & 0xffff;
    fetch_vertices(vertices_at(forest, box, blocks.open, saliency), two);
    fetch_planes<THREADS>(w.place, m->planes); /* started first: later loads queue behind these */
    if (thread == 0) m->n_open = m->n_postponed = 0;
    __syncthreads();
    list_open(*m, two);
    make_late(w, blocks.moved + (int64_t)blockIdx.x * QFZ_MOVED_WORDS);
    QFZ_EACH (k, LEAVING_EACH)
        leaving[k] = begin_leaving(w, thread + k * THREADS);
    for (int i = THREADS - 1 - thread; i < OUTSIDE; i += THREADS)
        begin_outside(w, i);
    for (uint32_t v = threadIdx.x; v < n_vertices; v += THREADS)
        make_column(m->columns, forest.up, v, block.x + v);
    await_planes();
    __syncthreads();
    QFZ_EACH (k, LEAVING_EACH)
        end_leaving(w, thread + k * THREADS, leaving[k], block.x);
    close_list(w);
    __syncthreads();
    close_postponed(w);
    __syncthreads();
    store_planes<THREADS>(w.place, m->planes);
}

qfz_status qfz_saliency_eight_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                                    void *d_saliency)
{
    if (narrow)
        return launch_query<query_memory>(gpu, blocks, k_query<uint16_t>, THREADS, d_saliency);
    return launch_query<query_memory>(gpu, blocks, k_query<uint32_t>, THREADS, d_saliency);
}
