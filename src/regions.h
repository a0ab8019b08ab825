/* SPDX-License-Identifier: MIT */
/* regions.h - the table of regions: records are gathered in a file, one place a label, until all
 * parts of all regions are in; then they are written as rows, in order. */
#ifndef QFZ_REGIONS_H
#define QFZ_REGIONS_H

#include "run.h"

typedef struct qfz_regions qfz_regions;

/* *regions = NULL, and all else does nothing, if the job asks for no table. */
qfz_status qfz_regions_open(qfz_regions **regions, const qfz_run *run, qfz_error *err);
void qfz_regions_close(qfz_regions *regions);

/* The regions of the tile that a hand has just partitioned; lut[r] = label.  Any thread. */
qfz_status qfz_regions_add(qfz_regions *regions, qfz_run *run, qfz_hand *hand,
                           const qfz_partition *partition, const uint64_t *lut, qfz_error *err);

/* Writes all rows.  *table is NULL if there is no table; else the caller commits and closes it. */
qfz_status qfz_regions_write(qfz_regions *regions, qfz_run *run, qfz_table **table, qfz_error *err);

#endif
