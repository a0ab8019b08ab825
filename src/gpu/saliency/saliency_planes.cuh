/* SPDX-License-Identifier: MIT */
/* saliency_planes.cuh - the saliencies of a block's edges while a query closes the open ones.
 *
 * Levels of 16 bits are copied to shared memory: almost every 32 bytes of the planes contain open
 * edges, so whole rows are read and written once, and scattered accesses stay in shared memory.
 * Levels of 32 bits do not fit; atomic operations raise them in the planes, unread. */
#pragma once

#include <cuda_pipeline_primitives.h>

#include "gpu/device/launch.cuh"
#include "gpu/saliency/saliency.cuh"
#include "core/level.h"

template <int N> struct shared_planes {
    __align__(16) uint16_t level[N][QFZ_FOREST_BLOCK_PX]; /* indexed by place_of() */
};

/* The index of a pixel's level. A row is as long as there are banks, and edges that are closed
 * together mostly begin above each other; the groups of eight levels of a row are therefore
 * permuted by bits 0 .. 2 of the row's number. */
QFZ_DEVICE uint32_t place_of(uint32_t pixel)
{
    return pixel ^ (pixel / QFZ_SIDE % 8 * 8);
}

/* N planes in a block's shared memory: none for levels of 32 bits. */
template <typename T, int N> struct query_planes;
template <int N> struct query_planes<uint16_t, N> : shared_planes<N> {
};
template <int N> struct query_planes<uint32_t, N> {
};

/* A block's place in the planes in global memory: its first pixel, the step between rows (pitch)
 * and between planes (n_px), and the block's height and width. */
template <typename T> struct planes_place {
    T *first;
    int64_t n_px;
    int32_t pitch, h, w;
};

template <typename T>
QFZ_DEVICE planes_place<T> planes_at(const qfz_gpu_forest &f, const qfz_block_box &box, T *saliency)
{
    return {saliency + (int64_t)box.y * f.w + box.x, (int64_t)f.h * f.w, f.w, box.h, box.w};
}

/* ---- One level ------------------------------------------------------------------------------- */

/* The level of an edge in global memory. */
template <typename T>
QFZ_DEVICE T *stored_level(const planes_place<T> &place, int direction, int32_t y, int32_t x)
{
    return place.first + (direction * place.n_px + (y * place.pitch + x));
}

/* The level of an edge during the query. */
template <int N>
QFZ_DEVICE uint16_t *level_at(query_planes<uint16_t, N> &planes, const planes_place<uint16_t> &,
                              int direction, uint32_t y, uint32_t x)
{
    return &planes.level[direction][place_of(y * QFZ_SIDE + x)];
}

template <int N>
QFZ_DEVICE uint32_t *level_at(query_planes<uint32_t, N> &, const planes_place<uint32_t> &place,
                              int direction, uint32_t y, uint32_t x)
{
    return stored_level(place, direction, (int32_t)y, (int32_t)x);
}

/* Raises a level to at least `least`. At most one thread at a time has a given edge; the atomic
 * form need not be waited for. */
QFZ_DEVICE void raise_level(uint16_t *level, uint32_t least)
{
    *level = (uint16_t)max((uint32_t)*level, least);
}

QFZ_DEVICE void raise_level(uint32_t *level, uint32_t least)
{
    (void)atomicMax(level, least);
}

/* ---- Whole rows ------------------------------------------------------------------------------ */

/* A whole block whose rows are aligned is copied by uint4. */
enum { PLANES_AT_ONCE = sizeof(uint4) / sizeof(uint16_t), PLANES_ROW = QFZ_SIDE / PLANES_AT_ONCE };

QFZ_DEVICE bool planes_are_even(const planes_place<uint16_t> &place)
{
    return place.h == QFZ_SIDE && place.w == QFZ_SIDE && place.pitch % PLANES_AT_ONCE == 0 &&
           reinterpret_cast<uintptr_t>(place.first) % sizeof(uint4) == 0;
}

/* use(plane, pixel of the block, where it is in the planes), for all of a block one by one. */
template <int N, int THREADS, typename USE>
QFZ_DEVICE void each_level(const planes_place<uint16_t> &place, USE use)
{
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < QFZ_FOREST_BLOCK_PX; i += THREADS) {
        const int y = i / QFZ_SIDE, x = i % QFZ_SIDE;
#pragma unroll 1
        for (int plane = 0; plane < N && y < place.h && x < place.w; plane++)
            use(plane, i, place.first + plane * place.n_px + (int64_t)y * place.pitch + x);
    }
}

