/* SPDX-License-Identifier: MIT */
/* zones.h - the regions of a raster of labels, and statistics of other rasters in them: records by
 * label, whatever the labels, and wherever the pieces of a region lie.
 *
 * A record is a qfz_record without bands, followed by the column of the region's first pixel; if
 * borders are measured, by the number and lengths of the sides of its pixels at its border; if
 * there are bands of values, by the number of its pixels that have values, and the statistics of
 * each band (core/band.h). */
#ifndef QFZ_ZONES_H
#define QFZ_ZONES_H

#include "core/record.h"
#include "regions/gather.h"
#include "regions/label_tile.h"

typedef struct qfz_zones qfz_zones;

/* Sides of pixels with another label, 0 or the outside of the raster behind them. */
typedef struct qfz_zone_border {
    uint64_t sides;
    uint64_t length_below, length_right; /* sums of weights: between rows, between columns */
} qfz_zone_border;

/* type, n_bands: of the values; n_bands = 0: none.  has_borders: borders are measured.  bytes: of
 * memory for all threads together.  folder: of temporary files; borrowed. */
qfz_status qfz_zones_open(qfz_zones **zones, qfz_type type, int n_bands, bool has_borders,
                          int n_threads, int64_t bytes, const char *folder, qfz_error *err);
void qfz_zones_close(qfz_zones *zones); /* NULL is allowed */

/* Adds the pixels of a tile, which has a margin if borders are measured.  areas: the weight of each
 * of its rows.  lengths: of the row above the tile, then of each of its rows, the weight of the
 * side below and of the right side of a pixel.  values: an image of tile->h x tile->w pixels; NULL
 * if there are no bands. */
qfz_status qfz_zones_add(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                         const uint64_t *areas, const uint64_t *lengths, const qfz_image *values,
                         qfz_error *err);

/* What the tiles have added so far; borrowed, for records of other processes. */
qfz_gather *qfz_zones_gather(const qfz_zones *zones);

/* After the last tile. */
qfz_status qfz_zones_begin_reading(qfz_zones *zones, qfz_error *err);

/* *record = that of the next label, valid until the next call; NULL after the last one. */
qfz_status qfz_zones_next(qfz_zones *zones, const qfz_record **record, qfz_error *err);

/* The column of the region's first pixel, which is in row record->y0. */
int64_t qfz_zones_first_x(const qfz_record *record);

/* Zeros if borders are not measured. */
qfz_zone_border qfz_zones_border(const qfz_zones *zones, const qfz_record *record);

/* The number of pixels of the region that have values. */
uint64_t qfz_zones_pixels(const qfz_zones *zones, const qfz_record *record);

/* Statistics of a band; those of no pixel are NaN, their sum is 0. */
qfz_band_values qfz_zones_band(const qfz_zones *zones, const qfz_record *record, int band);

/* The part of the records that was read, 0 to 1. */
double qfz_zones_part(const qfz_zones *zones);

#endif
