/* SPDX-License-Identifier: MIT */
#include "regions/zones.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/wide.h"

/* Words of qfz_record.bands; those of the border are there only if borders are measured. */
enum { FIRST_X = 0, SIDES, LENGTH_BELOW, LENGTH_RIGHT, BORDER_END };

struct qfz_zones {
    qfz_type type;
    int n_bands;
    int at_pixels; /* the word of the number of pixels with values */
    qfz_gather *gather;
};

/* The words of a band of values. */
static int at_of(const qfz_zones *zones, int band)
{
    return zones->at_pixels + 1 + band * qfz_band_words(zones->type);
}

static bool has_borders(const qfz_zones *zones)
{
    return zones->at_pixels == BORDER_END;
}

/* Before the rows of the records are merged. */
static void add_first(qfz_record *to, const qfz_record *from)
{
    if (from->y0 < to->y0 || (from->y0 == to->y0 && from->bands[FIRST_X] < to->bands[FIRST_X]))
        to->bands[FIRST_X] = from->bands[FIRST_X];
}

static void add_records(void *arg, uint64_t *into, const uint64_t *more)
{
    const qfz_zones *const zones = arg;
    qfz_record *const to = (qfz_record *)(void *)into;
    const qfz_record *const from = (const qfz_record *)(const void *)more;
    add_first(to, from);
    qfz_record_merge(to, from, QFZ_U8, 0);
    for (int i = SIDES; i < zones->at_pixels; i++)
        to->bands[i] += from->bands[i];
    if (zones->n_bands == 0) return;
    to->bands[zones->at_pixels] += from->bands[zones->at_pixels];
    for (int b = 0; b < zones->n_bands; b++)
        qfz_band_merge(to->bands + at_of(zones, b), from->bands + at_of(zones, b), zones->type);
}

qfz_status qfz_zones_open(qfz_zones **out, qfz_type type, int n_bands, bool borders, int n_threads,
                          int64_t bytes, const char *folder, qfz_error *err)
{
    qfz_zones *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->type = type;
    made->n_bands = n_bands;
    made->at_pixels = borders ? BORDER_END : FIRST_X + 1;
    const int words = n_bands > 0 ? at_of(made, n_bands) : made->at_pixels;
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
    record->bands[FIRST_X] = INT64_MAX;
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
    if (y < record->y0 || (y == record->y0 && (uint64_t)x0 < record->bands[FIRST_X]))
        record->bands[FIRST_X] = (uint64_t)x0;
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
        record->bands[zones->at_pixels]++;
        for (int b = 0; b < zones->n_bands; b++)
            qfz_band_add_pixel(record->bands + at_of(zones, b), zones->type, values->pixels,
                               b * plane + i);
    }
}

/* *zone = the thread's record of the label, until the thread's next record. */
static qfz_status find(qfz_zones *zones, int thread, uint64_t label, qfz_record **zone,
                       qfz_error *err)
{
    uint64_t *record;
    bool is_new;
    QFZ_TRY(qfz_gather_find(zones->gather, thread, &label, &record, &is_new, err));
    *zone = (qfz_record *)(void *)record;
    if (is_new) clear(zones, *zone);
    return QFZ_OK;
}

static qfz_status add_row(qfz_zones *zones, int thread, const qfz_label_tile *tile, int64_t y,
                          uint64_t area, const qfz_image *values, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), first = (y - tile->box.y0) * tile->w;
    const uint64_t *const labels = tile->labels + first;
    for (int64_t x = 0, end; x < w; x = end) {
        qfz_record *zone;
        for (end = x + 1; end < w && labels[end] == labels[x]; end++)
            ;
        if (labels[x] == 0) continue;
        QFZ_TRY(find(zones, thread, labels[x], &zone, err));
        add_run(zone, y, tile->box.x0 + x, tile->box.x0 + end, area);
        if (values) add_values(zones, zone, values, first + x, end - x);
    }
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- borders */
/* n sides between pixels of the labels p and q, one of which may be 0. */
static qfz_status add_sides(qfz_zones *zones, int thread, int at_length, uint64_t p, uint64_t q,
                            int64_t n, uint64_t length, qfz_error *err)
{
    const uint64_t labels[2] = {p, q};
    for (int i = 0; i < 2; i++) {
        qfz_record *zone;
        if (labels[i] == 0) continue;
        QFZ_TRY(find(zones, thread, labels[i], &zone, err));
        zone->bands[SIDES] += (uint64_t)n;
        zone->bands[at_length] += (uint64_t)n * length;
    }
    return QFZ_OK;
}

