/* SPDX-License-Identifier: MIT */
/* table_writer.h - how the rows of a table get into a file, for each way of writing. */
#ifndef QFZ_RASTER_TABLE_WRITER_H
#define QFZ_RASTER_TABLE_WRITER_H

#include <gdal.h>
#include <ogr_srs_api.h>

#include "raster/table.h"

/* A table as its writer sees it; all of it lives as long as the writer. */
typedef struct qfz_table_target {
    const char *path, *temp;    /* messages name path; the file has the name temp */
    const qfz_table_spec *spec; /* its path is `path` */
    GDALDriverH driver;
    OGRSpatialReferenceH srs; /* NULL: none; valid in create() only */
    qfz_retry retry;
} qfz_table_target;

typedef struct qfz_table_writer {
    qfz_status (*create)(void **state, const qfz_table_target *target, qfz_error *err);
    qfz_status (*write)(void *state, const qfz_table_rows *rows, qfz_error *err);

    /* Formats of text, both or none: qfz_table_prepare(), and writing what it made. */
    qfz_status (*prepare)(const void *state, const qfz_table_rows *rows, qfz_table_text *text,
                          qfz_error *err);
    qfz_status (*write_text)(void *state, const qfz_table_text *text, qfz_error *err);

    qfz_status (*finish)(void *state, qfz_error *err); /* once; nothing is written later */
    void (*close)(void *state);                        /* NULL is allowed */
} qfz_table_writer;

/* Through GDAL: any format. */
extern const qfz_table_writer qfz_table_writer_ogr;

/* CSV, without geometry. */
extern const qfz_table_writer qfz_table_writer_csv;

/* FlatGeobuf, of points or multipolygons whose number is known. */
extern const qfz_table_writer qfz_table_writer_fgb;

#endif
