/* SPDX-License-Identifier: MIT */
/* check_table.h - compares a table of regions with the labels that a check sweeps over.
 *
 * Regions come as they are complete, rows as they are in the table; both are gathered by label in
 * bounded memory.  A table of polygons is one whose rows also have exact outlines. */
#ifndef QFZ_JOB_CHECK_TABLE_H
#define QFZ_JOB_CHECK_TABLE_H

#include "check/check.h"
#include "job/progress.h"

typedef struct qfz_check_table qfz_check_table;

typedef struct qfz_check_table_spec {
    const char *name; /* borrowed, as folder */
    bool has_polygons;
    double transform[6]; /* of the raster; with polygons, also its size */
    int64_t w, h;
    bool allow_network;
    int64_t bytes;      /* of memory */
    const char *folder; /* of temporary files */
} qfz_check_table_spec;

/* QFZ_EARG: the table has no column of labels. */
qfz_status qfz_check_table_open(qfz_check_table **table, const qfz_check_table_spec *spec,
                                qfz_error *err);
void qfz_check_table_close(qfz_check_table *table); /* NULL is allowed */

/* Adds the region of a label, as qfz_piece_fn; arg: a qfz_check_table. */
qfz_status qfz_check_table_add(void *arg, const qfz_piece *region, qfz_error *err);

/* After the last region of labels that are right: reads the table, and adds what is wrong in it. */
qfz_status qfz_check_table_compare(qfz_check_table *table, qfz_faults *faults,
                                   qfz_job_progress *progress, qfz_error *err);

#endif
