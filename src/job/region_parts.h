/* SPDX-License-Identifier: MIT */
/* region_parts.h - the table of regions that several processes have gathered records of.
 *
 * Labels follow the order of first pixels, and parts are ranges of rows: so the regions that begin
 * in a part have labels without a gap, above those of earlier parts and below those of later ones.
 * Each process saves its records, in the order of labels, in a file beside the table; one merges
 * the files into rows, some records of each in memory at a time. */
#ifndef QFZ_REGION_PARTS_H
#define QFZ_REGION_PARTS_H

#include "job/regions.h"

/* The file of part run->part of run->n_parts; appears when complete.  Nothing without a table. */
qfz_status qfz_region_parts_save(qfz_regions *regions, const qfz_run *run, qfz_error *err);

/* When all are saved: all rows, as qfz_regions_write().  By one process. */
qfz_status qfz_region_parts_join(qfz_run *run, qfz_table **table, qfz_error *err);

/* Deletes the file of a part, if it is there. */
void qfz_region_parts_delete(const qfz_run *run, int part);

#endif
