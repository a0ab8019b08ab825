/* SPDX-License-Identifier: MIT */
/* packed_bits.h - four bits of each pixel, such as those of its edges (qfz_image.zeroed): two
 * pixels in a byte while they are kept. */
#ifndef QFZ_PACKED_BITS_H
#define QFZ_PACKED_BITS_H

#include <stdint.h>

static inline int64_t qfz_packed_bits_bytes(int64_t n)
{
    return (n + 1) / 2;
}

/* bits: n bytes whose upper halves are zero. */
static inline void qfz_pack_bits(const uint8_t *restrict bits, int64_t n, uint8_t *restrict packed)
{
    for (int64_t i = 0; i < n / 2; i++)
        packed[i] = (uint8_t)(bits[2 * i] | bits[2 * i + 1] << 4);
    if (n % 2) packed[n / 2] = bits[n - 1];
}

static inline void qfz_unpack_bits(const uint8_t *restrict packed, int64_t n,
                                   uint8_t *restrict bits)
{
    for (int64_t i = 0; i < n / 2; i++) {
        bits[2 * i] = packed[i] & 15;
        bits[2 * i + 1] = packed[i] >> 4;
    }
    if (n % 2) bits[n - 1] = packed[n / 2];
}

#endif
