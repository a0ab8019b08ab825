/* SPDX-License-Identifier: MIT */
/* sql.h - statements for a dataset of SQLite. */
#ifndef QFZ_RASTER_SQL_H
#define QFZ_RASTER_SQL_H

#include <gdal.h>

#include "core/status.h"

/* Runs a statement and drops its rows; messages name path. */
qfz_status qfz_sql_run(GDALDatasetH dataset, const char *statement, const char *path,
                       qfz_error *err);

/* *quoted = a name in double quotes; freed by free(). */
qfz_status qfz_sql_quote(char **quoted, const char *name, qfz_error *err);

/* A statement INSERT INTO table VALUES (...), (...), run when it is long enough. */
typedef struct qfz_sql_insert {
    GDALDatasetH dataset;
    const char *path;
    char *text; /* the statement so far; the first n_head characters are all but the values */
    int64_t n_head, n, room;
} qfz_sql_insert;

/* table: a quoted name.  fini() is called even after a failure. */
qfz_status qfz_sql_insert_init(qfz_sql_insert *insert, GDALDatasetH dataset, const char *table,
                               const char *path, qfz_error *err);
void qfz_sql_insert_fini(qfz_sql_insert *insert); /* all 0 is allowed */

/* Adds the row (a, b), or (a, the n_blob bytes of blob). */
qfz_status qfz_sql_insert_pair(qfz_sql_insert *insert, int64_t a, int64_t b, qfz_error *err);
qfz_status qfz_sql_insert_blob(qfz_sql_insert *insert, int64_t a, const uint8_t *blob,
                               int64_t n_blob, qfz_error *err);

/* Runs the statement with the rows that wait. */
qfz_status qfz_sql_insert_run(qfz_sql_insert *insert, qfz_error *err);

#endif
