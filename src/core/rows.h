/* SPDX-License-Identifier: MIT */
/* rows.h - some rows of a tile, on their way from who reads them to who works on them. */
#ifndef QFZ_ROWS_H
#define QFZ_ROWS_H

#include <stdint.h>

typedef struct qfz_rows {
    int64_t y0, y1;     /* rows of the tile */
    const void *pixels; /* of the first band, from row y0 on ... */
    int64_t plane_px;   /* ... and of each other band as many pixels further */
} qfz_rows;

#endif
