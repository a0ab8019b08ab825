/* SPDX-License-Identifier: MIT */
/* block_rows.h - one row of unit squares of a block, with the levels of their edges: the working
 * format of block.c, block_thin.c, block_keys.c and lightest.c. */
#ifndef QFZ_CPU_BLOCK_ROWS_H
#define QFZ_CPU_BLOCK_ROWS_H

#include "cpu/block.h"

/* One more column on either side: squares across the seams. */
enum { QFZ_SQUARES = QFZ_CPU_BLOCK_SIDE + 2 };

/* Bits of `exists`: edges 1 << kind, and this bit for the unit square to the lower right. */
enum { QFZ_SQUARE = 16 };

/* Bits of `drop`: two horizontal sides, two vertical ones, two diagonals. */
enum {
    QFZ_DROP_TOP = 1,
    QFZ_DROP_BOTTOM = 2,
    QFZ_DROP_LEFT = 4,
    QFZ_DROP_RIGHT = 8,
    QFZ_DROP_FALL = 16,
    QFZ_DROP_RISE = 32
};

/* One row of squares; index 0 is the column before the block. */
typedef struct qfz_square_row {
    uint32_t h[QFZ_SQUARES], v[QFZ_SQUARES], fall[QFZ_SQUARES], rise[QFZ_SQUARES];
    uint64_t key[QFZ_EDGE_KINDS][QFZ_SQUARES]; /* of qfz_square_row_set_keys() */
    uint8_t exists[QFZ_SQUARES];               /* the edges and the square of pixel a */
    uint8_t drop[QFZ_SQUARES];
} qfz_square_row;

/* Sets row->key: the level of an edge, then the higher half of its position (core/position.h);
 * UINT64_MAX if the level is QFZ_NONE.  Different edges of one key have to be taken for such whose
 * order is not known.  (y, x): the place of index 0 in the raster. */
void qfz_square_row_set_keys(qfz_square_row *row, int64_t y, int64_t x, int connectivity);

/* Sets row->drop: the edges of each square that are the heaviest of a cycle in the square, by level
 * or by key.  below: the next row, of which only horizontal edges are read. */
void qfz_square_row_thin(qfz_square_row *row, const qfz_square_row *below, int connectivity);
void qfz_square_row_thin_by_key(qfz_square_row *row, const qfz_square_row *below, int connectivity);

#endif
