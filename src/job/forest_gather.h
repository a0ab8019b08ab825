/* SPDX-License-Identifier: MIT */
/* forest_gather.h - the rows of the table of a hierarchy, gathered in order.
 *
 * An edge to a pixel of another process's part has no second label yet: the process that joins the
 * parts reads it from the complete labels. */
#ifndef QFZ_FOREST_GATHER_H
#define QFZ_FOREST_GATHER_H

#include "core/label_grid.h"
#include "job/forest_rows.h"
#include "regions/regions.h"

/* A gathered row: level, position, a, b. */
enum { QFZ_FOREST_WORDS = 4 };

typedef struct qfz_forest_gather qfz_forest_gather;

/* *gather = NULL if the job has no such table. */
qfz_status qfz_forest_gather_open(qfz_forest_gather **gather, const qfz_run *run, qfz_error *err);
void qfz_forest_gather_close(qfz_forest_gather *gather); /* NULL is allowed */
qfz_status qfz_forest_gather_add(qfz_forest_gather *gather, int thread, const qfz_forest_row *rows,
                                 int64_t n, qfz_error *err);

/* With several processes: saves the rows of this part in a file beside the table, or adds those of
 * all parts. */
qfz_status qfz_forest_gather_save(qfz_forest_gather *gather, const qfz_run *run, qfz_error *err);
qfz_status qfz_forest_gather_join(qfz_forest_gather *gather, const qfz_run *run, qfz_error *err);
void qfz_forest_gather_delete(const qfz_job *job, int part, int n_parts);

/* Reads the labels of a box, in thread 0; as qfz_label_pass.read(). */
typedef qfz_status (*qfz_read_labels_fn)(void *arg, int thread, qfz_box box, qfz_label_grid labels,
                                         qfz_error *err);

/* After the last row: reads the labels that rows lack.  *rows = all rows, to be read (gather.h);
 * borrowed. */
qfz_status qfz_forest_gather_complete(qfz_forest_gather *gather, const qfz_run *run,
                                      qfz_read_labels_fn read, void *arg, qfz_gather **rows,
                                      qfz_error *err);

/* Writes all rows into the job's table, which the caller commits and closes. */
qfz_status qfz_forest_table_write(qfz_gather *gather, qfz_run *run, qfz_table **table,
                                  qfz_error *err);

#endif
