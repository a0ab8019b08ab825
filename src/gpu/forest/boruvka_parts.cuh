/* SPDX-License-Identifier: MIT */
/* boruvka_parts.cuh - internals that the files of a forest share, and the rooms that read a forest:
 * geometry of blocks, packed words, counters, and the launchers of each step. */
#pragma once

#include "gpu/forest/boruvka.cuh"
#include "gpu/device/launch.cuh"

/* ---- Blocks ---------------------------------------------------------------------------------- */
enum {
    QFZ_SIDE = 64,
    QFZ_FOREST_BLOCK_PX = QFZ_SIDE * QFZ_SIDE,
    QFZ_RIM = 4 * (QFZ_SIDE - 1), /* pixels on the ring of a full block: its rim */
    QFZ_ACTIVE = 256,             /* the first component that does not wait after the first round */
    QFZ_COMPS = QFZ_ACTIVE + QFZ_FOREST_BLOCK_PX / 2, /* components after the first round */
    QFZ_SPARE = 16, /* rounds in a block end when no more components than these do not wait */
    QFZ_VERTICES = QFZ_RIM + QFZ_SPARE, /* components after the last round, each a vertex */
    QFZ_NO_COMP = QFZ_ACTIVE - 1 /* no component: at most QFZ_RIM wait after the first round */
};

/* The step of a component: round << QFZ_STEP_BITS | component, the round in which it hooked itself
 * and the component to which it did.  A round at least doubles the size of a component, so a block
 * has at most 12 rounds.  A root has round QFZ_STEP_ROOT and, instead of a component, its vertex,
 * counted from the block's first vertex, or QFZ_STEP_MASK if no edge leaves it. */
enum {
    QFZ_STEP_BITS = 12,
    QFZ_STEP_MASK = (1 << QFZ_STEP_BITS) - 1,
    QFZ_STEP_ROOT = 15,
    QFZ_STEP_ENDED = QFZ_STEP_ROOT << QFZ_STEP_BITS | QFZ_STEP_MASK
};

/* The same in the graph of all blocks, in forest->up; a round at least halves the number of
 * vertices. */
enum { QFZ_UP_BITS = 5, QFZ_UP_ROOT = (1 << QFZ_UP_BITS) - 1, QFZ_MAX_ROUNDS = QFZ_UP_ROOT };

/* Indices into forest->count: the numbers of vertices and of edges at the start of each round. */
enum { QFZ_COUNT_VERTICES = 0, QFZ_COUNT_EDGES = QFZ_MAX_ROUNDS + 1, QFZ_COUNTERS = 2 * 32 };

/* Marks an end of an edge that is an index into forest->rim, not a vertex. */
static const uint32_t QFZ_RIM_REF = 1u << 31;

/* Place and size of a block in the tile. */
struct qfz_block_box {
    int32_t y, x, h, w;
};

QFZ_DEVICE qfz_block_box qfz_block_of(const qfz_gpu_forest &forest, uint32_t block)
{
    qfz_block_box box;
    box.y = (int32_t)(block / (uint32_t)forest.n_x) * QFZ_SIDE;
    box.x = (int32_t)(block % (uint32_t)forest.n_x) * QFZ_SIDE;
    box.h = min((int)QFZ_SIDE, forest.h - box.y);
    box.w = min((int)QFZ_SIDE, forest.w - box.x);
    return box;
}

/* The number of ring pixel (y, x), as in core/box.h; then the size of a ring, and the pixel of a
 * number. */
QFZ_DEVICE int32_t qfz_ring_number(int32_t h, int32_t w, int32_t y, int32_t x)
{
    if (y == 0) return x;
    if (y == h - 1) return w + x;
    return x == 0 ? 2 * w + y - 1 : 2 * w + (h - 2) + y - 1;
}

QFZ_DEVICE int32_t qfz_ring_count(int32_t h, int32_t w)
{
    return h <= 2 ? h * w : 2 * w + (w == 1 ? 1 : 2) * (h - 2);
}

