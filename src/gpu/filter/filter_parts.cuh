/* SPDX-License-Identifier: MIT */
/* filter_parts.cuh - internals that the files of the area filter share: words, counters, and
 * functions on components. */
#ifndef QFZ_GPU_FILTER_PARTS_CUH
#define QFZ_GPU_FILTER_PARTS_CUH

#include "core/position.h"
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/union_find.cuh"
#include "gpu/filter/filter.cuh"

enum { QFZ_FILTER_THREADS = 256 };

/* d_target of a light root: a root in the direction in which it joins; itself, if it is the one
 * that remains of two that chose the same edge; MUTUAL and the one that remains; NOWHERE.  JOINED:
 * not a root any more, and a mass event of an open component. */
static const uint32_t QFZ_FILTER_MUTUAL = 1u << 31, QFZ_FILTER_NOWHERE = UINT32_MAX,
                      QFZ_FILTER_JOINED = UINT32_MAX - 1;

static const unsigned long long QFZ_FILTER_NO_EDGE = ~0ull;

/* Indices into d_count: the lengths of both pairs of lists, and of the items. */
enum {
    QFZ_FILTER_N_PX = 0,
    QFZ_FILTER_N_LIGHT = 2,
    QFZ_FILTER_N_ITEMS = 4,
    QFZ_FILTER_COUNTERS = 8
};

/* Loops over items i = first .. n - 1; any grid covers all items. */
#define QFZ_FILTER_EACH(i, first, n)                                                               \
    for (uint64_t i = (uint64_t)(first) + (uint64_t)blockIdx.x * QFZ_FILTER_THREADS + threadIdx.x; \
         i < (uint64_t)(n); i += (uint64_t)gridDim.x * QFZ_FILTER_THREADS)

static inline dim3 qfz_filter_grid(const qfz_gpu *gpu, int64_t n)
{
    const unsigned most = (unsigned)gpu->n_sms * 8,
                   wanted = qfz_launch_blocks(n, QFZ_FILTER_THREADS);
    return dim3(wanted < most ? wanted : most);
}

/* ---- Components ------------------------------------------------------------------------------ */

/* The root of a pixel.  No kernel that calls the function makes a root a non-root, so that paths
 * may be shortened meanwhile. */
static __device__ __forceinline__ uint32_t qfz_filter_root(const qfz_gpu_filter &f, uint32_t p)
{
    return qfz_find_shortening<qfz_in_cache>(f.d_up, p);
}

static __device__ __forceinline__ bool qfz_filter_is_light(const qfz_gpu_filter &f, uint32_t root)
{
    return qfz_peek(&f.d_mass[root]) < f.least;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* An edge in the order of (level, position): level << 32 | higher half; lower half. */
struct qfz_filter_place {
    unsigned long long high;
    uint32_t low;
};

static __device__ __forceinline__ qfz_filter_place qfz_filter_place_of(const qfz_gpu_filter &f,
                                                                       int32_t y, int32_t x,
                                                                       int dir, uint32_t level)
{
    const uint64_t position = qfz_position(f.y0 + y, f.x0 + x, dir);
    return {(unsigned long long)level << 32 | position >> 32, (uint32_t)position};
}

static __device__ __forceinline__ uint64_t qfz_filter_position(const qfz_filter_place &place)
{
    return place.high << 32 | place.low;
}

/* Calls use(y, x, dir, level, root of the pixel, root of its neighbour) for each edge that starts
 * from pixel p and joins two components. */
template <typename T, typename USE>
static __device__ __forceinline__ void qfz_filter_each_edge(const qfz_gpu_filter &f,
                                                            const qfz_edge_reader<T> &reader,
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

/* Runs the rounds inside blocks (filter_block.cu), which make the lists of round 1; if it can: N is
 * below 2^32 - 1, and the device has the shared memory. */
bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_filter *filter);
qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                             const qfz_gpu_filter *filter);

/* Calls launch(reader of the edges' levels). */
template <typename LAUNCH>
static inline qfz_status qfz_filter_with_reader(const qfz_gpu_edges *edges, const LAUNCH &launch)
{
    switch (edges->form) {
    case QFZ_EDGES_U8: return launch(qfz_read_edges<uint8_t>(edges, QFZ_NONE));
    case QFZ_EDGES_U16: return launch(qfz_read_edges<uint16_t>(edges, QFZ_NONE));
    default: return launch(qfz_read_edges<uint32_t>(edges, QFZ_NONE));
    }
}

#endif
