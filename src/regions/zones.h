/* SPDX-License-Identifier: MIT */
/* zones.h - the regions of a raster of labels, and statistics of other rasters in them: records by
 * label, whatever the labels, and wherever the pieces of a region lie.
 *
 * A record is a qfz_record without bands, followed by the number of the region's pixels that have
 * values, and the statistics of each band of values (core/band.h). */
#ifndef QFZ_ZONES_H
#define QFZ_ZONES_H

#include "core/record.h"
#include "regions/label_tile.h"

typedef struct qfz_zones qfz_zones;

/* type, n_bands: of the values; n_bands = 0: none.  bytes: of memory for all threads together.
 * folder: of temporary files; borrowed. */
qfz_status qfz_zones_open(qfz_zones **zones, qfz_type type, int n_bands, int n_threads,
                          int64_t bytes, const char *folder, qfz_error *err);
void qfz_zones_close(qfz_zones *zones); /* NULL is allowed */

/* Adds the pixels of a tile.  areas: the weight of each of its rows.  values: an image of
 * tile->h x tile->w pixels; NULL if there are no bands. */
qfz_status qfz_zones_add(qfz_zones *zones, int thread, const qfz_label_tile *tile,
                         const uint64_t *areas, const qfz_image *values, qfz_error *err);

/* After the last tile. */
qfz_status qfz_zones_begin_reading(qfz_zones *zones, qfz_error *err);

/* *record = that of the next label, valid until the next call; NULL after the last one. */
qfz_status qfz_zones_next(qfz_zones *zones, const qfz_record **record, qfz_error *err);

/* The number of pixels of the region that have values. */
uint64_t qfz_zones_pixels(const qfz_record *record);

/* Statistics of a band; those of no pixel are NaN, their sum is 0. */
qfz_band_values qfz_zones_band(const qfz_zones *zones, const qfz_record *record, int band);

/* The part of the records that was read, 0 to 1. */
double qfz_zones_part(const qfz_zones *zones);

#endif
