/* SPDX-License-Identifier: MIT */
/* filter_parts.cuh - internals that the files of the area filter share: words, counters, and
 * functions on components. */
#pragma once

#include "core/position.h"
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/union_find.cuh"
#include "gpu/filter/filter.cuh"
#include "gpu/forest/boruvka_parts.cuh"

/* Rows and columns of a block of pixels, and its pixels. */
enum {
    QFZ_FILTER_THREADS = 256,
    QFZ_FILTER_BLOCK = 63,
    QFZ_FILTER_BLOCK_PX = QFZ_FILTER_BLOCK * QFZ_FILTER_BLOCK, /* also the room of its lists */
    QFZ_FILTER_SIDE = QFZ_FILTER_BLOCK + 1,                    /* quads, below */
    QFZ_FILTER_QUADS = QFZ_FILTER_SIDE * QFZ_FILTER_SIDE
};

/* In d_n_edges: the edges of all quads, which are not listed. */
static const uint32_t QFZ_FILTER_ALL_EDGES = UINT32_MAX;

/* In d_up, the mark of a root, with one of two more while its cluster may grow: LIVE, it is to find
 * its first edge; PICKED, it has picked it.  STAYS: within a round (filter_rounds.cu). */
static const uint32_t QFZ_FILTER_ROOT = 1u << 31, QFZ_FILTER_LIVE = 1, QFZ_FILTER_PICKED = 2,
                      QFZ_FILTER_STAYS = 4;

/* In d_side, after the rounds of filter_forest.cu, bit d: the edge is a link. */
enum { QFZ_FILTER_LINK = 0x10 };

static const unsigned long long QFZ_FILTER_NO_EDGE = ~0ull; /* with a lower half of 2^32 - 1 */

/* Indices into d_count: 1 if clusters picked edges, else 0; 1 if
 * pixels wait, else 0 (filter_rounds.cu); lengths of lists; 1 if components
 * joined, else 0. */
enum {
    QFZ_FILTER_N_PICKS = 0,
    QFZ_FILTER_N_WAITING,
    QFZ_FILTER_N_ROOTS,
    QFZ_FILTER_N_ITEMS,
    QFZ_FILTER_N_JOINS,
    QFZ_FILTER_COUNTERS
};

/* Loops over items i = first .. n - 1; any grid covers all items. */
#define QFZ_FILTER_EACH(i, first, n)                                                               \
    for (uint64_t i = (uint64_t)(first) + (uint64_t)blockIdx.x * QFZ_FILTER_THREADS + threadIdx.x; \
         i < (uint64_t)(n); i += (uint64_t)gridDim.x * QFZ_FILTER_THREADS)

