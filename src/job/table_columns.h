/* SPDX-License-Identifier: MIT */
/* table_columns.h - the columns of a table of regions: of those of records and, where a job has
 * statistics of another raster, those of zones, the ones that the job chooses. */
#ifndef QFZ_TABLE_COLUMNS_H
#define QFZ_TABLE_COLUMNS_H

#include "job/region_columns.h"
#include "job/zone_columns.h"

typedef struct qfz_table_columns {
    qfz_region_columns *regions;
    qfz_zone_columns *zones; /* NULL: none */
    int n, n_regions;        /* chosen columns; columns of regions */
    int *chosen;             /* for each its number among those of regions, then those of zones */
    qfz_column *specs;
    const void **values;
    qfz_table_spec spec; /* without path, rows and threads */
} qfz_table_columns;

/* The source whose values the job's table may count, or NULL: those of a cut are levels of edges,
 * those of a raster of labels are labels. */
const qfz_source *qfz_table_columns_image(const qfz_job *job, const qfz_source *source);

/* QFZ_EARG if job->columns names a column that the table of the source, which is located, cannot
 * have, or one twice.  stats: the raster of --stats, or NULL. */
qfz_status qfz_table_columns_check(const qfz_job *job, const qfz_source *source,
                                   const qfz_source *stats, qfz_error *err);

/* names: separated by commas; NULL: the columns that a table has by default.  take_regions and
 * take_zones (NULL: none) belong to the columns, also after a failure. */
qfz_status qfz_table_columns_init(qfz_table_columns *columns, qfz_region_columns *take_regions,
                                  qfz_zone_columns *take_zones, const char *names, qfz_error *err);
void qfz_table_columns_fini(qfz_table_columns *columns); /* zeroed columns are allowed */

/* The rows of n records; those of zones are set (qfz_zone_columns_set()).  Valid until the next
 * call. */
qfz_status qfz_table_columns_fill(qfz_table_columns *columns, uint64_t *records, int64_t n,
                                  qfz_table_rows *rows, qfz_error *err);

#endif
