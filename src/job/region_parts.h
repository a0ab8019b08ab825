/* SPDX-License-Identifier: MIT */
/* region_parts.h - one table of regions from the records of several processes.
 *
 * Labels follow the order of first pixels, and parts are ranges of rows.  So the regions that begin
 * in a part have consecutive labels, above those of earlier parts and below those of later parts.
 * Each process saves its records, in order of labels, in a file beside the table.  One process
 * merges the files into rows with a few records of each file in memory. */
#ifndef QFZ_REGION_PARTS_H
#define QFZ_REGION_PARTS_H

#include "job/region_records.h"

/* Writes the file of part run->part of run->n_parts, which appears when complete.  Does nothing if
 * records is NULL. */
qfz_status qfz_region_parts_save(qfz_region_records *records, const qfz_run *run, qfz_error *err);

/* Writes all rows, as qfz_region_records_write(), from the saved files of all parts.  Called by one
 * process.  QFZ_EIO: a file is missing or belongs to another job. */
qfz_status qfz_region_parts_join(qfz_run *run, qfz_label_outputs *labels, qfz_table **table,
                                 qfz_attributes **attributes, qfz_error *err);

/* Deletes the files of part `part` of n_parts, where they exist. */
void qfz_region_parts_delete(const qfz_job *job, int part, int n_parts);

#endif
