/* SPDX-License-Identifier: MIT */
#include "raster/table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/source_state.h"
#include "raster/table_writer.h"
#include "raster/temp_output.h"
#include "raster/text.h"

struct qfz_table {
    char *path, *temp;
    qfz_table_spec spec;
    qfz_column *columns; /* of the spec; names are owned */
    qfz_table_target target;
    const qfz_table_writer *writer;
    void *state; /* of the writer; NULL: not created, or finished */
    bool overwrite, finished, placed, committed;
    qfz_placement placement; /* of a file that has its name, until commit */
};

static bool is_spreadsheet(GDALDriverH driver)
{
    return qfz_driver_is(driver, "XLSX") || qfz_driver_is(driver, "ODS");
}

static bool has_geometry(GDALDriverH driver)
{
    return !qfz_driver_is(driver, "CSV") && !is_spreadsheet(driver);
}

/* GDAL writes FlatGeobuf and vector tiles without any row that has no geometry, and reports no
 * error. */
static bool needs_geometry(GDALDriverH driver)
{
    return qfz_driver_is(driver, "FlatGeobuf") || qfz_driver_is(driver, "MVT") ||
           qfz_driver_is(driver, "MBTiles");
}

/* Formats without geometry leave points out. */
static bool holds(GDALDriverH driver, qfz_table_geometry geometry)
{
    if (geometry == QFZ_NO_GEOMETRY) return !needs_geometry(driver);
    return geometry == QFZ_POINTS || has_geometry(driver);
}

enum { REMEDY_BYTES = 64 };

/* "use .gpkg, .fgb or .csv": formats for tables of any length that this GDAL writes; "another
 * format" if there is none. */
static void suggest(char text[REMEDY_BYTES], qfz_table_geometry geometry)
{
    static const char *const formats[][2] = {{"GPKG", ".gpkg"},
                                             {"FlatGeobuf", ".fgb"},
                                             {"CSV", ".csv"},
                                             {"Parquet", ".parquet"},
                                             {"GeoJSON", ".geojson"}};
    enum { N = sizeof formats / sizeof *formats };
    const char *found[N] = {"another format"};
    size_t n = 0, at = 0;
    for (size_t i = 0; i < N; i++) {
        const GDALDriverH driver = GDALGetDriverByName(formats[i][0]);
        const bool fits = driver && holds(driver, geometry);
        if (fits && qfz_driver_can(driver, GDAL_DCAP_CREATE)) found[n++] = formats[i][1];
    }
    if (n == 0) n = 1;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, REMEDY_BYTES - at, "%s%s",
                               i == 0      ? "use "
                               : i + 1 < n ? ", "
                                           : " or ",
                               found[i]);
}

qfz_status qfz_table_check(qfz_source *source, const qfz_output_options *options, const char *path,
                           qfz_table_geometry geometry, qfz_error *err)
{
    GDALDriverH driver = NULL;
    QFZ_TRY(qfz_output_check(source, options, path, err));
    char instead[REMEDY_BYTES];
    QFZ_TRY(qfz_driver_find(&driver, path, true, err));
    if (holds(driver, geometry)) return QFZ_OK;
    suggest(instead, geometry);
    return qfz_fail(err, QFZ_EARG, "%s: the format %s holds no %s; %s", path,
                    GDALGetDriverShortName(driver),
                    geometry == QFZ_NO_GEOMETRY ? "rows without geometry" : "polygons", instead);
}

/* Formats whose rows GDAL keeps in memory until the end.  200,000 rows of 20 cells took 90 MB as
 * XLSX and as ODS. */
static bool is_kept_in_memory(GDALDriverH driver)
{
    return is_spreadsheet(driver) || qfz_driver_is(driver, "LIBKML") ||
           qfz_driver_is(driver, "JML");
}

qfz_status qfz_table_wants_rows(const char *path, bool *wants, qfz_error *err)
{
    GDALDriverH driver = NULL;
    QFZ_TRY(qfz_driver_find(&driver, path, true, err));
    *wants = is_kept_in_memory(driver) || qfz_driver_is(driver, "FlatGeobuf");
    return QFZ_OK;
}

