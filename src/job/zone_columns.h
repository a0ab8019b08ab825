/* SPDX-License-Identifier: MIT */
/* zone_columns.h - the columns of a table of regions that follow from complete labels: statistics
 * of
 * --stats, and those that a table has only if they are named. */
#ifndef QFZ_ZONE_COLUMNS_H
#define QFZ_ZONE_COLUMNS_H

#include "job/zone_facts.h"

typedef struct qfz_zone_columns qfz_zone_columns;

/* What the columns in a list of names need.  names NULL: none. */
qfz_zone_needs qfz_zone_columns_needs(const char *names);

/* source: of the georeference, located.  image: whose values are counted; stats: of --stats; NULL:
 * none.  All are borrowed.  n_rows: the largest number of rows of a batch. */
qfz_status qfz_zone_columns_open(qfz_zone_columns **columns, const qfz_source *source,
                                 const qfz_source *image, const qfz_source *stats, int64_t n_rows,
                                 qfz_error *err);
void qfz_zone_columns_close(qfz_zone_columns *columns); /* NULL is allowed */

/* The number of columns, and their names and types.  The first n_default of them, those of --stats,
 * need not be named. */
int qfz_zone_columns_n(const qfz_zone_columns *columns, int *n_default);
const qfz_column *qfz_zone_columns_specs(const qfz_zone_columns *columns);

/* Sets row i of the batch.  record: of facts->zones; labels ascend.  Columns whose facts were not
 * gathered are not set. */
qfz_status qfz_zone_columns_set(qfz_zone_columns *columns, int64_t row, qfz_zone_facts *facts,
                                const qfz_record *record, qfz_error *err);

/* The batch's arrays, one for each column. */
const void *const *qfz_zone_columns_values(const qfz_zone_columns *columns);

#endif
