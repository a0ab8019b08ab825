/* SPDX-License-Identifier: MIT */
/* pixel_type.cuh - from the type of a raster to a type of CUDA C++. */
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
