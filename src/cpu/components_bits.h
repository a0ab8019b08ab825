/* SPDX-License-Identifier: MIT */
/* components_bits.h - rows of pixels and of edges as bits: column x is bit x % 64 of word x / 64.
 *
 * Pixel types and distances end here: the code that finds components works on bits.  Bits behind
 * the last column of a row are 0. */
#ifndef QFZ_CPU_COMPONENTS_BITS_H
#define QFZ_CPU_COMPONENTS_BITS_H

#include "core/simd.h"
#include "core/level.h"

enum { QFZ_WORD_PX = 64 };

QFZ_INLINE int64_t qfz_words(int64_t w)
{
    return (w + QFZ_WORD_PX - 1) / QFZ_WORD_PX;
}

/* The first n bits of a word, 0 <= n. */
QFZ_INLINE uint64_t qfz_low_bits(int64_t n)
{
    return n < QFZ_WORD_PX ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

/* Bit i is set if pixel p + i is valid, 0 <= i < n. */
void qfz_valid_bits(const qfz_image *image, int64_t p, int64_t n, uint64_t *bits);

/* Bit i is set if the rule joins pixels p + i and q + i, 0 <= i < n; q lies in direction dir of
 * p.  Validity is not checked. */
void qfz_join_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                   int64_t n, uint64_t *bits);

#endif
