/* SPDX-License-Identifier: MIT */
/* forest_rows.h - the rows of the table of a hierarchy: the edges of the minimum spanning forest
 * between regions of level 0.
 *
 * A tile makes the rows of the edges that start from its pixels.  The rows of all tiles are
 * gathered (forest_gather.h), and read in the order of (level, position), which is total: that of
 * Kruskal's algorithm. */
#ifndef QFZ_FOREST_ROWS_H
#define QFZ_FOREST_ROWS_H

#include "job/run.h"

/* In place of b: the second region is in the tile of another process's part. */
#define QFZ_FOREST_OPEN 0

/* a < b: the labels of the two regions.  Level and position: core/level.h, core/position.h. */
typedef struct qfz_forest_row {
    uint64_t level, position, a, b;
} qfz_forest_row;

typedef qfz_status (*qfz_forest_rows_fn)(void *arg, const qfz_forest_row *rows, int64_t n,
                                         qfz_error *err);

/* The number of rows of the context's tile. */
int64_t qfz_forest_rows_count(const qfz_run *run, const qfz_thread_context *context);

/* Makes the rows of the context's tile and calls take() with some at a time.  labels: of the tile's
 * pixels, 64 bits if wide, else 32.  All tiles of this part have been numbered. */
qfz_status qfz_forest_rows_make(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                                const void *labels, bool wide, qfz_forest_rows_fn take, void *arg,
                                qfz_error *err);

#endif
