/* SPDX-License-Identifier: MIT */
/* row.h - one row of pixels of a raster under a check, with the edges that end in the row.
 *
 * Rows come from the first of the raster to the last.  An edge is stored at the column of the pixel
 * that it starts from: that of QFZ_RIGHT in the same row, those of the other directions in the row
 * above. */
#ifndef QFZ_CHECK_ROW_H
#define QFZ_CHECK_ROW_H

#include "core/level.h"

typedef struct qfz_check_row {
    int64_t y, w;
    int n_dirs;
    const uint64_t *labels, *labels_above;  /* UINT64_MAX: no whole number >= 0 */
    const uint8_t *valid;                   /* NULL: the source is not known */
    const uint8_t *has[QFZ_MAX_DIRS];       /* 1: the edge exists */
    const uint32_t *levels[QFZ_MAX_DIRS];   /* of edges that exist; NULL: as valid */
    const uint32_t *saliency[QFZ_MAX_DIRS]; /* QFZ_NONE: the raster has no edge here */
    uint64_t mass;                          /* of a pixel of the row */
    const qfz_image *image;                 /* whose pixels are the source's, */
    int64_t at;                             /* those of the row from this one on */
} qfz_check_row;

#endif
