/* SPDX-License-Identifier: MIT */
/* pieces.h - checks a raster of labels in one sweep over its rows.
 *
 * A piece is a connected set of pixels of one label.  Only the pieces that reach the present row
 * are in memory, at most one for each pixel of the row.  Labels are 1..N in raster order, and every
 * label is one piece, exactly if each new label is the largest one so far plus 1, and each piece,
 * once complete, contains the first pixel of its label: a piece that does not is a second one. */
#ifndef QFZ_CHECK_PIECES_H
#define QFZ_CHECK_PIECES_H

#include "check/faults.h"
#include "check/outline.h"
#include "check/row.h"

/* What is checked beside order and connection. */
typedef struct qfz_pieces_rule {
    const qfz_rule *rule; /* borrowed; NULL: there is no source, and equal neighbours join */
    bool must_join;       /* neighbours whose level is at most alpha have one label */
    bool within_alpha;    /* pieces are joined by such edges only; else by any edge */
    bool within_omega;    /* pieces keep within rule->omega */
    uint64_t min_mass;    /* a lighter piece has no neighbour of another label; 0: not checked */
} qfz_pieces_rule;

/* A piece that no further row can extend. */
typedef struct qfz_piece {
    uint64_t label, pixels, mass;
    int64_t x, y;           /* first pixel in raster order */
    int64_t x0, y0, x1, y1; /* bounding box, half-open */
    uint64_t sum_x, sum_y;
    qfz_outline outline;
    bool is_first;   /* it holds the first pixel of its label */
    bool has_others; /* it has a neighbour of another label */
} qfz_piece;

typedef struct qfz_pieces qfz_pieces;

/* Called with each complete piece that is_first; may be NULL. */
typedef qfz_status (*qfz_piece_fn)(void *arg, const qfz_piece *piece, qfz_error *err);

/* w: width of the raster.  rule and faults are borrowed until close. */
qfz_status qfz_pieces_open(qfz_pieces **pieces, const qfz_pieces_rule *rule, int64_t w,
                           qfz_piece_fn came, void *arg, qfz_faults *faults, qfz_error *err);
qfz_status qfz_pieces_row(qfz_pieces *pieces, const qfz_check_row *row, qfz_error *err);

/* After the last row.  *n = the number of labels, *pixels = that of pixels with a label. */
qfz_status qfz_pieces_end(qfz_pieces *pieces, uint64_t *n, uint64_t *pixels, qfz_error *err);
void qfz_pieces_close(qfz_pieces *pieces); /* NULL is allowed */

/* Bytes that open() allocates for each column of the raster. */
int64_t qfz_pieces_bytes(const qfz_pieces_rule *rule);

#endif
