/* SPDX-License-Identifier: MIT */
/* rows.h - consecutive rows of a tile's pixels, as they pass from the reader to an engine. */
#ifndef QFZ_ROWS_H
#define QFZ_ROWS_H

#include <stdint.h>

typedef struct qfz_rows {
    int64_t y0, y1;     /* rows y0..y1 - 1 of the tile */
    const void *pixels; /* of the first band, from row y0 on */
    int64_t plane_px;   /* distance from one band to the next, in pixels */
} qfz_rows;

#endif
