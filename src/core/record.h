/* SPDX-License-Identifier: MIT */
/* record.h - statistics of a region, or of the part of a region in one tile; parts add up exactly.
 *
 * A record is a row of 64-bit words: the struct below, then the words of every band (band.h). */
#ifndef QFZ_RECORD_H
#define QFZ_RECORD_H

#include "core/band.h"
#include "core/box.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bit of the label: other tiles may have parts of the region. */
#define QFZ_RECORD_SHARED (UINT64_C(1) << 63)

typedef struct qfz_record {
    uint64_t label;
    uint64_t pixels;
    uint64_t sum_y, sum_x; /* of the row and column numbers of its pixels in the raster */
    int64_t y0, x0, y1, x1;
    uint64_t area[2]; /* sum of the row weights of its pixels, the lower word first */
    uint64_t bands[];
} qfz_record;

int qfz_record_words(qfz_type type, int n_bands);

static inline qfz_record *qfz_record_at(uint64_t *records, int words, int64_t i)
{
    return (qfz_record *)(void *)(records + i * words);
}

/* Makes the record one of a region without pixels. */
void qfz_record_clear(qfz_record *record, qfz_type type, int n_bands);

/* Adds pixel i of an image; it lies at (y, x) in the raster, in a row of weight area. */
void qfz_record_add_pixel(qfz_record *record, const qfz_image *image, int64_t i, int64_t y,
                          int64_t x, uint64_t area);

/* into += part; into->label is unchanged. */
void qfz_record_merge(qfz_record *into, const qfz_record *part, qfz_type type, int n_bands);

typedef qfz_band_values qfz_record_band;

/* Of a region that has pixels. */
qfz_record_band qfz_record_get_band(const qfz_record *record, qfz_type type, int band);

#ifdef __cplusplus
}
#endif

#endif
