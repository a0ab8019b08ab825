/* SPDX-License-Identifier: MIT */
/* launch.cuh - kernel launches and dynamic shared memory, which no other file has, so that the
 * simulator (tests/sim) replaces this file only. */
#pragma once

#include "gpu/device/device.cuh"

/* Opts the kernel in to more than 48 KiB of dynamic shared memory, where it needs as much. */
static inline qfz_status qfz_allow_shared(qfz_gpu *gpu, const void *kernel, size_t bytes)
{
    if (bytes <= 48u << 10) return QFZ_OK;
    return qfz_gpu_check(
        gpu->err,
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        "shared memory of a kernel");
}

/* kernel<<<grid, block, shared_bytes, gpu->stream>>>(args...), checked; nothing if the grid is
 * empty. A kernel template needs its arguments: qfz_launch(gpu, k<T>, ...). */
template <typename... P, typename... A>
static inline qfz_status qfz_launch(qfz_gpu *gpu, void (*kernel)(P...), dim3 grid, dim3 block,
                                    size_t shared_bytes, A... args)
{
    if (grid.x == 0 || grid.y == 0) return QFZ_OK;
    QFZ_TRY(qfz_allow_shared(gpu, (const void *)kernel, shared_bytes));
    kernel<<<grid, block, shared_bytes, gpu->stream>>>(static_cast<P>(args)...);
    return qfz_gpu_check(gpu->err, cudaGetLastError(), "kernel launch");
}

/* The same with a thread for each of n items; the kernel must check its index. */
template <typename... P, typename... A>
static inline qfz_status qfz_launch_each(qfz_gpu *gpu, void (*kernel)(P...), int64_t n, int block,
                                         A... args)
{
    return qfz_launch(gpu, kernel, dim3(qfz_launch_blocks(n, block)), dim3((unsigned)block), 0,
                      args...);
}

/* Declares TYPE *name, the block's dynamic shared memory. */
#define QFZ_SHARED(TYPE, name)                                                                     \
    extern __shared__ __align__(16) unsigned char qfz_shared_[];                                   \
    TYPE *const name = reinterpret_cast<TYPE *>(qfz_shared_)
