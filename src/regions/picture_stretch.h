/* SPDX-License-Identifier: MIT */
/* picture_stretch.h - the values of an image as red, green and blue: each band from its 2 %
 * quantile (0) to its 98 % quantile (255), of at most 65,536 samples spread over the picture. */
#ifndef QFZ_PICTURE_STRETCH_H
#define QFZ_PICTURE_STRETCH_H

#include "core/status.h"
#include "regions/picture_grid.h"

typedef struct qfz_picture_stretch {
    int64_t every; /* how many samples lie between two that are kept */
    int64_t n;
    float *kept[QFZ_RGB];
    float low[QFZ_RGB], gain[QFZ_RGB];
} qfz_picture_stretch;

/* n: samples of the picture.  The caller calls close() in any case. */
qfz_status qfz_picture_stretch_open(qfz_picture_stretch *stretch, int64_t n, qfz_error *err);
void qfz_picture_stretch_close(qfz_picture_stretch *stretch);

/* Sample i; NaN: no value. */
void qfz_picture_stretch_add(qfz_picture_stretch *stretch, int64_t i, const float value[QFZ_RGB]);

/* After the last sample. */
void qfz_picture_stretch_find(qfz_picture_stretch *stretch);
void qfz_picture_stretch_apply(const qfz_picture_stretch *stretch, const float value[QFZ_RGB],
                               uint8_t rgb[QFZ_RGB]); /* white: no value */

#endif
