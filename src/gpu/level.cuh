/* SPDX-License-Identifier: MIT */
/* level.cuh - level keys of pairs of pixels on the device: to the bit those of src/level.c. */
#ifndef QFZ_GPU_LEVEL_CUH
#define QFZ_GPU_LEVEL_CUH

#include <math.h>

#include "gpu/device.cuh"
#include "rule.h"
#include "wide.h"

/* A sum of squares: 64 bits hold 1024 squares of 16 bits, not of 32. */
template <typename T> struct qfz_square_of {
    typedef uint64_t type;
};
template <> struct qfz_square_of<uint32_t> {
    typedef qfz_u128 type;
};
template <> struct qfz_square_of<int32_t> {
    typedef qfz_u128 type;
};

/* |a - b| exactly; differences of 32-bit values are taken modulo 2^32. */
template <typename T> static __device__ __forceinline__ uint32_t qfz_difference(T a, T b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

/* Equal values differ by 0, infinite ones too. */
static __device__ __forceinline__ float qfz_difference(float a, float b)
{
    return a == b ? 0.0f : fabsf(a - b);
}

static __device__ __forceinline__ uint32_t qfz_root_key(uint64_t square)
{
    return __float_as_uint((float)sqrt((double)square));
}

/* The nearest single to the root of an integer; see root_key() in src/level.c.  The first guess
 * need only be within one single of it. */
static __device__ __forceinline__ uint32_t qfz_root_key(qfz_u128 square)
{
    if (square >> 50 == 0) return qfz_root_key((uint64_t)square);
    const double wide = (double)(uint64_t)(square >> 64) * 18446744073709551616.0;
    const uint32_t near = __float_as_uint((float)sqrt(wide + (double)(uint64_t)square));
    const uint64_t at = (uint64_t)__uint_as_float(near);
    const uint64_t under = (at + (uint64_t)__uint_as_float(near - 1)) / 2;
    const uint64_t over = (at + (uint64_t)__uint_as_float(near + 1)) / 2;
    const qfz_u128 low = (qfz_u128)under * under;
    const qfz_u128 high = (qfz_u128)over * over;
    const bool even = near % 2 == 0;
    if (square < low || (square == low && !even)) return near - 1;
    if (square > high || (square == high && !even)) return near + 1;
    return near;
}

/* Keys of pixels of type T.  key() is of one band's two values; planes() of pixels p and q of
 * n_bands planes of n_px.  Both are the same for one band. */
template <typename T, int DISTANCE> struct qfz_level {
    static __device__ __forceinline__ uint32_t key(T a, T b)
    {
        const uint32_t d = qfz_difference(a, b);
        return DISTANCE == QFZ_L2 ? __float_as_uint((float)d) : d; /* the root of a square */
    }

    static __device__ __forceinline__ uint32_t planes(const T *pixels, int64_t n_px, int n_bands,
                                                      int64_t p, int64_t q)
    {
        uint32_t level = 0;
        typename qfz_square_of<T>::type square = 0;
        for (int b = 0; b < n_bands; b++) {
            const uint32_t d = qfz_difference(pixels[b * n_px + p], pixels[b * n_px + q]);
            if (DISTANCE == QFZ_L1)
                level += d;
            else if (DISTANCE == QFZ_LINF)
                level = max(level, d);
            else
                square += (uint64_t)d * d;
        }
        return DISTANCE == QFZ_L2 ? qfz_root_key(square) : level;
    }
};

/* The order of operations is src/level.c's; nothing may be contracted (--fmad=false). */
template <int DISTANCE> struct qfz_level<float, DISTANCE> {
    static __device__ __forceinline__ float fold(float level, float d)
    {
        if (DISTANCE == QFZ_L1) return level + d;
        if (DISTANCE == QFZ_L2) return level + d * d;
        return level > d ? level : d;
    }

    static __device__ __forceinline__ uint32_t end(float level)
    {
        return __float_as_uint(DISTANCE == QFZ_L2 ? __fsqrt_rn(level) : level);
    }

    static __device__ __forceinline__ uint32_t key(float a, float b)
    {
        return end(fold(0, qfz_difference(a, b)));
    }

    static __device__ __forceinline__ uint32_t planes(const float *pixels, int64_t n_px,
                                                      int n_bands, int64_t p, int64_t q)
    {
        float level = 0;
        for (int b = 0; b < n_bands; b++)
            level = fold(level, qfz_difference(pixels[b * n_px + p], pixels[b * n_px + q]));
        return end(level);
    }
};

#endif
