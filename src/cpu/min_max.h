/* SPDX-License-Identifier: MIT */
/* min_max.h - minimum and maximum of two levels. */
#ifndef QFZ_CPU_MIN_MAX_H
#define QFZ_CPU_MIN_MAX_H

#include <stdint.h>

static inline uint32_t qfz_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t qfz_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

#endif
