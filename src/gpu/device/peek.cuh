/* SPDX-License-Identifier: MIT */
/* peek.cuh - reads of words in global memory that other blocks may write at the same time. */
#pragma once

#include "gpu/device/device.cuh"

/* A relaxed load that bypasses the L1 cache of the multiprocessor. */
QFZ_DEVICE uint32_t qfz_peek(const uint32_t *word)
{
    return __ldcg(word);
}

QFZ_DEVICE uint64_t qfz_peek(const uint64_t *word)
{
    return __ldcg(reinterpret_cast<const unsigned long long *>(word));
}