static inline dim3 qfz_filter_grid(const qfz_gpu *gpu, int64_t n)
{
    return qfz_launch_grid(gpu, n, QFZ_FILTER_THREADS, 8);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static inline unsigned qfz_filter_block_count(int32_t h, int32_t w)
{
    return qfz_launch_blocks(h, QFZ_FILTER_BLOCK) * qfz_launch_blocks(w, QFZ_FILTER_BLOCK);
}

QFZ_DEVICE qfz_block_box qfz_filter_block_of(const qfz_gpu_filter &f, uint32_t block)
{
    const uint32_t n_x = ((uint32_t)f.w + QFZ_FILTER_BLOCK - 1) / QFZ_FILTER_BLOCK;
    qfz_block_box box;
    box.y = (int32_t)(block / n_x) * QFZ_FILTER_BLOCK;
    box.x = (int32_t)(block % n_x) * QFZ_FILTER_BLOCK;
    box.h = min((int)QFZ_FILTER_BLOCK, f.h - box.y);
    box.w = min((int)QFZ_FILTER_BLOCK, f.w - box.x);
    return box;
}

/* A quad is a cell with those on its right and below it; quad 0 of a block has the block's first
 * pixel as its last cell, so that 64 x 64 quads have all edges of the block's pixels.  The edges of
 * a quad are those between its first cell and the others, and the diagonal between the others: edge
 * QFZ_BELOW_LEFT starts from the second cell.  An edge of a block has the number
 * quad * n_dirs + direction. */
struct qfz_filter_edge {
    int32_t y, x; /* of the pixel that it starts from */
    int dir;
};

/* An edge of the block whose quad 0 has its first cell at (y, x). */
QFZ_DEVICE qfz_filter_edge qfz_filter_edge_of(int32_t y, int32_t x, uint32_t number,
                                              uint32_t n_dirs)
{
    const uint32_t quad = number / n_dirs;
    const int dir = (int)(number % n_dirs);
    return {y + (int32_t)(quad / QFZ_FILTER_SIDE),
            x + (int32_t)(quad % QFZ_FILTER_SIDE) + (dir == QFZ_BELOW_LEFT ? 1 : 0), dir};
}

/* ---- Components ------------------------------------------------------------------------------ */

/* Parents in d_up (union_find.cuh). */
struct qfz_filter_parents : qfz_in_cache {
    enum : uint32_t { MARK = QFZ_FILTER_ROOT };
};

/* The root of a pixel.  No kernel that calls the function makes a root a non-root, so that paths
 * may be shortened meanwhile. */
QFZ_DEVICE uint32_t qfz_filter_root(const qfz_gpu_filter &f, uint32_t p)
{
    return qfz_find_shortening<qfz_filter_parents>(f.d_up, p);
}

QFZ_DEVICE bool qfz_filter_is_on_ring(const qfz_gpu_filter &f, int32_t y, int32_t x)
{
    return y == 0 || y == f.h - 1 || x == 0 || x == f.w - 1;
}

/* The root of an open component is a ring pixel; that of a closed one is none, unless it is an
 * invalid pixel. */
static QFZ_DEVICE bool qfz_filter_is_open(const qfz_gpu_filter &f, uint32_t root)
{
    const int32_t y = (int32_t)(root / (uint32_t)f.w), x = (int32_t)(root % (uint32_t)f.w);
    return f.is_open_ring && qfz_filter_is_on_ring(f, y, x);
}

static QFZ_DEVICE uint32_t qfz_filter_ring_number(const qfz_gpu_filter &f, uint32_t open_root)
{
    return (uint32_t)qfz_ring_number(f.h, f.w, (int32_t)(open_root / (uint32_t)f.w),
                                     (int32_t)(open_root % (uint32_t)f.w));
}

QFZ_DEVICE uint64_t qfz_filter_row_mass(const qfz_gpu_filter &f, int32_t y)
{
    const uint64_t mass = f.d_row_mass ? f.d_row_mass[y] : 1;
    return mass < f.least ? mass : f.least;
}

/* The weight of pixel (y, x), at most N.  That an invalid pixel, which has no edges, weighs N keeps
 * it out of all lists. */
QFZ_DEVICE uint64_t qfz_filter_mass_of_px(const qfz_gpu_filter &f, const uint8_t *valid, int32_t y,
                                          int32_t x)
{
    if (valid && !valid[(int64_t)y * f.w + x]) return f.least;
    if (f.is_open_ring && qfz_filter_is_on_ring(f, y, x)) return QFZ_GPU_FILTER_OPEN;
    return qfz_filter_row_mass(f, y);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* An edge in the order of (level, position): level << 32 | higher half; lower half. */
struct qfz_filter_place {
    unsigned long long high;
    uint32_t low;
};

QFZ_DEVICE qfz_filter_place qfz_filter_place_of(uint32_t level, uint64_t position)
{
    return {(unsigned long long)level << 32 | position >> 32, (uint32_t)position};
}

QFZ_DEVICE bool qfz_filter_is_before(const qfz_filter_place &a, const qfz_filter_place &b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Places in d_first and d_first_low. */
QFZ_DEVICE qfz_filter_place qfz_filter_first(const qfz_gpu_filter &f, uint32_t px)
{
    return {f.d_first[px], f.d_first_low[px]};
}

QFZ_DEVICE void qfz_filter_set_first(const qfz_gpu_filter &f, uint32_t px,
                                     const qfz_filter_place &place)
{
    f.d_first[px] = place.high;
    f.d_first_low[px] = place.low;
}

QFZ_DEVICE uint64_t qfz_filter_position(const qfz_filter_place &place)
{
    return place.high << 32 | place.low;
}

/* Sets a pixel that is a cluster of its own. */
QFZ_DEVICE void qfz_filter_begin_px(const qfz_gpu_filter &f, uint32_t px, uint64_t mass)
{
    f.d_up[px] = QFZ_FILTER_ROOT | (mass < f.least ? QFZ_FILTER_LIVE : 0u);
    f.d_mass[px] = mass;
    qfz_filter_set_first(f, px, {QFZ_FILTER_NO_EDGE, UINT32_MAX});
}

/* The pixels of an edge, which starts from p, and its direction. */
struct qfz_filter_ends {
    uint32_t p, q;
    int dir;
};

QFZ_DEVICE qfz_filter_ends qfz_filter_ends_of(const qfz_gpu_filter &f,
                                              const qfz_filter_place &place)
{
    int64_t y, x;
    qfz_filter_ends ends;
    qfz_position_edge(qfz_filter_position(place), &y, &x, &ends.dir);
    ends.p = (uint32_t)(y - f.y0) * (uint32_t)f.w + (uint32_t)(x - f.x0);
    ends.q = (uint32_t)((int32_t)ends.p + qfz_step_y(ends.dir) * f.w + qfz_step_x(ends.dir));
    return ends;
}

/* Calls use(y, x, dir, level, root of the pixel, root of its neighbour) for each edge that starts
 * from pixel p and joins two components. */
template <typename T, typename USE>
QFZ_DEVICE void qfz_filter_each_edge(const qfz_gpu_filter &f, const qfz_edge_reader<T> &reader,
                                     int n_dirs, uint32_t p, const USE &use)
{
    const int32_t y = (int32_t)(p / (uint32_t)f.w), x = (int32_t)(p % (uint32_t)f.w);
    const uint32_t a = qfz_filter_root(f, p);
    for (int d = 0; d < n_dirs; d++) {
        uint32_t level;
        if (!reader.read(y, x, d, &level)) continue;
        const uint32_t b = qfz_filter_root(f, (uint32_t)((int32_t)p + reader.beyond(d)));
        if (a != b) use(y, x, d, level, a, b);
    }
}

/* Grows clusters inside blocks (filter_block.cu), if it can: N is below 2^32 - 1, and the device
 * has the shared memory. */
bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_edges *edges,
                           const qfz_gpu_filter *filter);
qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                             const qfz_gpu_filter *filter);

/* Calls launch(reader of the edges' levels).  In planes of levels, QFZ_NONE is greater than any
 * level of an edge where there may be neighbours without an edge. */
template <typename LAUNCH>
static inline qfz_status qfz_filter_with_reader(const qfz_gpu_edges *edges, const LAUNCH &launch)
{
    return qfz_with_reader(edges, edges->max_level, launch);
}
