/* SPDX-License-Identifier: MIT */
/* level.cuh - levels of pairs of pixels, on the device: bit for bit those of core/level.c. */
#pragma once

#include <math.h>

#include "gpu/device/device.cuh"
#include "core/angle.h"
#include "core/level.h"
#include "core/root_level.h"

/* |a - b| exactly; differences of 32-bit values are taken modulo 2^32. */
template <typename T> QFZ_DEVICE uint32_t qfz_difference(T a, T b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

/* The difference of two equal infinities is 0. */
QFZ_DEVICE float qfz_difference(float a, float b)
{
    return a == b ? 0.0f : fabsf(a - b);
}

/* The level of two values of one band of 32-bit type T, given as words. */
template <typename T> QFZ_DEVICE uint32_t qfz_level_of_words(uint32_t a, uint32_t b)
{
    return qfz_difference((T)a, (T)b);
}
template <> QFZ_DEVICE uint32_t qfz_level_of_words<float>(uint32_t a, uint32_t b)
{
    return __float_as_uint(qfz_difference(__uint_as_float(a), __uint_as_float(b)));
}

/* For squares below 2^50. */
QFZ_DEVICE uint32_t qfz_root_level(uint64_t square)
{
    return __float_as_uint((float)sqrt((double)square));
}

/* Levels of pairs of pixels of type T, band by band: start with type(), set sum = fold(sum, a, b,
 * weight) for each band whose weight is not 0; end(sum) is the level.  Without WEIGHTED the weight
 * is not used.  `type` is wide enough for the sum of QFZ_MAX_BANDS bands. */
template <typename T, int DISTANCE, bool WEIGHTED> struct qfz_level {
    typedef uint32_t type;

    static QFZ_DEVICE uint32_t fold(uint32_t level, T a, T b, float)
    {
        const uint32_t d = qfz_difference(a, b);
        return DISTANCE == QFZ_L1 ? level + d : max(level, d);
    }
    static QFZ_DEVICE uint32_t end(uint32_t level)
    {
        return level;
    }
};

/* 64 bits hold sums of squares of 16-bit differences; 32-bit differences need more. */
template <typename T, typename SUM> struct qfz_square_level {
    typedef SUM type;

    static QFZ_DEVICE SUM fold(SUM level, T a, T b, float)
    {
        const uint32_t d = qfz_difference(a, b);
        return level + (uint64_t)d * d;
    }
    static QFZ_DEVICE uint32_t end(SUM level)
    {
        return qfz_root_level(level);
    }
};
template <typename T> struct qfz_level<T, QFZ_L2, false> : qfz_square_level<T, uint64_t> {
};
template <> struct qfz_level<uint32_t, QFZ_L2, false> : qfz_square_level<uint32_t, qfz_u128> {
};
template <> struct qfz_level<int32_t, QFZ_L2, false> : qfz_square_level<int32_t, qfz_u128> {
};

/* The order of operations is that of core/level.c, without contraction (--fmad=false). */
template <typename T, int DISTANCE, bool WEIGHTED> struct qfz_float_level {
    typedef float type;

    static QFZ_DEVICE float fold(float level, T a, T b, float weight)
    {
        const float d = WEIGHTED ? weight * (float)qfz_difference(a, b) : qfz_difference(a, b);
        if (DISTANCE == QFZ_L1) return level + d;
        return level > d ? level : d;
    }
    static QFZ_DEVICE uint32_t end(float level)
    {
        return __float_as_uint(level);
    }
};

/* Differences as doubles: exact for integers. */
template <typename T> QFZ_DEVICE double qfz_wide_difference(T a, T b)
{
    return (double)qfz_difference(a, b);
}
template <> QFZ_DEVICE double qfz_wide_difference<float>(float a, float b)
{
    return a == b ? 0 : (double)a - (double)b;
}

template <typename T, bool WEIGHTED> struct qfz_wide_level {
    typedef double type;

    static QFZ_DEVICE double fold(double level, T a, T b, float weight)
    {
        const double d = (WEIGHTED ? (double)weight : 1) * qfz_wide_difference<T>(a, b);
        return level + d * d;
    }
    static QFZ_DEVICE uint32_t end(double level)
    {
        return __float_as_uint((float)__dsqrt_rn(level));
    }
};
template <> struct qfz_level<float, QFZ_L1, false> : qfz_float_level<float, QFZ_L1, false> {
};
template <> struct qfz_level<float, QFZ_L2, false> : qfz_wide_level<float, false> {
};
template <> struct qfz_level<float, QFZ_LINF, false> : qfz_float_level<float, QFZ_LINF, false> {
};
template <typename T> struct qfz_level<T, QFZ_L1, true> : qfz_float_level<T, QFZ_L1, true> {
};
template <typename T> struct qfz_level<T, QFZ_L2, true> : qfz_wide_level<T, true> {
};
template <typename T> struct qfz_level<T, QFZ_LINF, true> : qfz_float_level<T, QFZ_LINF, true> {
};

struct qfz_dot_products {
    double ab, aa, bb;
};

template <typename T> struct qfz_level<T, QFZ_SAM, false> {
    typedef qfz_dot_products type;

    static QFZ_DEVICE type fold(type dots, T a, T b, float)
    {
        const double x = (double)a, y = (double)b;
        return type{dots.ab + x * y, dots.aa + x * x, dots.bb + y * y};
    }
    static QFZ_DEVICE uint32_t end(type dots)
    {
        return __float_as_uint(qfz_angle(dots.ab, dots.aa, dots.bb));
    }
};
