/* SPDX-License-Identifier: MIT */
/* table.h - a table of regions, one row each. */
#ifndef QFZ_RASTER_TABLE_H
#define QFZ_RASTER_TABLE_H

#include "raster/output.h"

typedef struct qfz_table qfz_table; /* used by one thread at a time */

typedef struct qfz_region_band {
    double mean, min, max, stddev; /* population standard deviation */
} qfz_region_band;

typedef struct qfz_region_row {
    uint64_t label;
    uint64_t pixels;
    double area;                  /* square metres; square units of the raster without a CRS */
    double x, y;                  /* centroid in pixels: 0.5 is the middle of the first pixel */
    int64_t x0, y0, x1, y1;       /* bounding box in pixels, half-open */
    const qfz_region_band *bands; /* n_bands of them */
} qfz_region_row;

/* qfz_output_check(), and whether GDAL writes tables with the extension of path (.gpkg, .csv,
 * .parquet, .geojson, ...). */
qfz_status qfz_table_check(qfz_source *source, const qfz_output_options *options, const char *path,
                           qfz_error *err);

/* Creates a table beside path under a temporary name; the source is located.
 *
 * Columns: label, pixels, area, x, y (centroid in the CRS of the raster), lon, lat (WGS 84; only
 * with a CRS), bounding box in the CRS and in pixels, and for each of n_bands bands mean_b, min_b,
 * max_b, stddev_b, b being the number of the band in the source.  Formats with geometry get the
 * centroid as a point.  NaN is written as null. */
qfz_status qfz_table_create(qfz_table **table, const qfz_source *source,
                            const qfz_output_options *options, const char *path, int n_bands,
                            qfz_error *err);
qfz_status qfz_table_write(qfz_table *table, const qfz_region_row *row, qfz_error *err);

/* Writes everything that is still in memory (some drivers, XLSX and KML for example, write all rows
 * here) and closes: all that can fail before the table gets its name. */
qfz_status qfz_table_finish(qfz_table *table, qfz_error *err);

/* As qfz_sink_place() and qfz_sink_commit(). */
qfz_status qfz_table_place(qfz_table *table, qfz_error *err);
qfz_status qfz_table_commit(qfz_table *table, qfz_error *err);

/* Closes; a table without commit leaves no file.  NULL is allowed. */
void qfz_table_close(qfz_table *table);

#endif
