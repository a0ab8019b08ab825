/* SPDX-License-Identifier: MIT */
/* region_columns.h - the columns of the table of regions, and their values from records. */
#ifndef QFZ_REGION_COLUMNS_H
#define QFZ_REGION_COLUMNS_H

#include "core/record.h"
#include "raster/raster.h"

typedef struct qfz_region_columns qfz_region_columns;

/* Of a source that is located and read as records of n_bands bands, with statistics of the first
 * n_stats of them.  n_rows: the largest number of rows of a batch, which
 * n_threads fill. */
qfz_status qfz_region_columns_open(qfz_region_columns **columns, const qfz_source *source,
                                   int n_bands, int n_stats, int64_t n_rows, int n_threads,
                                   qfz_error *err);
void qfz_region_columns_close(qfz_region_columns *columns); /* NULL is allowed */

/* Values of longitude and latitude are wanted only if is_chosen[i] is true for their number i among
 * the columns.  Until this call, all values are. */
void qfz_region_columns_use(qfz_region_columns *columns, const bool *is_chosen);

/* The largest number of columns. */
int qfz_region_columns_most(int n_stats);

/* The spec of a table with these columns and n_rows rows; valid until the columns are closed. */
qfz_table_spec qfz_region_columns_spec(const qfz_region_columns *columns, const char *path,
                                       int64_t n_rows, int n_threads);

/* Computes the values of n complete records; the rows are valid until the next call. */
qfz_status qfz_region_columns_fill(qfz_region_columns *columns, uint64_t *records, int64_t n,
                                   const qfz_table_rows **rows, qfz_error *err);

#endif
