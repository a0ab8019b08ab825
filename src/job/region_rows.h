/* SPDX-License-Identifier: MIT */
/* region_rows.h - complete records of regions, in the order of labels, become rows of the table. */
#ifndef QFZ_REGION_ROWS_H
#define QFZ_REGION_ROWS_H

#include "job/run.h"

typedef struct qfz_region_rows {
    qfz_run *run;
    qfz_table *table;
    int64_t n;              /* rows that it has */
    qfz_region_band *bands; /* of the row being written */
    double area_unit;
} qfz_region_rows;

/* Creates the job's table.  After a failure too, close is called. */
qfz_status qfz_region_rows_open(qfz_region_rows *rows, qfz_run *run, qfz_error *err);

/* Tells now and then how many of all regions are in. */
qfz_status qfz_region_rows_add(qfz_region_rows *rows, uint64_t *records, int64_t n, qfz_error *err);

/* The table, to be committed and closed by the caller. */
qfz_table *qfz_region_rows_take(qfz_region_rows *rows);
void qfz_region_rows_close(qfz_region_rows *rows);

#endif