QFZ_DEVICE int2 qfz_ring_pixel(int32_t h, int32_t w, int32_t i) /* x, y */
{
    if (i < w || h == 1) return make_int2(i, 0);
    if (i < 2 * w) return make_int2(i - w, h - 1);
    if (i < 2 * w + h - 2) return make_int2(0, i - 2 * w + 1);
    return make_int2(w - 1, i - 2 * w - (h - 2) + 1);
}

/* The index in forest->rim of pixel (y, x) of the tile, which is on the rim of its block. */
QFZ_DEVICE uint32_t qfz_rim_place(const qfz_gpu_forest &forest, int32_t y, int32_t x)
{
    const int32_t in_y = y & (QFZ_SIDE - 1), in_x = x & (QFZ_SIDE - 1);
    const int32_t h = min((int)QFZ_SIDE, forest.h - (y - in_y));
    const int32_t w = min((int)QFZ_SIDE, forest.w - (x - in_x));
    const uint32_t block = (uint32_t)y / QFZ_SIDE * (uint32_t)forest.n_x + (uint32_t)x / QFZ_SIDE;
    return block * (uint32_t)forest.rim_room + (uint32_t)qfz_ring_number(h, w, in_y, in_x);
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* The type of levels, given the type of keys; a key is level << 16 | 16 bits. */
template <typename KEY> struct qfz_top_of;
template <> struct qfz_top_of<uint32_t> {
    typedef uint16_t type;
};
template <> struct qfz_top_of<unsigned long long> {
    typedef uint32_t type;
};

/* ---- Hooks of pixels ------------------------------------------------------------------------- */

/* The levels of row y of a block, then its components; TOP is the type of levels.  Rows are
 * qfz_px_pitch<TOP>() items apart in both. */
template <typename TOP>
QFZ_DEVICE TOP *qfz_tops(const qfz_gpu_forest &forest, qfz_block_box box, int32_t y)
{
    const int64_t first_px = (int64_t)(box.y + y) * forest.w + box.x;
    return static_cast<TOP *>(forest.top) + first_px * (int64_t)(4 / sizeof(TOP));
}

template <typename TOP>
QFZ_DEVICE uint16_t *qfz_comps(const qfz_gpu_forest &forest, qfz_block_box box, int32_t y)
{
    if (sizeof(TOP) == 4) return forest.comp + ((int64_t)(box.y + y) * forest.w + box.x);
    return reinterpret_cast<uint16_t *>(qfz_tops<TOP>(forest, box, y)) + box.w;
}

template <typename TOP> QFZ_DEVICE int64_t qfz_px_pitch(const qfz_gpu_forest &forest)
{
    return forest.w * (int64_t)(4 / sizeof(TOP));
}

/* ---- Hooks of components --------------------------------------------------------------------- */

/* The hook of component c of a block, level << 16 | step. */
template <typename KEY>
QFZ_DEVICE KEY qfz_hook_at(const qfz_gpu_forest &forest, uint32_t block, uint32_t c)
{
    const int64_t i = (int64_t)block * forest.comp_room + c;
    if constexpr (sizeof(KEY) == sizeof(uint32_t)) return forest.hooks[i];
    return (KEY)((unsigned long long)forest.hooks[i] << 16 | forest.steps[i]);
}

template <typename KEY>
QFZ_DEVICE void qfz_set_hook(const qfz_gpu_forest &forest, uint32_t block, uint32_t c, KEY hook)
{
    const int64_t i = (int64_t)block * forest.comp_room + c;
    const bool wide = sizeof(KEY) > sizeof(uint32_t);
    forest.hooks[i] = (uint32_t)(wide ? hook >> 16 : hook);
    if (wide) forest.steps[i] = (uint16_t)hook;
}

/* ---- Levels of the graph's edges ------------------------------------------------------------- */

QFZ_DEVICE uint32_t qfz_edge_level(const qfz_gpu_forest &forest, int list, uint64_t edge)
{
    if (forest.wide) return static_cast<const uint32_t *>(forest.level[list])[edge];
    return static_cast<const uint16_t *>(forest.level[list])[edge];
}

QFZ_DEVICE void qfz_set_edge_level(const qfz_gpu_forest &forest, int list, uint64_t edge,
                                   uint32_t level)
{
    if (forest.wide)
        static_cast<uint32_t *>(forest.level[list])[edge] = level;
    else
        static_cast<uint16_t *>(forest.level[list])[edge] = (uint16_t)level;
}

/* ---- Words that get smaller ------------------------------------------------------------------ */

/* *word = min(*word, value).  The read avoids most atomic operations, because most values are not
 * smaller.  It may be stale; a stale value is not below the word, so no minimum is lost. */
template <typename KEY> QFZ_DEVICE void qfz_lower(KEY *word, KEY value)
{
    if (value < *static_cast<volatile KEY *>(word)) atomicMin(word, value);
}

/* ---- Places in a list ------------------------------------------------------------------------ */

/* atomicAdd() by one lane.  threadIdx.y is 0, but not at compile time: if the compiler saw that all
 * lanes have the same address, it would add code that aggregates their additions. */
QFZ_DEVICE uint32_t qfz_add(uint32_t *counter, uint32_t n)
{
    return atomicAdd(counter + threadIdx.y, n);
}

/* Reserves n places after *counter for each lane of a warp, in one atomic operation; returns the
 * lane's first place.  All lanes of the warp call the function. */
QFZ_DEVICE uint32_t qfz_take(uint32_t *counter, uint32_t n)
{
    const uint32_t all = 0xffffffffu;
    const int lane = (int)(threadIdx.x % QFZ_WARP);
    uint32_t sum = n;
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const uint32_t before = __shfl_up_sync(all, sum, step);
        if (lane >= step) sum += before;
    }
    uint32_t first = 0;
    if (lane == QFZ_WARP - 1 && sum > 0) first = qfz_add(counter, sum);
    return __shfl_sync(all, first, QFZ_WARP - 1) + sum - n;
}

