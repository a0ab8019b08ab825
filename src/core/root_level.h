/* SPDX-License-Identifier: MIT */
/* root_level.h - the square root of an integer as the bits of the nearest single; on the CPU and
 * the GPU. */
#ifndef QFZ_ROOT_LEVEL_H
#define QFZ_ROOT_LEVEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/host_device.h"
#include "core/wide.h"

/* A positive single as an integer, from its bits. */
QFZ_HOST_AND_DEVICE uint64_t qfz_integer_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (uint64_t)value;
}

/* Up to 2^50 the root as a double is so far from every midpoint of two singles that rounding twice
 * equals rounding once.  Above, singles near the root are multiples of 4, so their midpoints are
 * integers, and the squares of the two nearest midpoints decide.  The neighbours of a single are
 * those of its bits. */
QFZ_HOST_AND_DEVICE uint32_t qfz_root_level(qfz_u128 square)
{
    const double high_part = (double)(uint64_t)(square >> 64) * 18446744073709551616.0;
    const float nearest = (float)sqrt(high_part + (double)(uint64_t)square);
    uint32_t near;
    memcpy(&near, &nearest, sizeof near);
    if (square >> 50 == 0) return near;
    const uint64_t at = qfz_integer_of_bits(near);
    const uint64_t under = (at + qfz_integer_of_bits(near - 1)) / 2;
    const uint64_t over = (at + qfz_integer_of_bits(near + 1)) / 2;
    const qfz_u128 low = (qfz_u128)under * under, high = (qfz_u128)over * over;
    const bool even = near % 2 == 0;
    if (square < low || (square == low && !even)) return near - 1;
    if (square > high || (square == high && !even)) return near + 1;
    return near;
}

#endif
