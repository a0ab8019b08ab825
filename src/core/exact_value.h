/* SPDX-License-Identifier: MIT */
/* exact_value.h - exact sums (exact.h) as floating-point numbers, and singles as parts of such
 * sums; on the CPU and the GPU. */
#ifndef QFZ_EXACT_VALUE_H
#define QFZ_EXACT_VALUE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/exact.h"
#include "core/host_device.h"

enum {
    QFZ_SINGLE_BIAS = 149,    /* the least single is 2^-149 */
    QFZ_SUM_INFINITY = 340,   /* bit that an infinity sets; finite sums stay below */
    QFZ_SQUARE_INFINITY = 660 /* the same for squares */
};

/* A finite single is +-mantissa * 2^(shift - 149). */
QFZ_HOST_AND_DEVICE void qfz_split_single(float value, uint64_t *mantissa, int *shift,
                                          bool *negative)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> 23 & 0xff);
    *negative = bits >> 31;
    *mantissa = (bits & 0x7fffff) | (exponent ? 0x800000u : 0);
    *shift = exponent ? exponent - 1 : 0;
}

/* The highest bit of n words that is set; -1 if none is. */
QFZ_HOST_AND_DEVICE int qfz_words_top_bit(const uint64_t *words, int n)
{
    int i = n - 1, bit = 0;
    while (i >= 0 && words[i] == 0)
        i--;
    if (i < 0) return -1;
    for (int step = 32; step > 0; step /= 2)
        if (words[i] >> (bit + step)) bit += step;
    return i * 64 + bit;
}

QFZ_HOST_AND_DEVICE bool qfz_words_any_below(const uint64_t *words, int bit)
{
    for (int i = 0; i < bit / 64; i++)
        if (words[i]) return true;
    return bit % 64 && words[bit / 64] << (64 - bit % 64);
}

/* The 64 bits of the number that start at bit `from`. */
QFZ_HOST_AND_DEVICE uint64_t qfz_words_from(const uint64_t *words, int n, int from)
{
    const int i = from / 64, shift = from % 64;
    const uint64_t high = shift && i + 1 < n ? words[i + 1] << (64 - shift) : 0;
    return words[i] >> shift | high;
}

/* A non-negative number times 2^exponent, rounded once (to nearest, ties to even). */
QFZ_HOST_AND_DEVICE double qfz_words_magnitude(const uint64_t *words, int n, int exponent)
{
    const int top = qfz_words_top_bit(words, n);
    if (top < 0) return 0;
    if (top < 53) return ldexp((double)words[0], exponent);
    /* 55 bits: 53 of the result, one to round by, and one that is set if any lower bit is */
    const int from = top - 54;
    uint64_t kept;
    if (from < 0)
        kept = words[0] << -from;
    else
        kept = (qfz_words_from(words, n, from) & ((UINT64_C(1) << 55) - 1)) |
               (qfz_words_any_below(words, from) ? 1 : 0);
    const uint64_t rest = kept & 3, whole = kept >> 2;
    const uint64_t rounded = whole + (rest > 2 || (rest == 2 && whole % 2));
    return ldexp((double)rounded, exponent + from + 2);
}

/* words = |sum|; true if the sum is negative. */
QFZ_HOST_AND_DEVICE bool qfz_words_absolute(const uint64_t *sum, int n, uint64_t *words)
{
    const bool negative = sum[n - 1] >> 63;
    unsigned carry = negative;
    for (int i = 0; i < n; i++) {
        words[i] = (negative ? ~sum[i] : sum[i]) + carry;
        carry = carry && words[i] == 0;
    }
    return negative;
}

/* A sum of n words times 2^exponent; infinity: the bit that an infinity sets, 0 if none can. */
QFZ_HOST_AND_DEVICE double qfz_words_value(const uint64_t *sum, int n, int exponent, int infinity)
{
    uint64_t words[QFZ_SQUARE_WORDS_MAX];
    const bool negative = qfz_words_absolute(sum, n, words);
    /* a finite sum of the other sign may have borrowed from an infinity, but never half of it */
    const bool infinite = infinity != 0 && qfz_words_top_bit(words, n) >= infinity - 1;
    const double size = infinite ? (double)INFINITY : qfz_words_magnitude(words, n, exponent);
    return negative ? -size : size;
}

/* The mean of count singles, from their sum. */
QFZ_HOST_AND_DEVICE float qfz_single_mean(const uint64_t *sum, uint64_t count)
{
    return (float)(qfz_words_value(sum, QFZ_SUM_WORDS_MAX, -QFZ_SINGLE_BIAS, QFZ_SUM_INFINITY) /
                   (double)count);
}

#endif