enum { CELL_BYTES = 32, SHEET_ROWS = (1 << 20) - 1 };

qfz_status qfz_table_check_rows(const qfz_table_spec *spec, qfz_error *err)
{
    char instead[REMEDY_BYTES];
    GDALDriverH driver = NULL;
    QFZ_TRY(qfz_driver_find(&driver, spec->path, true, err));
    suggest(instead, spec->geometry);
    const char *const name = GDALGetDriverShortName(driver);
    const double bytes = (double)spec->n_rows * spec->n_columns * CELL_BYTES;
    if (is_spreadsheet(driver) && spec->n_rows > SHEET_ROWS)
        return qfz_fail(err, QFZ_EARG, "%s: there are %lld rows, and a sheet of %s holds %d; %s",
                        spec->path, (long long)spec->n_rows, name, SHEET_ROWS, instead);
    if (!is_kept_in_memory(driver) || bytes <= (double)spec->memory_bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: GDAL keeps all rows of %s in memory; %lld rows take about %.0f MB, and "
                    "--memory leaves %lld MB for them; %s",
                    spec->path, name, (long long)spec->n_rows, bytes / 1e6,
                    (long long)spec->memory_bytes / 1000000, instead);
}

/* ------------------------------------------------------------------------------------- creation */
static qfz_status copy_spec(qfz_table *table, const qfz_table_spec *spec, qfz_error *err)
{
    QFZ_TRY(qfz_text_copy(&table->path, spec->path, err));
    QFZ_TRY(QFZ_NEW_ZERO(&table->columns, spec->n_columns, err));
    table->spec = *spec;
    table->spec.path = table->path;
    table->spec.columns = table->columns;
    for (int i = 0; i < spec->n_columns; i++) {
        char *name = NULL;
        QFZ_TRY(qfz_text_copy(&name, spec->columns[i].name, err));
        table->columns[i] = (qfz_column){.name = name, .type = spec->columns[i].type};
    }
    return QFZ_OK;
}

/* A file system on a network may not write the beginning of a file last, as FlatGeobuf here. */
static const qfz_table_writer *writer_of(GDALDriverH driver, const char *temp,
                                         const qfz_table_spec *spec)
{
    const bool is_remote = strncmp(temp, "/vsi", 4) == 0 && strncmp(temp, "/vsimem/", 8) != 0;
    if (qfz_driver_is(driver, "CSV")) return &qfz_table_writer_csv;
    if (qfz_driver_is(driver, "FlatGeobuf") &&
        (spec->geometry == QFZ_POINTS || spec->geometry == QFZ_MULTIPOLYGONS) && spec->n_rows > 0 &&
        !is_remote)
        return &qfz_table_writer_fgb;
    return &qfz_table_writer_ogr;
}

static qfz_status create(qfz_table *table, const qfz_source *source,
                         const qfz_output_options *options, const qfz_table_spec *spec,
                         qfz_error *err)
{
    GDALDriverH driver = NULL;
    assert(source->is_located);
    QFZ_TRY(qfz_driver_find(&driver, spec->path, true, err));
    QFZ_TRY(copy_spec(table, spec, err));
    QFZ_TRY(qfz_temp_name(&table->temp, spec->path, "tmp", NULL, options->stage, err));
    if (!has_geometry(driver)) table->spec.geometry = QFZ_NO_GEOMETRY;
    table->overwrite = options->overwrite;
    table->placement.retry = options->retry;
    table->target = (qfz_table_target){.path = table->path,
                                       .temp = table->temp,
                                       .spec = &table->spec,
                                       .driver = driver,
                                       .srs = source->georef.srs,
                                       .retry = options->retry};
    table->writer = writer_of(driver, table->temp, &table->spec);
    return table->writer->create(&table->state, &table->target, err);
}

