/* SPDX-License-Identifier: MIT */
/* zone_columns.h - the columns of a table of regions that hold the statistics of --stats. */
#ifndef QFZ_ZONE_COLUMNS_H
#define QFZ_ZONE_COLUMNS_H

#include "raster/raster.h"
#include "regions/regions.h"

typedef struct qfz_zone_columns qfz_zone_columns;

/* Of the bands of a source (borrowed), whose statistics are in the zones (borrowed).  n_rows: the
 * largest number of rows of a batch. */
qfz_status qfz_zone_columns_open(qfz_zone_columns **columns, const qfz_source *source,
                                 const qfz_zones *zones, int64_t n_rows, qfz_error *err);
void qfz_zone_columns_close(qfz_zone_columns *columns); /* NULL is allowed */

/* The number of columns, and their names and types. */
int qfz_zone_columns_n(const qfz_zone_columns *columns);
const qfz_column *qfz_zone_columns_specs(const qfz_zone_columns *columns);

/* Sets row i of the batch, and the batch's arrays, one for each column. */
void qfz_zone_columns_set(qfz_zone_columns *columns, int64_t row, const qfz_record *record);
const void *const *qfz_zone_columns_values(const qfz_zone_columns *columns);

#endif
