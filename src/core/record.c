/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include <string.h>

int qfz_record_words(qfz_type type, int n_bands)
{
    return (int)(sizeof(qfz_record) / sizeof(uint64_t)) + n_bands * qfz_band_words(type);
}

void qfz_record_clear(qfz_record *record, qfz_type type, int n_bands)
{
    memset(record, 0, sizeof *record);
    record->y0 = record->x0 = INT64_MAX;
    for (int b = 0; b < n_bands; b++)
        qfz_band_clear(record->bands + b * qfz_band_words(type), type);
}

static void widen_box(qfz_record *record, int64_t y0, int64_t x0, int64_t y1, int64_t x1)
{
    if (y0 < record->y0) record->y0 = y0;
    if (x0 < record->x0) record->x0 = x0;
    if (y1 > record->y1) record->y1 = y1;
    if (x1 > record->x1) record->x1 = x1;
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
    for (int b = 0; b < image->n_bands; b++)
        qfz_band_add_pixel(record->bands + b * qfz_band_words(image->type), image->type,
                           image->pixels, b * plane + i);
}

void qfz_record_merge(qfz_record *into, const qfz_record *part, qfz_type type, int n_bands)
{
    into->pixels += part->pixels;
    into->sum_y += part->sum_y;
    into->sum_x += part->sum_x;
    widen_box(into, part->y0, part->x0, part->y1, part->x1);
    qfz_words_add(into->area, part->area, 2);
    for (int b = 0; b < n_bands; b++) {
        const int at = b * qfz_band_words(type);
        qfz_band_merge(into->bands + at, part->bands + at, type);
    }
}

qfz_record_band qfz_record_get_band(const qfz_record *record, qfz_type type, int band)
{
    return qfz_band_get(record->bands + band * qfz_band_words(type), type, record->pixels);
}
