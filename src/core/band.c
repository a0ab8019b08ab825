/* SPDX-License-Identifier: MIT */
#include "core/band.h"

#include <math.h>

static double get_double(const uint64_t *word)
{
    double value;
    memcpy(&value, word, sizeof value);
    return value;
}

static void put_double(uint64_t *word, double value)
{
    memcpy(word, &value, sizeof value);
}

/* The last two words of a band. */
static int ends_at(qfz_type type)
{
    return qfz_band_words(type) - 2;
}

void qfz_band_clear(uint64_t *band, qfz_type type)
{
    memset(band, 0, (size_t)qfz_band_words(type) * sizeof *band);
    put_double(band + ends_at(type), INFINITY);
    put_double(band + ends_at(type) + 1, -INFINITY);
}

/* The value of a pixel, -0 as +0: else the order of pixels would decide which zero is the least. */
static double pixel_value(qfz_type type, const void *plane, int64_t i)
{
    switch (type) {
    case QFZ_U8: return ((const uint8_t *)plane)[i];
    case QFZ_I8: return ((const int8_t *)plane)[i];
    case QFZ_U16: return ((const uint16_t *)plane)[i];
    case QFZ_I16: return ((const int16_t *)plane)[i];
    case QFZ_U32: return ((const uint32_t *)plane)[i];
    case QFZ_I32: return ((const int32_t *)plane)[i];
    case QFZ_F32: return (double)((const float *)plane)[i] + 0.0;
    }
    return 0;
}

static void widen(uint64_t *ends, double least, double greatest)
{
    if (least < get_double(ends)) put_double(ends, least);
    if (greatest > get_double(ends + 1)) put_double(ends + 1, greatest);
}

void qfz_band_add_pixel(uint64_t *band, qfz_type type, const void *plane, int64_t i)
{
    const double value = pixel_value(type, plane, i);
    qfz_sum_add_pixel(band, type, plane, i);
    qfz_square_add_pixel(band + qfz_sum_words(type), type, plane, i);
    widen(band + ends_at(type), value, value);
}

void qfz_band_merge(uint64_t *into, const uint64_t *part, qfz_type type)
{
    const int n_sum = qfz_sum_words(type), n_square = qfz_square_words(type);
    const uint64_t *const ends = part + ends_at(type);
    qfz_words_add(into, part, n_sum);
    qfz_words_add(into + n_sum, part + n_sum, n_square);
    widen(into + ends_at(type), get_double(ends), get_double(ends + 1));
}

qfz_band_values qfz_band_get(const uint64_t *band, qfz_type type, uint64_t pixels)
{
    const uint64_t *const square = band + qfz_sum_words(type);
    const uint64_t *const ends = band + ends_at(type);
    const double sum = qfz_sum_value(band, type);
    return (qfz_band_values){.sum = sum,
                             .mean = sum / (double)pixels,
                             .min = get_double(ends),
                             .max = get_double(ends + 1),
                             .stddev = sqrt(qfz_variance(band, square, pixels, type))};
}
