/* SPDX-License-Identifier: MIT */
/* picture_means.h - the samples of a picture in the means of their regions. */
#ifndef QFZ_PICTURE_MEANS_H
#define QFZ_PICTURE_MEANS_H

#include "core/status.h"
#include "regions/picture_grid.h"

/* A sample as it lies in the temporary file of a picture. */
typedef struct qfz_picture_sample {
    uint64_t label; /* 0: no region */
    float value[QFZ_RGB];
    uint32_t color;
} qfz_picture_sample;

/* Replaces what the n_x x n_y samples of the file show by the mean over all samples of the region
 * that show a value.  Samples without a region become white.  row: room for n_x samples. */
qfz_status qfz_picture_means_take(int file, const char *folder, int64_t n_x, int64_t n_y,
                                  qfz_picture_sample *row, uint8_t *shown, qfz_error *err);

#endif
