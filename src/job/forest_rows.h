/* SPDX-License-Identifier: MIT */
/* forest_rows.h - the rows of the table of a hierarchy: the edges of the minimum spanning forest
 * between regions of level 0.
 *
 * A tile makes the rows of the edges that start from its pixels.  The rows of all tiles are
 * gathered, and read in the order of (level, position), which is total: that of Kruskal's
 * algorithm. */
#ifndef QFZ_FOREST_ROWS_H
#define QFZ_FOREST_ROWS_H

#include "job/run.h"
#include "regions/regions.h"

/* a < b: the labels of the two regions.  Level and position: core/level.h, core/position.h. */
typedef struct qfz_forest_row {
    uint64_t level, position, a, b;
} qfz_forest_row;

typedef qfz_status (*qfz_forest_rows_fn)(void *arg, const qfz_forest_row *rows, int64_t n,
                                         qfz_error *err);

/* The number of rows of the context's tile. */
int64_t qfz_forest_rows_count(const qfz_run *run, const qfz_thread_context *context);

/* Makes the rows of the context's tile and calls take() with some at a time.  labels: of the tile's
 * pixels, 64 bits if wide, else 32.  All tiles have been numbered. */
qfz_status qfz_forest_rows_make(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                                const void *labels, bool wide, qfz_forest_rows_fn take, void *arg,
                                qfz_error *err);

/* Where rows are gathered; *gather = NULL if the job has no such table. */
qfz_status qfz_forest_gather_open(qfz_gather **gather, const qfz_run *run, qfz_error *err);
qfz_status qfz_forest_gather_add(qfz_gather *gather, int thread, const qfz_forest_row *rows,
                                 int64_t n, qfz_error *err);

/* Writes all rows into the job's table, which the caller commits and closes. */
qfz_status qfz_forest_table_write(qfz_gather *gather, qfz_run *run, qfz_table **table,
                                  qfz_error *err);

#endif
