/* SPDX-License-Identifier: MIT */
/* tiling.h - the tiles of a raster, and the rows of tiles that a part of a job owns. */
#ifndef QFZ_TILING_H
#define QFZ_TILING_H

#include "core/box.h"

/* Tile (ty, tx) has number ty * n_x + tx. */
typedef struct qfz_tiling {
    int64_t w, h;           /* of the raster, in pixels */
    int64_t tile_w, tile_h; /* the last column and the last row of tiles may be smaller */
    int64_t n_x, n_y;       /* tiles across and down */
} qfz_tiling;

qfz_box qfz_tiling_box(const qfz_tiling *tiling, int64_t tile_y, int64_t tile_x);

/* Part `part` of n_parts, counted from 0, owns a range of whole rows of tiles, which may be empty:
 * from qfz_part_first_row(n_rows, part, n_parts) up to the first row of the next part. */
int64_t qfz_part_first_row(int64_t n_rows, int part, int n_parts);
int qfz_part_of_row(int64_t n_rows, int64_t row, int n_parts);

#endif
