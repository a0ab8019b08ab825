/* SPDX-License-Identifier: MIT */
/* block_sum.cuh - sums over the threads of a block. */
#ifndef QFZ_GPU_BLOCK_SUM_CUH
#define QFZ_GPU_BLOCK_SUM_CUH

#include "gpu/device.cuh"

/* The sum of value over the threads before this one; total over all.  All THREADS of a block take
 * part; sums is THREADS / QFZ_WARP words of its shared memory, which stay in use until the next
 * barrier. */
template <int THREADS>
static __device__ uint32_t qfz_sum_before(uint32_t value, uint32_t *sums, uint32_t *total)
{
    const int lane = (int)threadIdx.x % QFZ_WARP, warp = (int)threadIdx.x / QFZ_WARP;
    uint32_t sum = value;
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == QFZ_WARP - 1) sums[warp] = sum;
    __syncthreads();
    uint32_t before = sum - value;
    *total = 0;
#pragma unroll
    for (int i = 0; i < THREADS / QFZ_WARP; i++) {
        if (i < warp) before += sums[i];
        *total += sums[i];
    }
    return before;
}

#endif