/* The sides between w pixels of a row and those of the row below; NULL: outside of the raster. */
static qfz_status add_between_rows(qfz_zones *zones, int thread, const uint64_t *upper,
                                   const uint64_t *lower, int64_t w, uint64_t length,
                                   qfz_error *err)
{
    for (int64_t x = 0, end; x < w; x = end) {
        const uint64_t p = upper ? upper[x] : 0, q = lower ? lower[x] : 0;
        for (end = x + 1; end < w && (!upper || upper[end] == p) && (!lower || lower[end] == q);)
            end++;
        if (p != q) QFZ_TRY(add_sides(zones, thread, LENGTH_BELOW, p, q, end - x, length, err));
    }
    return QFZ_OK;
}

/* The right sides of the pixels of a row of the tile, and the left one where the raster begins. */
static qfz_status add_in_row(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                             const uint64_t *labels, uint64_t length, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box);
    if (tile->box.x0 == 0)
        QFZ_TRY(add_sides(zones, thread, LENGTH_RIGHT, 0, labels[0], 1, length, err));
    for (int64_t x = 0; x < w; x++) {
        const uint64_t right = x + 1 < tile->w ? labels[x + 1] : 0;
        if (labels[x] != right)
            QFZ_TRY(add_sides(zones, thread, LENGTH_RIGHT, labels[x], right, 1, length, err));
    }
    return QFZ_OK;
}

static qfz_status add_borders(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                              const uint64_t *lengths, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    if (tile->box.y0 == 0)
        QFZ_TRY(add_between_rows(zones, thread, NULL, tile->labels, w, lengths[0], err));
    for (int64_t y = 0; y < h; y++) {
        const uint64_t *const row = tile->labels + y * tile->w, *const of_row = lengths + 2 * y + 2;
        const uint64_t *const below = y + 1 < tile->h ? row + tile->w : NULL;
        QFZ_TRY(add_in_row(zones, thread, tile, row, of_row[1], err));
        QFZ_TRY(add_between_rows(zones, thread, row, below, w, of_row[0], err));
    }
    return QFZ_OK;
}

qfz_status qfz_zones_add(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                         const uint64_t *areas, const uint64_t *lengths, const qfz_image *values,
                         qfz_error *err)
{
    for (int64_t y = tile->box.y0; y < tile->box.y1; y++)
        QFZ_TRY(add_row(zones, thread, tile, y, areas[y - tile->box.y0], values, err));
    return has_borders(zones) ? add_borders(zones, thread, tile, lengths, err) : QFZ_OK;
}

/* ------------------------------------------------------------------------------------ the records
 */
qfz_gather *qfz_zones_gather(const qfz_zones *zones)
{
    return zones->gather;
}

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

int64_t qfz_zones_first_x(const qfz_record *record)
{
    return (int64_t)record->bands[FIRST_X];
}

qfz_zone_border qfz_zones_border(const qfz_zones *zones, const qfz_record *record)
{
    if (!has_borders(zones)) return (qfz_zone_border){0};
    return (qfz_zone_border){.sides = record->bands[SIDES],
                             .length_below = record->bands[LENGTH_BELOW],
                             .length_right = record->bands[LENGTH_RIGHT]};
}

uint64_t qfz_zones_pixels(const qfz_zones *zones, const qfz_record *record)
{
    return record->bands[zones->at_pixels];
}

qfz_band_values qfz_zones_band(const qfz_zones *zones, const qfz_record *record, int band)
{
    const uint64_t pixels = qfz_zones_pixels(zones, record);
    if (pixels == 0) return (qfz_band_values){.mean = NAN, .min = NAN, .max = NAN, .stddev = NAN};
    return qfz_band_get(record->bands + at_of(zones, band), zones->type, pixels);
}

double qfz_zones_part(const qfz_zones *zones)
{
    return qfz_gather_part(zones->gather);
}
