/* SPDX-License-Identifier: MIT */
/* warp.cuh - reductions over the 32 lanes of a warp, which all call and get the result.  From
 * compute capability 8.0 on each is an instruction. */
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
QFZ_WARP_REDUCE(qfz_warp_or, __reduce_or_sync, value | other)
