/* SPDX-License-Identifier: MIT */
/* forest.h - the minimum spanning forest of the pixels of a raster, in one sweep over its rows.
 *
 * Only pixels of the present row can get further edges.  What earlier rows are to later ones is
 * therefore a forest on the pixels of one row: links, each for the lightest connection of two of
 * them.  A join of two components of which one does not reach the present row is final.  Memory is
 * in proportion to the width of the raster. */
#ifndef QFZ_CHECK_FOREST_H
#define QFZ_CHECK_FOREST_H

#include "check/faults.h"
#include "core/wide.h"

#include "core/level.h"

typedef struct qfz_forest qfz_forest;

/* w: width of the raster; n_dirs: 2 or 4.  faults NULL: none are sought.  Else an edge is a fault
 * whose two pixels meet by edges of a lower level than its own, in these rows or in later ones. */
qfz_status qfz_forest_open(qfz_forest **forest, int64_t w, int n_dirs, qfz_faults *faults,
                           qfz_error *err);

/* Adds an edge that ends in the present row: from column x, in direction dir (core/level.h).
 * QFZ_NONE is a level like others. */
void qfz_forest_edge(qfz_forest *forest, int dir, int64_t x, uint32_t level);

/* Ends the present row. */
qfz_status qfz_forest_row(qfz_forest *forest, qfz_error *err);

/* After the last row: *weight = the sum of all levels of the forest; *n = its edges. */
qfz_status qfz_forest_end(qfz_forest *forest, qfz_u128 *weight, uint64_t *n, qfz_error *err);
void qfz_forest_close(qfz_forest *forest); /* NULL is allowed */

/* Bytes that open() allocates for each column of the raster. */
int64_t qfz_forest_bytes(int n_dirs);

#endif
