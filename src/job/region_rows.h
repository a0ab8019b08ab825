/* SPDX-License-Identifier: MIT */
/* region_rows.h - converts complete region records into rows of the table, in order of labels. */
#ifndef QFZ_REGION_ROWS_H
#define QFZ_REGION_ROWS_H

#include "job/label_outputs.h"
#include "job/run.h"
#include "job/table_columns.h"

typedef struct qfz_region_rows {
    qfz_run *run;
    qfz_table *table;
    qfz_attributes *attributes; /* NULL: none */
    qfz_table_columns columns;
    qfz_label_outputs *labels; /* whose facts give columns; NULL: none */
    int64_t n;                 /* rows written */
} qfz_region_rows;

/* After numbering: QFZ_ENOMEM or QFZ_EARG if the table, where the job has one, cannot hold as many
 * rows in the memory of the job (qfz_table_check_rows()). */
qfz_status qfz_region_rows_check(const qfz_run *run, qfz_error *err);

/* Bytes of memory that the largest attribute table takes, and the number of its cells. */
int64_t qfz_region_rows_attributes(const qfz_setup *setup, int64_t *n_cells);

/* Creates the job's table.  labels (borrowed): its facts, with a record for each row, give the
 * columns of zones; NULL: there are none.  The caller calls close() even after a failure. */
qfz_status qfz_region_rows_open(qfz_region_rows *rows, qfz_run *run, qfz_label_outputs *labels,
                                qfz_error *err);

/* Writes n complete records as rows, and reports progress.  Records follow in order of labels. */
qfz_status qfz_region_rows_add(qfz_region_rows *rows, uint64_t *records, int64_t n, qfz_error *err);

/* After the last row: moves the table to the caller, who commits and closes it; and the rows of the
 * job's attribute table, or NULL, for the raster of labels. */
void qfz_region_rows_take(qfz_region_rows *rows, qfz_table **table, qfz_attributes **attributes);
void qfz_region_rows_close(qfz_region_rows *rows);

#endif
