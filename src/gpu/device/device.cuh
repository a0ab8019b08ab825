/* SPDX-License-Identifier: MIT */
/* device.cuh - what every launcher of this room stands on.
 *
 * A launcher validates, launches kernels on gpu->stream and checks each launch; it neither
 * allocates nor waits.  Scratch memory comes from the caller, who asks the matching _bytes()
 * function first.  Only engine_cuda.cu and worker files wait for a stream.
 *
 * So that every kernel also runs on the host, thread by thread, under a scheduler that looks for
 * races (tests/sim), kernels keep to this: launches by qfz_launch(), dynamic shared memory by
 * QFZ_SHARED(), atomics and votes by CUDA's built-in functions, no inline PTX, no cooperative
 * groups, no CUB inside kernels (collective.cuh holds what CUB does for whole arrays), and no block
 * that waits for another block. */
#ifndef QFZ_GPU_DEVICE_CUH
#define QFZ_GPU_DEVICE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "core/status.h"

enum { QFZ_WARP = 32 };

/* A stream of one device, and where failures are told.  err is never NULL during a call. */
typedef struct qfz_gpu {
    cudaStream_t stream;
    int n_sms;
    size_t shared_max; /* dynamic shared memory that a block may have after opting in, bytes */
    bool overlaps;     /* compute capability 9.0 or newer: see qfz_launch_early() */
    qfz_error *err;
} qfz_gpu;

/* QFZ_OK, or the failure told: QFZ_ENOMEM where device memory ran out, else QFZ_EGPU. */
qfz_status qfz_gpu_check(qfz_error *err, cudaError_t result, const char *what);

#define QFZ_TRY_CUDA(err, call) QFZ_TRY(qfz_gpu_check((err), (call), #call))

/* Blocks of `block` threads for n items, one each; for kernels that guard their index. */
static inline unsigned qfz_launch_blocks(int64_t n, int block)
{
    return (unsigned)((n + block - 1) / block);
}

/* Slices one allocation.  With base == NULL it only counts, so that one function both says how
 * much is needed (carve.used) and contexts out the parts. */
typedef struct qfz_carve {
    char *base;
    size_t used;
} qfz_carve;

static inline void *qfz_carve_bytes(qfz_carve *carve, size_t bytes)
{
    const size_t align = 256, at = carve->used;
    carve->used += (bytes + align - 1) / align * align;
    return carve->base ? carve->base + at : NULL;
}

template <typename T> static inline void qfz_carve_take(qfz_carve *carve, T **part, int64_t n)
{
    *part = (T *)qfz_carve_bytes(carve, (size_t)n * sizeof(T));
}

#endif
