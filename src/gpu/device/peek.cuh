/* SPDX-License-Identifier: MIT */
/* peek.cuh - reads of global words that other blocks may be changing meanwhile. */
#ifndef QFZ_GPU_PEEK_CUH
#define QFZ_GPU_PEEK_CUH

#include "gpu/device/device.cuh"

/* A relaxed load that does not come out of a cache of this multiprocessor. */
static __device__ __forceinline__ uint32_t qfz_peek(const uint32_t *word)
{
    return __ldcg(word);
}

static __device__ __forceinline__ uint64_t qfz_peek(const uint64_t *word)
{
    return __ldcg(reinterpret_cast<const unsigned long long *>(word));
}

#endif
