/* SPDX-License-Identifier: MIT */
/* counted_rows.h - the number of rows of a table that is read from a gathering. */
#ifndef QFZ_COUNTED_ROWS_H
#define QFZ_COUNTED_ROWS_H

#include "raster/raster.h"
#include "regions/regions.h"

/* Sets spec->n_rows where the format needs it to stay within spec->memory_bytes, and refuses rows
 * that the format does not hold, or not within this memory.  After qfz_gather_begin_reading(),
 * before qfz_gather_next(). */
qfz_status qfz_counted_rows_set(qfz_gather *gather, qfz_table_spec *spec, qfz_error *err);

#endif
