/* SPDX-License-Identifier: MIT */
/* block_rows.h - one row of unit squares of a block, with the levels of their edges: the working
 * format of block.c and lightest.c. */
#ifndef QFZ_CPU_BLOCK_ROWS_H
#define QFZ_CPU_BLOCK_ROWS_H

#include "cpu/block.h"

/* One more column on either side: squares across the seams. */
enum { QFZ_SQUARES = QFZ_CPU_BLOCK_SIDE + 2 };

/* Bits of `exists`: edges 1 << kind, and this bit for the unit square to the lower right. */
enum { QFZ_SQUARE = 16 };

/* One row of squares; index 0 is the column before the block. */
typedef struct qfz_square_row {
    uint32_t h[QFZ_SQUARES], v[QFZ_SQUARES], fall[QFZ_SQUARES], rise[QFZ_SQUARES];
    uint8_t exists[QFZ_SQUARES]; /* the edges and the square of pixel a */
    uint8_t drop[QFZ_SQUARES];
} qfz_square_row;

#endif
