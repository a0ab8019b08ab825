/* SPDX-License-Identifier: MIT */
/* table_columns.h - the columns of a table of regions: those of records, then, where a job has
 * statistics of another raster, those of zones. */
#ifndef QFZ_TABLE_COLUMNS_H
#define QFZ_TABLE_COLUMNS_H

#include "job/region_columns.h"
#include "job/zone_columns.h"

typedef struct qfz_table_columns {
    qfz_region_columns *regions;
    qfz_zone_columns *zones; /* NULL: none */
    int n, n_zones;          /* columns, and those of zones among them */
    qfz_column *specs;
    const void **values;
    qfz_table_spec spec; /* without path, rows and threads */
} qfz_table_columns;

/* take_regions and take_zones (NULL: none) belong to the columns, also after a failure. */
qfz_status qfz_table_columns_init(qfz_table_columns *columns, qfz_region_columns *take_regions,
                                  qfz_zone_columns *take_zones, qfz_error *err);
void qfz_table_columns_fini(qfz_table_columns *columns); /* zeroed columns are allowed */

/* The rows of n records; those of zones are set (qfz_zone_columns_set()).  Valid until the next
 * call. */
qfz_table_rows qfz_table_columns_fill(qfz_table_columns *columns, uint64_t *records, int64_t n);

#endif
