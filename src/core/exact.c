/* SPDX-License-Identifier: MIT */
#include "core/exact.h"

#include <math.h>
#include <string.h>

#include "core/wide.h"

enum {
    INTEGER_WORDS = 2,
    SINGLE_BIAS = 149,    /* the least single is 2^-149 */
    SUM_INFINITY = 340,   /* bit that an infinity sets; finite sums stay below */
    SQUARE_INFINITY = 660 /* the same for squares */
};

int qfz_sum_words(qfz_type type)
{
    return qfz_type_is_float(type) ? QFZ_SUM_WORDS_MAX : INTEGER_WORDS;
}

int qfz_square_words(qfz_type type)
{
    return qfz_type_is_float(type) ? QFZ_SQUARE_WORDS_MAX : INTEGER_WORDS;
}

void qfz_words_add(uint64_t *a, const uint64_t *b, int n)
{
    unsigned carry = 0;
    for (int i = 0; i < n; i++) {
        const qfz_u128 sum = (qfz_u128)a[i] + b[i] + carry;
        a[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

/* words += m * 2^shift, or -=.  A carry out of the last word is discarded, as two's complement
 * requires. */
static void add_shifted(uint64_t *words, int n, uint64_t m, int shift, bool negative)
{
    const qfz_u128 part = (qfz_u128)m << shift % 64;
    const uint64_t piece[2] = {(uint64_t)part, (uint64_t)(part >> 64)};
    uint64_t carry = 0;
    for (int k = 0, i = shift / 64; i < n && (k < 2 || carry); i++, k++) {
        const qfz_u128 add = (qfz_u128)(k < 2 ? piece[k] : 0) + carry;
        const qfz_u128 was = words[i];
        const qfz_u128 now = negative ? was - add : was + add;
        words[i] = (uint64_t)now;
        carry = (uint64_t)(now >> 64) & 1;
    }
}

/* A finite single is +-mantissa * 2^(shift - 149). */
static void split_single(float value, uint64_t *mantissa, int *shift, bool *negative)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> 23 & 0xff);
    *negative = bits >> 31;
    *mantissa = (bits & 0x7fffff) | (exponent ? 0x800000u : 0);
    *shift = exponent ? exponent - 1 : 0;
}

static int64_t integer_at(qfz_type type, const void *plane, int64_t i)
{
    switch (type) {
    case QFZ_U8: return ((const uint8_t *)plane)[i];
    case QFZ_I8: return ((const int8_t *)plane)[i];
    case QFZ_U16: return ((const uint16_t *)plane)[i];
    case QFZ_I16: return ((const int16_t *)plane)[i];
    case QFZ_U32: return ((const uint32_t *)plane)[i];
    case QFZ_I32: return ((const int32_t *)plane)[i];
    case QFZ_F32: break;
    }
    return 0;
}

static void add_integer(uint64_t *sum, qfz_i128 value)
{
    const qfz_u128 bits = (qfz_u128)value;
    const uint64_t words[INTEGER_WORDS] = {(uint64_t)bits, (uint64_t)(bits >> 64)};
    qfz_words_add(sum, words, INTEGER_WORDS);
}

void qfz_sum_add_pixel(uint64_t *sum, qfz_type type, const void *plane, int64_t i)
{
    if (!qfz_type_is_float(type)) {
        add_integer(sum, integer_at(type, plane, i));
        return;
    }
    const float value = ((const float *)plane)[i];
    if (isinf(value)) {
        add_shifted(sum, QFZ_SUM_WORDS_MAX, 1, SUM_INFINITY, value < 0);
        return;
    }
    uint64_t mantissa;
    int shift;
    bool negative;
    split_single(value, &mantissa, &shift, &negative);
    add_shifted(sum, QFZ_SUM_WORDS_MAX, mantissa, shift, negative);
}

#define ADD_REGIONS(TYPE)                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                \
        if (label[i])                                                                              \
    qfz_sum_add(sums + (int64_t)INTEGER_WORDS * (label[i] - 1), ((const TYPE *)plane)[i])

void qfz_sum_add_regions(uint64_t *sums, qfz_type type, const void *plane, const uint32_t *label,
                         int64_t n)
{
    switch (type) {
    case QFZ_U8: ADD_REGIONS(uint8_t); break;
    case QFZ_I8: ADD_REGIONS(int8_t); break;
    case QFZ_U16: ADD_REGIONS(uint16_t); break;
    case QFZ_I16: ADD_REGIONS(int16_t); break;
    case QFZ_U32: ADD_REGIONS(uint32_t); break;
    case QFZ_I32: ADD_REGIONS(int32_t); break;
    case QFZ_F32:
        for (int64_t i = 0; i < n; i++)
            if (label[i])
                qfz_sum_add_pixel(sums + (int64_t)QFZ_SUM_WORDS_MAX * (label[i] - 1), type, plane,
                                  i);
        break;
    }
}

void qfz_square_add_pixel(uint64_t *sum, qfz_type type, const void *plane, int64_t i)
{
    if (!qfz_type_is_float(type)) {
        const qfz_i128 value = integer_at(type, plane, i);
        add_integer(sum, value * value);
        return;
    }
    const float value = ((const float *)plane)[i];
    if (isinf(value)) {
        add_shifted(sum, QFZ_SQUARE_WORDS_MAX, 1, SQUARE_INFINITY, false);
        return;
    }
    uint64_t mantissa;
    int shift;
    bool negative;
    split_single(value, &mantissa, &shift, &negative);
    add_shifted(sum, QFZ_SQUARE_WORDS_MAX, mantissa * mantissa, 2 * shift, false);
}

static int top_bit(const uint64_t *words, int n)
{
    for (int i = n - 1; i >= 0; i--)
        if (words[i]) return i * 64 + 63 - __builtin_clzll(words[i]);
    return -1;
}

static bool any_below(const uint64_t *words, int bit)
{
    for (int i = 0; i < bit / 64; i++)
        if (words[i]) return true;
    return bit % 64 && words[bit / 64] << (64 - bit % 64);
}

/* The 64 bits of the number that start at bit `from`. */
static uint64_t bits_from(const uint64_t *words, int n, int from)
{
    const int i = from / 64, shift = from % 64;
    const uint64_t high = shift && i + 1 < n ? words[i + 1] << (64 - shift) : 0;
    return words[i] >> shift | high;
}

/* A non-negative number times 2^exponent, rounded once. */
static double magnitude(const uint64_t *words, int n, int exponent)
{
    const int top = top_bit(words, n);
    if (top < 0) return 0;
    if (top < 53) return ldexp((double)words[0], exponent);
    /* 55 bits: 53 of the result, one to round by, and one that is set if any lower bit is */
    const int from = top - 54;
    uint64_t kept;
    if (from < 0)
        kept = words[0] << -from;
    else
        kept = (bits_from(words, n, from) & ((UINT64_C(1) << 55) - 1)) |
               (any_below(words, from) ? 1 : 0);
    const uint64_t rest = kept & 3, whole = kept >> 2;
    const uint64_t rounded = whole + (rest > 2 || (rest == 2 && whole % 2));
    return ldexp((double)rounded, exponent + from + 2);
}

/* words = |sum|; true if the sum is negative. */
static bool absolute(const uint64_t *sum, int n, uint64_t *words)
{
    const bool negative = sum[n - 1] >> 63;
    unsigned carry = negative;
    for (int i = 0; i < n; i++) {
        words[i] = (negative ? ~sum[i] : sum[i]) + carry;
        carry = carry && words[i] == 0;
    }
    return negative;
}

static double value_of(const uint64_t *sum, int n, int exponent, int infinity)
{
    uint64_t words[QFZ_SQUARE_WORDS_MAX];
    const bool negative = absolute(sum, n, words);
    /* a finite sum of the other sign may have borrowed from an infinity, but never half of it */
    const bool infinite = exponent != 0 && top_bit(words, n) >= infinity - 1;
    const double size = infinite ? INFINITY : magnitude(words, n, exponent);
    return negative ? -size : size;
}

double qfz_sum_value(const uint64_t *sum, qfz_type type)
{
    return value_of(sum, qfz_sum_words(type), qfz_type_is_float(type) ? -SINGLE_BIAS : 0,
                    SUM_INFINITY);
}

double qfz_square_value(const uint64_t *sum, qfz_type type)
{
    return value_of(sum, qfz_square_words(type), qfz_type_is_float(type) ? -2 * SINGLE_BIAS : 0,
                    SQUARE_INFINITY);
}

static int64_t integer_mean(const uint64_t *sum, uint64_t count)
{
    const bool is_small =
        sum[1] == 0 && (sum[0] | count) >> 61 == 0; /* the division needs 64 bits */
    if (is_small) return (int64_t)((2 * sum[0] + count) / (2 * count));
    const qfz_i128 total = (qfz_i128)((qfz_u128)sum[1] << 64 | sum[0]);
    const qfz_i128 n = 2 * (qfz_i128)count, doubled = 2 * total + (qfz_i128)count;
    const qfz_i128 quotient = doubled / n;
    return (int64_t)(doubled % n < 0 ? quotient - 1 : quotient);
}

void qfz_sum_mean(const uint64_t *sum, uint64_t count, qfz_type type, void *out)
{
    if (qfz_type_is_float(type)) {
        *(float *)out = (float)(qfz_sum_value(sum, type) / (double)count);
        return;
    }
    const int64_t mean = integer_mean(sum, count);
    switch (qfz_type_bytes(type)) {
    case 1: *(uint8_t *)out = (uint8_t)mean; break;
    case 2: *(uint16_t *)out = (uint16_t)mean; break;
    default: *(uint32_t *)out = (uint32_t)mean; break;
    }
}

/* product (n_a + n_b words) = a * b. */
static void multiply(const uint64_t *a, int n_a, const uint64_t *b, int n_b, uint64_t *product)
{
    memset(product, 0, (size_t)(n_a + n_b) * sizeof *product);
    for (int i = 0; i < n_a; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n_b; j++) {
            const qfz_u128 term = (qfz_u128)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)term;
            carry = (uint64_t)(term >> 64);
        }
        product[i + n_b] = carry;
    }
}

/* (count * sum of squares - square of the sum) / count^2. */
double qfz_variance(const uint64_t *sum, const uint64_t *square, uint64_t count, qfz_type type)
{
    enum { WORDS = 2 * QFZ_SUM_WORDS_MAX };
    const int n = qfz_sum_words(type), n_square = qfz_square_words(type);
    const int exponent = qfz_type_is_float(type) ? -2 * SINGLE_BIAS : 0;
    if (isinf(qfz_sum_value(sum, type)) || isinf(qfz_square_value(square, type))) return INFINITY;
    uint64_t size[QFZ_SUM_WORDS_MAX], squared[WORDS] = {0}, times[WORDS] = {0};
    (void)absolute(sum, n, size);
    multiply(size, n, size, n, squared);
    multiply(square, n_square, &count, 1, times);
    unsigned borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        const qfz_u128 difference = (qfz_u128)times[i] - squared[i] - borrow;
        times[i] = (uint64_t)difference;
        borrow = (unsigned)(difference >> 64) & 1;
    }
    return magnitude(times, WORDS, exponent) / (double)count / (double)count;
}
