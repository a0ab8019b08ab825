/* SPDX-License-Identifier: MIT */
/* region_records.h - the records behind the table of regions: gathered from tiles in any order,
 * then written as rows in order of labels.
 *
 * The records lie in a temporary file, at offset (label - 1) * record bytes.  Invariant: the record
 * of a label holds the sum of all pieces of that region that were added so far. */
#ifndef QFZ_REGION_RECORDS_H
#define QFZ_REGION_RECORDS_H

#include "job/label_outputs.h"
#include "job/run.h"

typedef struct qfz_region_records qfz_region_records;

/* After numbering.  *records = NULL if the job has no table. */
qfz_status qfz_region_records_open(qfz_region_records **records, const qfz_run *run,
                                   qfz_error *err);
void qfz_region_records_close(qfz_region_records *records); /* NULL is allowed */

/* Bytes of one record. */
int64_t qfz_region_record_bytes(const qfz_setup *setup);

/* Computes the records of the tile that is loaded and numbered in the context, n_regions of them,
 * and calls take() with up to context->records_n at a time. */
typedef qfz_status (*qfz_records_fn)(void *arg, uint64_t *batch, int64_t n, qfz_error *err);
qfz_status qfz_region_records_make(qfz_run *run, qfz_thread_context *context, uint32_t n_regions,
                                   qfz_records_fn take, void *arg, qfz_error *err);

/* Adds n records; clears the flag QFZ_RECORD_SHARED in their labels.  Any thread. */
qfz_status qfz_region_records_add(qfz_region_records *records, uint64_t *batch, int64_t n,
                                  qfz_error *err);

/* Reads the records of labels label .. label + n - 1. */
qfz_status qfz_region_records_read(const qfz_region_records *records, uint64_t label, int64_t n,
                                   uint64_t *batch, qfz_error *err);

/* The *n labels of regions that begin in an earlier part and have pixels in this one, ascending.
 * Valid until the next call. */
const uint64_t *qfz_region_records_foreign(qfz_region_records *records, int64_t *n);

/* Writes all rows, for a job of one part.  labels: whose facts give columns; or NULL.  The
 * caller commits and closes *table, and closes *attributes; without records, these are NULL. */
qfz_status qfz_region_records_write(qfz_region_records *records, qfz_run *run,
                                    qfz_label_outputs *labels, qfz_table **table,
                                    qfz_attributes **attributes, qfz_error *err);

#endif
