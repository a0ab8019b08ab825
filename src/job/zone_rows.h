/* SPDX-License-Identifier: MIT */
/* zone_rows.h - the table of the regions of a raster of labels that a job reads. */
#ifndef QFZ_ZONE_ROWS_H
#define QFZ_ZONE_ROWS_H

#include "job/label_outputs.h"

/* Reads all records of outputs->facts.zones: writes them into a new table (if job->regions names
 * one; the caller commits and closes *table), and counts regions and pixels. */
qfz_status qfz_zone_rows_write(qfz_label_outputs *outputs, qfz_table **table, uint64_t *regions,
                               uint64_t *pixels, qfz_error *err);

#endif
