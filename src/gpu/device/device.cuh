/* SPDX-License-Identifier: MIT */
/* device.cuh - the stream, the error checks and the memory layout that all launchers use.
 *
 * A launcher is a host function that validates its arguments, launches kernels on gpu->stream and
 * checks each launch.  A launcher neither allocates memory nor synchronises; only engine/ does. The
 * caller owns the device memory of all d_ pointers, and passes scratch memory of the size that the
 * matching _bytes() function returns.
 *
 * All kernels also run on the host, in a simulator that looks for races (tests/sim).  Therefore a
 * launcher calls qfz_launch(); a kernel declares dynamic shared memory with QFZ_SHARED(), uses
 * CUDA's built-in functions for atomics and votes, and has no inline PTX, no cooperative groups, no
 * CUB calls (collective.cuh has CUB's operations on whole arrays) and no block that waits for
 * another block. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "core/status.h"

enum { QFZ_WARP = 32 };
static const uint32_t QFZ_ALL_LANES = UINT32_MAX;

/* Begins the definition of a function that only kernels call.  In a .cu file, the function is
 * static or in an unnamed namespace, because two of these files may have functions of one name. */
#define QFZ_DEVICE __device__ __forceinline__

/* The same for what is hardly ever called: its code is not copied to where it is. */
#define QFZ_APART __device__ __noinline__

/* for (int i = 0; i < n; i++), unrolled: what i indexes can be in registers. n is a constant. */
#define QFZ_EACH(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)

/* A stream of one device, and the error that functions fill in; err is not NULL during a call. */
typedef struct qfz_gpu {
    cudaStream_t stream;
    int n_sms;
    size_t shared_max; /* dynamic shared memory that a block may have after opting in, bytes */
    qfz_error *err;
} qfz_gpu;

/* Converts a CUDA result: QFZ_OK; QFZ_ENOMEM where device memory ran out; else QFZ_EGPU.  The
 * message names `what` and has CUDA's text.  Clears CUDA's last error. */
qfz_status qfz_gpu_check(qfz_error *err, cudaError_t result, const char *what);

#define QFZ_TRY_CUDA(err, call) QFZ_TRY(qfz_gpu_check((err), (call), #call))

/* QFZ_EARG unless a tile's pixels can be numbered: at least one, fewer than 2^31. */
qfz_status qfz_gpu_check_size(qfz_gpu *gpu, int32_t h, int32_t w);

/* Sets all bytes of n items to `byte`. */
template <typename T>
static inline qfz_status qfz_gpu_fill(qfz_gpu *gpu, T *d_items, int byte, int64_t n)
{
    const size_t bytes = (size_t)n * sizeof(T);
    return qfz_gpu_check(gpu->err, cudaMemsetAsync(d_items, byte, bytes, gpu->stream), "fill");
}

/* The number of blocks of `block` threads that have a thread for each of n items.  The kernel must
 * check its index. */
static inline unsigned qfz_launch_blocks(int64_t n, int block)
{
    return (unsigned)((n + block - 1) / block);
}

/* The same, but at most per_sm blocks a multiprocessor: the kernel must loop over its items. */
static inline dim3 qfz_launch_grid(const qfz_gpu *gpu, int64_t n, int block, int per_sm)
{
    const unsigned most = (unsigned)(gpu->n_sms * per_sm), wanted = qfz_launch_blocks(n, block);
    return dim3(wanted < most ? wanted : most);
}

/* A relaxed load that bypasses the L1 cache of the multiprocessor, of a word in global memory that
 * other blocks may write at the same time. */
QFZ_DEVICE uint32_t qfz_peek(const uint32_t *word)
{
    return __ldcg(word);
}

QFZ_DEVICE uint64_t qfz_peek(const uint64_t *word)
{
    return __ldcg(reinterpret_cast<const unsigned long long *>(word));
}

/* Divides one allocation into parts aligned to 256 bytes.  With base == NULL all parts are NULL and
 * only `used` advances: one function computes the size of an allocation and sets the pointers. */
typedef struct qfz_carve {
    char *base;
    size_t used;
} qfz_carve;

/* The next part, of `bytes` bytes; NULL if base is NULL. */
static inline void *qfz_carve_bytes(qfz_carve *carve, size_t bytes)
{
    const size_t align = 256, at = carve->used;
    carve->used += (bytes + align - 1) / align * align;
    return carve->base ? carve->base + at : NULL;
}

/* The same; *part has room for n items. */
template <typename T> static inline void qfz_carve_take(qfz_carve *carve, T **part, int64_t n)
{
    *part = (T *)qfz_carve_bytes(carve, (size_t)n * sizeof(T));
}
