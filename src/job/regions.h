/* SPDX-License-Identifier: MIT */
/* regions.h - the table of regions: records are gathered in a file, one place a label, until all
 * parts of all regions are in; then they are written as rows, in order. */
#ifndef QFZ_REGIONS_H
#define QFZ_REGIONS_H

#include "job/run.h"

typedef struct qfz_regions qfz_regions;

/* *regions = NULL, and all else does nothing, if the job asks for no table. */
qfz_status qfz_regions_open(qfz_regions **regions, const qfz_run *run, qfz_error *err);
void qfz_regions_close(qfz_regions *regions);

/* The records of the tile that a context has just numbered, n_regions of them, some at a time. */
typedef qfz_status (*qfz_records_fn)(void *arg, uint64_t *records, int64_t n, qfz_error *err);
qfz_status qfz_regions_make(qfz_run *run, qfz_thread_context *context, uint32_t n_regions,
                            qfz_records_fn take, void *arg, qfz_error *err);
int64_t qfz_region_bytes(const qfz_setup *setup); /* of a record */

/* Takes records as they are made; changes their labels.  Any thread. */
qfz_status qfz_regions_take(qfz_regions *regions, uint64_t *records, int64_t n, qfz_error *err);

/* Gathered records of labels label .. label + n - 1. */
qfz_status qfz_regions_read(const qfz_regions *regions, uint64_t label, int64_t n,
                            uint64_t *records, qfz_error *err);

/* Labels of regions that begin in earlier parts and have pixels in this one, ascending. */
const uint64_t *qfz_regions_foreign(qfz_regions *regions, int64_t *n);

/* Writes all rows, where one process has all regions.  *table is NULL if there is no table; else
 * the caller commits and closes it. */
qfz_status qfz_regions_write(qfz_regions *regions, qfz_run *run, qfz_table **table, qfz_error *err);

#endif
