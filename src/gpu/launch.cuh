/* SPDX-License-Identifier: MIT */
/* launch.cuh - the only place that starts a kernel, and the only one that names shared memory
 * whose size a launch decides. */
#ifndef QFZ_GPU_LAUNCH_CUH
#define QFZ_GPU_LAUNCH_CUH

#include "gpu/device.cuh"

/* kernel<<<grid, block, shared_bytes, gpu->stream>>>(args...), checked.  Beyond 48 KiB of shared
 * memory the kernel opts in first.  Overloaded kernels and templates: qfz_launch(gpu, k<T>, ...).
 */
template <typename... P, typename... A>
static inline qfz_status qfz_launch(qfz_gpu *gpu, void (*kernel)(P...), dim3 grid, dim3 block,
                                    size_t shared_bytes, A... args)
{
    if (grid.x == 0 || grid.y == 0) return QFZ_OK;
    if (shared_bytes > 48u << 10)
        QFZ_TRY_CUDA(gpu->err, cudaFuncSetAttribute((const void *)kernel,
                                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    (int)shared_bytes));
    kernel<<<grid, block, shared_bytes, gpu->stream>>>(static_cast<P>(args)...);
    return qfz_gpu_check(gpu->err, cudaGetLastError(), "kernel launch");
}

/* TYPE *name = the block's dynamic shared memory. */
#define QFZ_SHARED(TYPE, name)                                                                     \
    extern __shared__ __align__(16) unsigned char qfz_shared_[];                                   \
    TYPE *const name = reinterpret_cast<TYPE *>(qfz_shared_)

#endif
