/* SPDX-License-Identifier: MIT */
/* check_table.h - compares a table of regions with the labels that a check sweeps over.
 *
 * Regions come as they are complete, rows as they are in the table; both are gathered by label in
 * bounded memory. */
#ifndef QFZ_JOB_CHECK_TABLE_H
#define QFZ_JOB_CHECK_TABLE_H

#include "check/check.h"
#include "job/progress.h"

typedef struct qfz_check_table qfz_check_table;

/* bytes: of memory.  folder: of temporary files; borrowed, as name.  QFZ_EARG: the table has no
 * column of labels. */
qfz_status qfz_check_table_open(qfz_check_table **table, const char *name, bool allow_network,
                                int64_t bytes, const char *folder, qfz_error *err);
void qfz_check_table_close(qfz_check_table *table); /* NULL is allowed */

/* Adds the region of a label, as qfz_piece_fn; arg: a qfz_check_table. */
qfz_status qfz_check_table_add(void *arg, const qfz_piece *region, qfz_error *err);

/* After the last region of labels that are right: reads the table, and adds what is wrong in it. */
qfz_status qfz_check_table_compare(qfz_check_table *table, qfz_faults *faults,
                                   qfz_job_progress *progress, qfz_error *err);

#endif
