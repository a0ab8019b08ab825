/* SPDX-License-Identifier: MIT */
#include "core/exact.h"

#include "core/exact_value.h"
#include "core/wide.h"

enum { INTEGER_WORDS = 2 };

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
        add_shifted(sum, QFZ_SUM_WORDS_MAX, 1, QFZ_SUM_INFINITY, value < 0);
        return;
    }
    uint64_t mantissa;
    int shift;
    bool negative;
    qfz_split_single(value, &mantissa, &shift, &negative);
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
        add_shifted(sum, QFZ_SQUARE_WORDS_MAX, 1, QFZ_SQUARE_INFINITY, false);
        return;
    }
    uint64_t mantissa;
    int shift;
    bool negative;
    qfz_split_single(value, &mantissa, &shift, &negative);
    add_shifted(sum, QFZ_SQUARE_WORDS_MAX, mantissa * mantissa, 2 * shift, false);
}

double qfz_sum_value(const uint64_t *sum, qfz_type type)
{
    const bool is_float = qfz_type_is_float(type);
    return qfz_words_value(sum, qfz_sum_words(type), is_float ? -QFZ_SINGLE_BIAS : 0,
                           is_float ? QFZ_SUM_INFINITY : 0);
}

double qfz_square_value(const uint64_t *sum, qfz_type type)
{
    const bool is_float = qfz_type_is_float(type);
    return qfz_words_value(sum, qfz_square_words(type), is_float ? -2 * QFZ_SINGLE_BIAS : 0,
                           is_float ? QFZ_SQUARE_INFINITY : 0);
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
        *(float *)out = qfz_single_mean(sum, count);
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
    const int exponent = qfz_type_is_float(type) ? -2 * QFZ_SINGLE_BIAS : 0;
    if (isinf(qfz_sum_value(sum, type)) || isinf(qfz_square_value(square, type))) return INFINITY;
    uint64_t size[QFZ_SUM_WORDS_MAX], squared[WORDS] = {0}, times[WORDS] = {0};
    (void)qfz_words_absolute(sum, n, size);
    multiply(size, n, size, n, squared);
    multiply(square, n_square, &count, 1, times);
    unsigned borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        const qfz_u128 difference = (qfz_u128)times[i] - squared[i] - borrow;
        times[i] = (uint64_t)difference;
        borrow = (unsigned)(difference >> 64) & 1;
    }
    return qfz_words_magnitude(times, WORDS, exponent) / (double)count / (double)count;
}
