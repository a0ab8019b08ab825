/* SPDX-License-Identifier: MIT */
/* span.h - the span of a region: its least and its greatest value in each band.
 *
 * A span is a row of 64-bit words, two for each band: the order of the least value, and how far the
 * order of the greatest value lies below the largest order.  So the span of two regions together is
 * the lesser of each word. */
#ifndef QFZ_SPAN_H
#define QFZ_SPAN_H

#include <string.h>

#include "core/level.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int qfz_span_words(int n_bands)
{
    return 2 * n_bands;
}

/* The order of a value among the values of its type, as a number from 0; both zeros of a float have
 * one order.  src/gpu/device/pixel_type.cuh is the same in CUDA. */
static inline uint32_t qfz_order_of_unsigned(uint32_t value)
{
    return value;
}

static inline uint32_t qfz_order_of_signed(int32_t value)
{
    return (uint32_t)value ^ 0x80000000u;
}

static inline uint32_t qfz_order_of_float(float value)
{
    const float sum = value + 0.0F;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline void qfz_span_write(uint64_t *span, int band, uint32_t least, uint32_t greatest)
{
    span[2 * band] = least;
    span[2 * band + 1] = UINT32_MAX - greatest;
}

/* True if values of these orders differ by more than omega. */
bool qfz_orders_too_wide(qfz_type type, uint32_t least, uint32_t greatest, double omega);

/* True if a span exceeds omega in any band. */
bool qfz_span_too_wide(const qfz_rule *rule, const uint64_t *span);

#ifdef __cplusplus
}
#endif

#endif
