/* SPDX-License-Identifier: MIT */
/* value_order.cuh - an order-preserving map from pixel values to unsigned 32-bit numbers, so that
 * atomic operations find the least and the greatest value. */
#pragma once

#include <stdint.h>

template <typename T> QFZ_DEVICE uint32_t order_of(T value)
{
    return (T)-1 < (T)0 ? (uint32_t)value ^ 0x80000000u : (uint32_t)value;
}
QFZ_DEVICE uint32_t order_of(float value)
{
    const uint32_t bits = __float_as_uint(value + 0.0f); /* one zero */
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* The inverse of order_of(). */
template <typename T> QFZ_DEVICE double value_of(uint32_t order)
{
    return (T)-1 < (T)0 ? (double)(int32_t)(order ^ 0x80000000u) : (double)order;
}
template <> QFZ_DEVICE double value_of<float>(uint32_t order)
{
    return (double)__uint_as_float(order >> 31 ? order ^ 0x80000000u : ~order);
}
