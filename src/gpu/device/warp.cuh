/* SPDX-License-Identifier: MIT */
/* warp.cuh - reductions over the 32 lanes of a warp, which all call and get the result, and prefix
 * sums over the threads of a block.  From compute capability 8.0 on a reduction is an instruction.
 */
#pragma once

#include "gpu/device/device.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { QFZ_SM_THREADS = 1024 }; /* a multiprocessor holds at least as many resident threads */
#define QFZ_WARP_REDUCE(NAME, BUILT_IN, JOIN)                                                      \
    static QFZ_DEVICE uint32_t NAME(uint32_t value)                                                \
    {                                                                                              \
        for (int lanes = QFZ_WARP / 2; lanes > 0; lanes /= 2) {                                    \
            const uint32_t other = __shfl_xor_sync(QFZ_ALL_LANES, value, lanes);                   \
            value = JOIN;                                                                          \
        }                                                                                          \
        return value;                                                                              \
    }
#else
enum { QFZ_SM_THREADS = 1536 };
#define QFZ_WARP_REDUCE(NAME, BUILT_IN, JOIN)                                                      \
    static QFZ_DEVICE uint32_t NAME(uint32_t value)                                                \
    {                                                                                              \
        return BUILT_IN(0xffffffffu, value);                                                       \
    }
#endif

QFZ_WARP_REDUCE(qfz_warp_add, __reduce_add_sync, value + other)
QFZ_WARP_REDUCE(qfz_warp_min, __reduce_min_sync, min(value, other))
QFZ_WARP_REDUCE(qfz_warp_max, __reduce_max_sync, max(value, other))

/* The sum of value over the threads before this one; *total: over all threads.  All THREADS threads
 * of the block call the function.  sums: THREADS / QFZ_WARP words of shared memory, in use until
 * the next barrier. */
template <int THREADS>
QFZ_DEVICE uint32_t qfz_sum_before(uint32_t value, uint32_t *sums, uint32_t *total)
{
    const int lane = (int)threadIdx.x % QFZ_WARP, warp = (int)threadIdx.x / QFZ_WARP;
    uint32_t sum = value;
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == QFZ_WARP - 1) sums[warp] = sum;
    __syncthreads();
    uint32_t before = sum - value;
    *total = 0;
    QFZ_EACH (i, THREADS / QFZ_WARP) {
        if (i < warp) before += sums[i];
        *total += sums[i];
    }
    return before;
}