qfz_status qfz_table_create(qfz_table **table, const qfz_source *source,
                            const qfz_output_options *options, const qfz_table_spec *spec,
                            qfz_error *err)
{
    qfz_table *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    const qfz_status st = create(made, source, options, spec, err);
    if (st != QFZ_OK) {
        qfz_table_close(made);
        return st;
    }
    *table = made;
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- rows */
/* No format of GDAL has unsigned whole numbers of 64 bits. */
static qfz_status check_range(const qfz_table *table, const qfz_table_rows *rows, qfz_error *err)
{
    for (int c = 0; c < table->spec.n_columns; c++) {
        const uint64_t *const values = rows->columns[c];
        uint64_t all = 0;
        if (table->columns[c].type != QFZ_COLUMN_UINT64) continue;
        for (int64_t i = 0; i < rows->n; i++)
            all |= values[i];
        if (all > INT64_MAX)
            return qfz_fail(err, QFZ_EARG,
                            "%s: a value of column %s is larger than 2^63 - 1, which no table can "
                            "hold",
                            table->path, table->columns[c].name);
    }
    return QFZ_OK;
}

static qfz_status check_open(const qfz_table *table, qfz_error *err)
{
    if (table->state) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: it is already complete", table->path);
}

qfz_status qfz_table_write(qfz_table *table, const qfz_table_rows *rows, qfz_error *err)
{
    QFZ_TRY(check_open(table, err));
    QFZ_TRY(check_range(table, rows, err));
    return table->writer->write(table->state, rows, err);
}

qfz_status qfz_table_prepare(const qfz_table *table, const qfz_table_rows *rows,
                             qfz_table_text *text, qfz_error *err)
{
    const qfz_table_writer *const writer = table->writer;
    QFZ_TRY(check_open(table, err));
    QFZ_TRY(check_range(table, rows, err));
    return writer->prepare ? writer->prepare(table->state, rows, text, err) : QFZ_OK;
}

qfz_status qfz_table_write_prepared(qfz_table *table, const qfz_table_rows *rows,
                                    const qfz_table_text *text, qfz_error *err)
{
    const qfz_table_writer *const writer = table->writer;
    QFZ_TRY(check_open(table, err));
    return writer->prepare ? writer->write_text(table->state, text, err)
                           : writer->write(table->state, rows, err);
}

void qfz_table_text_fini(qfz_table_text *text)
{
    free(text->text);
    *text = (qfz_table_text){0};
}

/* -------------------------------------------------------------------------------------- the end */
static void release(qfz_table *table)
{
    if (table->writer) table->writer->close(table->state);
    table->state = NULL;
}

qfz_status qfz_table_finish(qfz_table *table, qfz_error *err)
{
    if (table->finished) return QFZ_OK;
    if (!table->state) return qfz_fail(err, QFZ_EIO, "%s: writing failed before", table->path);
    const qfz_status st = table->writer->finish(table->state, err);
    release(table);
    table->finished = st == QFZ_OK;
    return st;
}

qfz_status qfz_table_place(qfz_table *table, qfz_error *err)
{
    if (table->placed) return QFZ_OK;
    QFZ_TRY(qfz_table_finish(table, err));
    QFZ_TRY(qfz_temp_place(table->temp, table->path, table->overwrite, &table->placement, err));
    table->placed = true;
    return QFZ_OK;
}

qfz_status qfz_table_commit(qfz_table *table, qfz_error *err)
{
    if (table->committed) return QFZ_OK;
    QFZ_TRY(qfz_table_place(table, err));
    QFZ_TRY(qfz_placement_settle(&table->placement, err));
    table->committed = true;
    return QFZ_OK;
}

void qfz_table_close(qfz_table *table)
{
    if (!table) return;
    release(table);
    if (!table->committed) {
        qfz_placement_take_back(&table->placement);
        qfz_temp_delete(table->temp);
    }
    for (int i = 0; table->columns && i < table->spec.n_columns; i++)
        free((void *)(uintptr_t)table->columns[i].name);
    free(table->columns);
    free(table->temp);
    free(table->path);
    free(table);
}
