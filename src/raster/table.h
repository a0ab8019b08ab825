/* SPDX-License-Identifier: MIT */
/* table.h - tables of any columns, with or without geometry, in every vector format that GDAL can
 * create.
 *
 * Rows come in batches, column by column.  A table has a temporary name beside its path until it is
 * placed. */
#ifndef QFZ_RASTER_TABLE_H
#define QFZ_RASTER_TABLE_H

#include "raster/output.h"

typedef struct qfz_table qfz_table; /* used by one thread at a time */

typedef enum qfz_column_type {
    QFZ_COLUMN_INT64,  /* int64_t; QFZ_COLUMN_NULL is written as null */
    QFZ_COLUMN_UINT64, /* uint64_t up to 2^63 - 1, the largest whole number of most formats */
    QFZ_COLUMN_DOUBLE, /* double; NaN is written as null */
    QFZ_COLUMN_STRING  /* const char *, UTF-8; NULL is written as null */
} qfz_column_type;

#define QFZ_COLUMN_NULL INT64_MIN

typedef struct qfz_column {
    const char *name;
    qfz_column_type type;
} qfz_column;

typedef enum qfz_table_geometry {
    QFZ_NO_GEOMETRY,
    QFZ_POINTS, /* left out by formats without geometry: CSV, XLSX, ODS */
    QFZ_POLYGONS,
    QFZ_MULTIPOLYGONS
} qfz_table_geometry;

typedef struct qfz_table_spec {
    const char *path; /* its extension selects the format */
    qfz_table_geometry geometry;
    const qfz_column *columns;
    int n_columns;
    int64_t n_rows;       /* that will come; 0: unknown */
    int n_threads;        /* that may make rows ready, at least 1 */
    int64_t memory_bytes; /* that rows may take inside of GDAL; 0: any number */
} qfz_table_spec;

/* Rows.  Everything is borrowed for the call. */
typedef struct qfz_table_rows {
    int64_t n;
    const void *const *columns; /* for each column an array of n values of its type */
    const double *x, *y;        /* n points in the CRS; for QFZ_POINTS */
    const uint8_t *wkb;         /* polygons or multipolygons one after the other, little-endian, */
    const int64_t *wkb_starts;  /* that of row i in the bytes wkb_starts[i] .. wkb_starts[i + 1] */
} qfz_table_rows;

/* qfz_output_check(), and whether GDAL writes tables of this geometry, or of none, with the
 * extension of path (.gpkg, .csv, .parquet, .geojson, ...). */
qfz_status qfz_table_check(qfz_source *source, const qfz_output_options *options, const char *path,
                           qfz_table_geometry geometry, qfz_error *err);

/* Whether a table of this format stays within its memory only if spec->n_rows is known. */
qfz_status qfz_table_wants_rows(const char *path, bool *wants, qfz_error *err);

/* Of a spec whose number of rows is known: QFZ_ENOMEM if GDAL keeps all rows of the format in
 * memory and they take more than spec->memory_bytes; QFZ_EARG if the format holds fewer rows. */
qfz_status qfz_table_check_rows(const qfz_table_spec *spec, qfz_error *err);

/* Creates a table in the CRS of source, which is located, beside spec->path under a temporary name.
 * The spec is copied. */
qfz_status qfz_table_create(qfz_table **table, const qfz_source *source,
                            const qfz_output_options *options, const qfz_table_spec *spec,
                            qfz_error *err);

/* Appends rows.  Any thread, one at a time. */
qfz_status qfz_table_write(qfz_table *table, const qfz_table_rows *rows, qfz_error *err);

/* The same in two steps, so that threads make rows ready beside each other.  All 0 before the first
 * prepare().  prepare(): any thread, at any time.  write_prepared(), of the same rows: one at a
 * time. */
typedef struct qfz_table_text {
    char *text; /* of rows, in a format of text */
    int64_t n, room;
} qfz_table_text;

qfz_status qfz_table_prepare(const qfz_table *table, const qfz_table_rows *rows,
                             qfz_table_text *text, qfz_error *err);
qfz_status qfz_table_write_prepared(qfz_table *table, const qfz_table_rows *rows,
                                    const qfz_table_text *text, qfz_error *err);
void qfz_table_text_fini(qfz_table_text *text);

/* Writes everything that is still in memory (some drivers, XLSX and KML for example, write all rows
 * here) and closes: all that can fail before the table gets its name. */
qfz_status qfz_table_finish(qfz_table *table, qfz_error *err);

/* As qfz_sink_place() and qfz_sink_commit(). */
qfz_status qfz_table_place(qfz_table *table, qfz_error *err);
qfz_status qfz_table_commit(qfz_table *table, qfz_error *err);

/* Closes; a table without commit leaves no file.  NULL is allowed. */
void qfz_table_close(qfz_table *table);

#endif
