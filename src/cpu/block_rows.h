/* SPDX-License-Identifier: MIT */
/* block_rows.h - rows of unit squares of a block, as block.c and lightest.c look at them. */
#ifndef QFZ_CPU_BLOCK_ROWS_H
#define QFZ_CPU_BLOCK_ROWS_H

#include "cpu/block.h"

/* One column more on either side: squares across the seams. */
enum { QFZ_SQUARES = QFZ_BLOCK_SIDE + 2 };

/* What exists at a pixel: edges 1 << kind, and the unit square to its lower right. */
enum { QFZ_SQUARE = 16 };

/* One row of squares; index 0 is the column before the block. */
typedef struct qfz_square_row {
    uint32_t h[QFZ_SQUARES], v[QFZ_SQUARES], fall[QFZ_SQUARES], rise[QFZ_SQUARES];
    uint8_t exists[QFZ_SQUARES]; /* of pixel a */
    uint8_t drop[QFZ_SQUARES];
} qfz_square_row;

#endif