/* The same for one place, or none. */
QFZ_DEVICE uint32_t qfz_take_one(uint32_t *counter, bool wants)
{
    const unsigned who = __ballot_sync(QFZ_ALL_LANES, wants);
    const unsigned lane = threadIdx.x % QFZ_WARP;
    uint32_t first = 0;
    if (lane == 0 && who != 0) first = qfz_add(counter, (uint32_t)__popc(who));
    return __shfl_sync(QFZ_ALL_LANES, first, 0) + (uint32_t)__popc(who & ((1u << lane) - 1));
}

/* ---- The parts ------------------------------------------------------------------------------- */

/* The forest of a tile with such edges and n_external links through the outside: its sizes; all
 * pointers NULL. */
qfz_gpu_forest qfz_boruvka_shape(const qfz_gpu_edges *edges, int64_t n_external);

/* *forest = that shape.  QFZ_ENOMEM where the tile has more vertices than words of forest->up can
 * number. */
qfz_status qfz_boruvka_init(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                            const qfz_gpu_links *external, qfz_gpu_forest *forest);

/* True if blocks can store the lightest edges of vertices (first_known). */
bool qfz_boruvka_can_know_first(const qfz_gpu_edges *edges);

/* Carves what the finished graph of all blocks consists of: block, count, up and rim; then what
 * only the rounds on that graph use. */
void qfz_boruvka_carve_graph(qfz_gpu_forest *forest, qfz_carve *carve);
void qfz_boruvka_carve_rounds(qfz_gpu_forest *forest, qfz_carve *carve);

/* The variants of the block solver (block_launch.cuh): four or eight neighbours; narrow: one band
 * of 8 or 16 bits, wide: every other form of edges. */
struct narrow_way;
struct wide_way;
struct eight_way;
struct eight_wide_way;

/* Runs the rounds in blocks by a variant; appends vertices and edges to the graph of all blocks. */
template <typename WAY>
qfz_status qfz_boruvka_solve(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                             const qfz_gpu_forest *forest);

/* Sets the counters, and makes the external links the first edges of the graph.  external may be
 * NULL. */
qfz_status qfz_boruvka_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                             const qfz_gpu_links *external);

/* Runs the rounds on the graph. */
qfz_status qfz_boruvka_rounds(qfz_gpu *gpu, const qfz_gpu_forest *forest);