/* The index of the thread's first eight levels of a whole block, counted in eights. */
QFZ_DEVICE int first_eight(void)
{
    return (int)place_of(threadIdx.x * PLANES_AT_ONCE) / PLANES_AT_ONCE;
}

/* The same in global memory; the following ones are THREADS / PLANES_ROW rows further on. */
template <typename WORD>
QFZ_DEVICE WORD *eight_levels_at(const planes_place<uint16_t> &place, int plane)
{
    const int y = (int)threadIdx.x / PLANES_ROW, x = (int)threadIdx.x % PLANES_ROW * PLANES_AT_ONCE;
    return reinterpret_cast<WORD *>(place.first + plane * place.n_px + (int64_t)y * place.pitch +
                                    x);
}

/* Starts copying a block's levels to shared memory. The copies of whole blocks are asynchronous
 * until await_planes(), which waits for the calling thread's copies only: a barrier must follow. */
template <int THREADS, int N>
QFZ_DEVICE void fetch_planes(const planes_place<uint16_t> &place, shared_planes<N> &planes)
{
    enum { EACH = QFZ_FOREST_BLOCK_PX / PLANES_AT_ONCE / THREADS, ROWS = THREADS / PLANES_ROW };
    if (!planes_are_even(place)) {
        each_level<N, THREADS>(place, [&](int plane, int i, const uint16_t *level) {
            planes.level[plane][place_of((uint32_t)i)] = __ldcg(level);
        });
        return;
    }
    const int64_t step = (int64_t)place.pitch * ROWS / PLANES_AT_ONCE;
    QFZ_EACH (n, N * EACH) {
        const int plane = n / EACH, i = first_eight() + n % EACH * THREADS;
        __pipeline_memcpy_async(reinterpret_cast<uint4 *>(planes.level[plane]) + i,
                                eight_levels_at<const uint4>(place, plane) + n % EACH * step,
                                sizeof(uint4));
    }
    __pipeline_commit();
}

template <int THREADS, int N>
QFZ_DEVICE void fetch_planes(const planes_place<uint32_t> &, query_planes<uint32_t, N> &)
{
}

QFZ_DEVICE void await_planes(void)
{
    __pipeline_wait_prior(0);
}

/* Copies the levels back to global memory, except the first column of edges down to the left, which
 * the block to the left writes. */
template <int THREADS, int N>
QFZ_DEVICE void store_planes(const planes_place<uint16_t> &place, const shared_planes<N> &planes)
{
    enum { EACH = QFZ_FOREST_BLOCK_PX / PLANES_AT_ONCE / THREADS, ROWS = THREADS / PLANES_ROW };
    if (!planes_are_even(place)) {
        each_level<N, THREADS>(place, [&](int plane, int i, uint16_t *level) {
            if (plane == QFZ_BELOW_LEFT && i % QFZ_SIDE == 0) return;
            *level = planes.level[plane][place_of((uint32_t)i)];
        });
        return;
    }
    const int64_t step = (int64_t)place.pitch * ROWS / PLANES_AT_ONCE;
    QFZ_EACH (n, N * EACH) {
        const int plane = n / EACH, i = first_eight() + n % EACH * THREADS;
        const uint4 eight = reinterpret_cast<const uint4 *>(planes.level[plane])[i];
        uint4 *const to = eight_levels_at<uint4>(place, plane) + n % EACH * step;
        if (plane != QFZ_BELOW_LEFT || threadIdx.x % PLANES_ROW > 0) {
            *to = eight;
            continue;
        }
        reinterpret_cast<uint16_t *>(to)[1] = (uint16_t)(eight.x >> 16);
        reinterpret_cast<uint32_t *>(to)[1] = eight.y;
        reinterpret_cast<uint2 *>(to)[1] = make_uint2(eight.z, eight.w);
    }
}

template <int THREADS, int N>
QFZ_DEVICE void store_planes(const planes_place<uint32_t> &, const query_planes<uint32_t, N> &)
{
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Launches a query of all blocks; MEMORY: the shared memory of one. */
template <template <typename> class MEMORY, typename T>
static qfz_status launch_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks,
                               void (*kernel)(qfz_saliency_blocks, T *), int threads,
                               void *d_saliency)
{
    return qfz_launch(gpu, kernel, dim3((unsigned)blocks->forest.n_blocks), dim3((unsigned)threads),
                      sizeof(MEMORY<T>), *blocks, static_cast<T *>(d_saliency));
}
