/* SPDX-License-Identifier: MIT */
/* pixel_type.cuh - from the type of a raster to a type of CUDA C++, and an order of its values. */
#pragma once

#include "core/level.h"
#include "gpu/device/device.cuh"

/* Calls use() with a value of the type of pixels, an integer type; returns its result. */
template <typename USE>
static inline qfz_status qfz_with_integer(qfz_gpu *gpu, qfz_type type, const USE &use)
{
    switch (type) {
    case QFZ_U8: return use(uint8_t());
    case QFZ_I8: return use(int8_t());
    case QFZ_U16: return use(uint16_t());
    case QFZ_I16: return use(int16_t());
    case QFZ_U32: return use(uint32_t());
    case QFZ_I32: return use(int32_t());
    case QFZ_F32: break;
    }
    return qfz_fail(gpu->err, QFZ_EARG, "GPU: pixel type %d", (int)type);
}

/* The same for any type. */
template <typename USE>
static inline qfz_status qfz_with_type(qfz_gpu *gpu, qfz_type type, const USE &use)
{
    return type == QFZ_F32 ? use(float()) : qfz_with_integer(gpu, type, use);
}

/* An order-preserving map from pixel values to unsigned 32-bit numbers, so that atomic operations
 * find the least and the greatest value. */
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
