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

enum { QFZ_FILTER_THREADS = 256 };

/* In d_up, the mark of a root; its other bits are the top of its heap.  NIL: no pixel, in heaps. */
static const uint32_t QFZ_FILTER_ROOT = 1u << 31, QFZ_FILTER_NIL = QFZ_FILTER_ROOT - 1;

/* In a byte of d_zeroed, bit d: the edge has filtered level 0, and a level above 0; until the last
 * kernel of qfz_gpu_filter_run() also QFZ_FILTER_MARKED << d: the edge is the first one of a light
 * component. */
enum { QFZ_FILTER_ZEROED = 1, QFZ_FILTER_MARKED = 0x10, QFZ_FILTER_ALL_ZEROED = 0x0f0f0f0f };

/* In d_side: the bits of a side (filter_edges.cuh).  LIST: the pixel is in a component that
 * is no heap yet, but a list of its pixels, each pixel's d_right the next one.  TAKES: the top of a
 * component that has not marked its first edge, or was second to mark it and has not joined yet.
 * HOOKED, at the end: the pixel was the root of a light component, which has joined another over
 * its first edge; d_left has its top. */
enum {
    QFZ_FILTER_SIDE = 0x0f,
    QFZ_FILTER_TAKES = 0x20,
    QFZ_FILTER_LIST = 0x40,
    QFZ_FILTER_HOOKED = 0x80
};

/* In d_side, after the rounds of filter_forest.cu, bit d: the edge is a link. */
enum { QFZ_FILTER_LINK = 0x10 };

/* Blocks (filter_block.cu): how often they are shifted; the steps of a walk at most, and the halves
 * of edges that it may store. */
enum { QFZ_FILTER_PASSES = 3, QFZ_FILTER_MOST_STEPS = 512, QFZ_FILTER_MOST_WAITING = 32 };

static const unsigned long long QFZ_FILTER_NO_EDGE = ~0ull;

/* Indices into d_count: the lengths of lists; and 1 if components joined, else 0. */
enum {
    QFZ_FILTER_N_LEAVING = 0,
    QFZ_FILTER_N_ITEMS,
    QFZ_FILTER_N_JOINS,
    QFZ_FILTER_N_ROOTS,
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

/* ---- Components ------------------------------------------------------------------------------ */

/* Parents in d_up (union_find.cuh). */
struct qfz_filter_parents : qfz_in_global {
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

static QFZ_DEVICE bool qfz_filter_is_open(const qfz_gpu_filter &f, uint32_t root)
{
    return f.d_mass[root] == QFZ_GPU_FILTER_OPEN;
}

/* The root of an open component is a ring pixel. */
static QFZ_DEVICE uint32_t qfz_filter_ring_number(const qfz_gpu_filter &f, uint32_t open_root)
{
    return (uint32_t)qfz_ring_number(f.h, f.w, (int32_t)(open_root / (uint32_t)f.w),
                                     (int32_t)(open_root % (uint32_t)f.w));
}

/* The weight of pixel (y, x), at most N.  That an invalid pixel, which has no edges, weighs N keeps
 * it out of all lists. */
QFZ_DEVICE uint64_t qfz_filter_mass_of_px(const qfz_gpu_filter &f, const uint8_t *valid, int32_t y,
                                          int32_t x)
{
    if (valid && !valid[(int64_t)y * f.w + x]) return f.least;
    if (f.is_open_ring && qfz_filter_is_on_ring(f, y, x)) return QFZ_GPU_FILTER_OPEN;
    const uint64_t mass = f.d_row_mass ? f.d_row_mass[y] : 1;
    return mass < f.least ? mass : f.least;
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

QFZ_DEVICE uint64_t qfz_filter_position(const qfz_filter_place &place)
{
    return place.high << 32 | place.low;
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

/* Grows components inside blocks (filter_block.cu), if it can: N is below 2^32 - 1, and the device
 * has the shared memory.  Those that grow on are in d_leaving then. */
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
