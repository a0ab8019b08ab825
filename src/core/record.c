/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include <math.h>
#include <string.h>

/* Words of one band: sum, squares, least, greatest. */
static int band_words(qfz_type type)
{
    return qfz_sum_words(type) + qfz_square_words(type) + 2;
}

int qfz_record_words(qfz_type type, int n_bands)
{
    return (int)(sizeof(qfz_record) / sizeof(uint64_t)) + n_bands * band_words(type);
}

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
static uint64_t *ends_of(qfz_record *record, qfz_type type, int band)
{
    return record->bands + (band + 1) * band_words(type) - 2;
}

void qfz_record_clear(qfz_record *record, qfz_type type, int n_bands)
{
    memset(record, 0, sizeof *record);
    memset(record->bands, 0, (size_t)(n_bands * band_words(type)) * sizeof *record->bands);
    record->y0 = record->x0 = INT64_MAX;
    for (int b = 0; b < n_bands; b++) {
        put_double(ends_of(record, type, b), INFINITY);
        put_double(ends_of(record, type, b) + 1, -INFINITY);
    }
}

/* The value of a pixel, -0 as +0: else the order of pixels would decide which zero is the least. */
static double pixel_value(const qfz_image *image, int64_t at)
{
    switch (image->type) {
    case QFZ_U8: return ((const uint8_t *)image->pixels)[at];
    case QFZ_I8: return ((const int8_t *)image->pixels)[at];
    case QFZ_U16: return ((const uint16_t *)image->pixels)[at];
    case QFZ_I16: return ((const int16_t *)image->pixels)[at];
    case QFZ_U32: return ((const uint32_t *)image->pixels)[at];
    case QFZ_I32: return ((const int32_t *)image->pixels)[at];
    case QFZ_F32: return (double)((const float *)image->pixels)[at] + 0.0;
    }
    return 0;
}

static void widen_box(qfz_record *record, int64_t y0, int64_t x0, int64_t y1, int64_t x1)
{
    if (y0 < record->y0) record->y0 = y0;
    if (x0 < record->x0) record->x0 = x0;
    if (y1 > record->y1) record->y1 = y1;
    if (x1 > record->x1) record->x1 = x1;
}

static void widen_ends(uint64_t *ends, double least, double greatest)
{
    if (least < get_double(ends)) put_double(ends, least);
    if (greatest > get_double(ends + 1)) put_double(ends + 1, greatest);
}

void qfz_record_add_pixel(qfz_record *record, const qfz_image *image, int64_t i, int64_t y,
                          int64_t x, uint64_t area)
{
    const uint64_t more[2] = {area, 0};
    const int64_t plane = image->h * image->w;
    record->pixels++;
    record->sum_y += (uint64_t)y;
    record->sum_x += (uint64_t)x;
    widen_box(record, y, x, y + 1, x + 1);
    qfz_words_add(record->area, more, 2);
    for (int b = 0; b < image->n_bands; b++) {
        uint64_t *const sum = record->bands + b * band_words(image->type);
        const int64_t at = b * plane + i;
        const double value = pixel_value(image, at);
        qfz_sum_add_pixel(sum, image->type, image->pixels, at);
        qfz_square_add_pixel(sum + qfz_sum_words(image->type), image->type, image->pixels, at);
        widen_ends(ends_of(record, image->type, b), value, value);
    }
}

void qfz_record_merge(qfz_record *into, const qfz_record *part, qfz_type type, int n_bands)
{
    into->pixels += part->pixels;
    into->sum_y += part->sum_y;
    into->sum_x += part->sum_x;
    widen_box(into, part->y0, part->x0, part->y1, part->x1);
    qfz_words_add(into->area, part->area, 2);
    const int n_sum = qfz_sum_words(type), n_square = qfz_square_words(type);
    for (int b = 0; b < n_bands; b++) {
        uint64_t *const to = into->bands + b * band_words(type);
        const uint64_t *const from = part->bands + b * band_words(type);
        qfz_words_add(to, from, n_sum);
        qfz_words_add(to + n_sum, from + n_sum, n_square);
        widen_ends(to + n_sum + n_square, get_double(from + n_sum + n_square),
                   get_double(from + n_sum + n_square + 1));
    }
}

qfz_record_band qfz_record_get_band(const qfz_record *record, qfz_type type, int band)
{
    const uint64_t *const sum = record->bands + band * band_words(type);
    const uint64_t *const square = sum + qfz_sum_words(type);
    const uint64_t *const ends = square + qfz_square_words(type);
    return (qfz_record_band){
        .mean = qfz_sum_value(sum, type) / (double)record->pixels,
        .min = get_double(ends),
        .max = get_double(ends + 1),
        .stddev = sqrt(qfz_variance(sum, square, record->pixels, type)),
    };
}
