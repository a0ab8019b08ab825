/* SPDX-License-Identifier: MIT */
#include "regions/zones.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/wide.h"
#include "regions/gather.h"

struct qfz_zones {
    qfz_type type;
    int n_bands;
    qfz_gather *gather;
};

/* The words of a band in qfz_record.bands, of which the first is the number of pixels. */
static int at_of(const qfz_zones *zones, int band)
{
    return 1 + band * qfz_band_words(zones->type);
}

static void add_records(void *arg, uint64_t *into, const uint64_t *more)
{
    const qfz_zones *const zones = arg;
    qfz_record *const to = (qfz_record *)(void *)into;
    const qfz_record *const from = (const qfz_record *)(const void *)more;
    qfz_record_merge(to, from, QFZ_U8, 0);
    if (zones->n_bands == 0) return;
    to->bands[0] += from->bands[0];
    for (int b = 0; b < zones->n_bands; b++)
        qfz_band_merge(to->bands + at_of(zones, b), from->bands + at_of(zones, b), zones->type);
}

qfz_status qfz_zones_open(qfz_zones **out, qfz_type type, int n_bands, int n_threads, int64_t bytes,
                          const char *folder, qfz_error *err)
{
    qfz_zones *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->type = type;
    made->n_bands = n_bands;
    const int words = n_bands > 0 ? at_of(made, n_bands) : 0;
    const qfz_gather_format format = {.words = qfz_record_words(QFZ_U8, 0) + words,
                                      .key_words = 1,
                                      .add = add_records,
                                      .arg = made};
    const qfz_status st = qfz_gather_open(&made->gather, &format, n_threads, bytes, folder, err);
    if (st != QFZ_OK) {
        qfz_zones_close(made);
        return st;
    }
    *out = made;
    return QFZ_OK;
}

void qfz_zones_close(qfz_zones *zones)
{
    if (!zones) return;
    qfz_gather_close(zones->gather);
    free(zones);
}

/* --------------------------------------------------------------------------------------- a tile */
static void clear(const qfz_zones *zones, qfz_record *record)
{
    const uint64_t label = record->label;
    qfz_record_clear(record, QFZ_U8, 0);
    record->label = label;
    for (int b = 0; b < zones->n_bands; b++)
        qfz_band_clear(record->bands + at_of(zones, b), zones->type);
}

/* Pixels x0 .. x1 - 1 of row y of the raster. */
static void add_run(qfz_record *record, int64_t y, int64_t x0, int64_t x1, uint64_t area)
{
    const uint64_t n = (uint64_t)(x1 - x0);
    const qfz_u128 product = (qfz_u128)area * n;
    const uint64_t more[2] = {(uint64_t)product, (uint64_t)(product >> 64)};
    record->pixels += n;
    record->sum_y += n * (uint64_t)y;
    record->sum_x += n * (uint64_t)(x0 + x1 - 1) / 2;
    if (y < record->y0) record->y0 = y;
    if (x0 < record->x0) record->x0 = x0;
    if (y + 1 > record->y1) record->y1 = y + 1;
    if (x1 > record->x1) record->x1 = x1;
    qfz_words_add(record->area, more, 2);
}

/* Pixels first .. first + n - 1 of an image. */
static void add_values(const qfz_zones *zones, qfz_record *record, const qfz_image *values,
                       int64_t first, int64_t n)
{
    const int64_t plane = values->h * values->w;
    for (int64_t i = first; i < first + n; i++) {
        if (values->valid && !values->valid[i]) continue;
        record->bands[0]++;
        for (int b = 0; b < zones->n_bands; b++)
            qfz_band_add_pixel(record->bands + at_of(zones, b), zones->type, values->pixels,
                               b * plane + i);
    }
}

static qfz_status add_row(qfz_zones *zones, int thread, const qfz_label_tile *tile, int64_t y,
                          uint64_t area, const qfz_image *values, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), first = (y - tile->box.y0) * tile->w;
    const uint64_t *const labels = tile->labels + first;
    for (int64_t x = 0, end; x < w; x = end) {
        uint64_t *record;
        bool is_new;
        for (end = x + 1; end < w && labels[end] == labels[x]; end++)
            ;
        if (labels[x] == 0) continue;
        QFZ_TRY(qfz_gather_find(zones->gather, thread, &labels[x], &record, &is_new, err));
        qfz_record *const zone = (qfz_record *)(void *)record;
        if (is_new) clear(zones, zone);
        add_run(zone, y, tile->box.x0 + x, tile->box.x0 + end, area);
        if (values) add_values(zones, zone, values, first + x, end - x);
    }
    return QFZ_OK;
}

qfz_status qfz_zones_add(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                         const uint64_t *areas, const qfz_image *values, qfz_error *err)
{
    for (int64_t y = tile->box.y0; y < tile->box.y1; y++)
        QFZ_TRY(add_row(zones, thread, tile, y, areas[y - tile->box.y0], values, err));
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ the records
 */
qfz_status qfz_zones_begin_reading(qfz_zones *zones, qfz_error *err)
{
    return qfz_gather_begin_reading(zones->gather, err);
}

qfz_status qfz_zones_next(qfz_zones *zones, const qfz_record **record, qfz_error *err)
{
    const uint64_t *words;
    QFZ_TRY(qfz_gather_next(zones->gather, &words, err));
    *record = (const qfz_record *)(const void *)words;
    return QFZ_OK;
}

uint64_t qfz_zones_pixels(const qfz_record *record)
{
    return record->bands[0];
}

qfz_band_values qfz_zones_band(const qfz_zones *zones, const qfz_record *record, int band)
{
    if (record->bands[0] == 0)
        return (qfz_band_values){.mean = NAN, .min = NAN, .max = NAN, .stddev = NAN};
    return qfz_band_get(record->bands + at_of(zones, band), zones->type, record->bands[0]);
}

double qfz_zones_part(const qfz_zones *zones)
{
    return qfz_gather_part(zones->gather);
}
