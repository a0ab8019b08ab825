/* SPDX-License-Identifier: MIT */
/* band.h - statistics of one band of a set of pixels, as a row of 64-bit words that add up exactly.
 *
 * The words: the sum, the sum of squares (exact.h), the least and the greatest value (the bits of a
 * double). */
#ifndef QFZ_BAND_H
#define QFZ_BAND_H

#include "core/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int qfz_band_words(qfz_type type)
{
    return qfz_sum_words(type) + qfz_square_words(type) + 2;
}

/* Makes the band one of no pixels. */
void qfz_band_clear(uint64_t *band, qfz_type type);

/* Adds pixel i of a plane. */
void qfz_band_add_pixel(uint64_t *band, qfz_type type, const void *plane, int64_t i);

/* into += part. */
void qfz_band_merge(uint64_t *into, const uint64_t *part, qfz_type type);

typedef struct qfz_band_values {
    double sum, mean, min, max, stddev; /* population standard deviation */
} qfz_band_values;

/* Of at least one pixel. */
qfz_band_values qfz_band_get(const uint64_t *band, qfz_type type, uint64_t pixels);

#ifdef __cplusplus
}
#endif

#endif
