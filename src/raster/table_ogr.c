/* SPDX-License-Identifier: MIT */
/* table_ogr.c - tables through GDAL, one feature a row.
 *
 * In CSV a number has as many digits as strtod() needs to read the same double, in every locale; so
 * its columns are text columns without quotes. */
#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <ogr_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/retry_vsi.h"
#include "raster/table_writer.h"
#include "raster/text.h"

enum { ROWS_PER_TRANSACTION = 20000 };

typedef struct ogr_table {
    const qfz_table_target *target;
    GDALDatasetH dataset;
    OGRLayerH layer;
    OGRFeatureH feature; /* reused for every row */
    bool is_text, is_indexed, has_transactions, in_transaction;
    int64_t n_rows;
} ogr_table;

/* ------------------------------------------------------------------------------------- creation */
static bool add_columns(ogr_table *table)
{
    static const OGRFieldType types[] = {[QFZ_COLUMN_INT64] = OFTInteger64,
                                         [QFZ_COLUMN_UINT64] = OFTInteger64,
                                         [QFZ_COLUMN_DOUBLE] = OFTReal,
                                         [QFZ_COLUMN_STRING] = OFTString};
    const qfz_table_spec *const spec = table->target->spec;
    bool ok = true;
    for (int i = 0; i < spec->n_columns && ok; i++) {
        const OGRFieldDefnH column = OGR_Fld_Create(
            spec->columns[i].name, table->is_text ? OFTString : types[spec->columns[i].type]);
        ok = OGR_L_CreateField(table->layer, column, FALSE) == OGRERR_NONE;
        OGR_Fld_Destroy(column);
    }
    return ok;
}

/* Drivers that write one file from beginning to end.  Most of them ignore a failed write; the file
 * system of retry_vsi.c repeats the write, and reports an error if all tries fail. */
static qfz_status name_for_driver(const qfz_table_target *target, char **name, qfz_error *err)
{
    static const char *const of_one_file[] = {"CSV", "GeoJSON",    "GeoJSONSeq", "LIBKML",
                                              "KML", "FlatGeobuf", "XLSX",       "ODS"};
    for (size_t i = 0; i < sizeof of_one_file / sizeof of_one_file[0]; i++)
        if (qfz_driver_is(target->driver, of_one_file[i]))
            return qfz_retry_vsi_name(name, target->temp, &target->retry, err);
    return qfz_text_copy(name, target->temp, err);
}

static bool create_layer(ogr_table *table, const char *name)
{
    static const OGRwkbGeometryType types[] = {[QFZ_NO_GEOMETRY] = wkbNone,
                                               [QFZ_POINTS] = wkbPoint,
                                               [QFZ_POLYGONS] = wkbPolygon,
                                               [QFZ_MULTIPOLYGONS] = wkbMultiPolygon};
    const qfz_table_target *const target = table->target;
    const qfz_table_geometry geometry = target->spec->geometry;
    char **options = NULL;
    table->dataset = GDALCreate(target->driver, name, 0, 0, 0, GDT_Unknown, NULL);
    if (!table->dataset) return false;
    table->has_transactions = GDALDatasetTestCapability(table->dataset, ODsCTransactions) != 0;
    if (table->is_text) options = CSLSetNameValue(options, "STRING_QUOTING", "IF_NEEDED");
    if (table->is_indexed) options = CSLSetNameValue(options, "SPATIAL_INDEX", "NO");
    table->layer = GDALDatasetCreateLayer(table->dataset, CPLGetBasename(target->path),
                                          geometry == QFZ_NO_GEOMETRY ? NULL : target->srs,
                                          types[geometry], options);
    CSLDestroy(options);
    if (!table->layer || !add_columns(table)) return false;
    table->feature = OGR_F_Create(OGR_L_GetLayerDefn(table->layer));
    return table->feature != NULL;
}

static void ogr_close(void *state)
{
    ogr_table *const table = state;
    qfz_error_trap trap;
    if (!table) return;
    qfz_error_trap_begin(&trap);
    if (table->feature) OGR_F_Destroy(table->feature);
    if (table->dataset) GDALClose(table->dataset);
    qfz_error_trap_end(&trap);
    free(table);
}

static qfz_status ogr_create(void **state, const qfz_table_target *target, qfz_error *err)
{
    ogr_table *table = NULL;
    char *name = NULL;
    qfz_error_trap trap;
    QFZ_TRY(name_for_driver(target, &name, err));
    const qfz_status st = QFZ_NEW_ZERO(&table, 1, err);
    if (st != QFZ_OK) {
        free(name);
        return st;
    }
    table->target = target;
    table->is_text = qfz_driver_is(target->driver, "CSV");
    table->is_indexed =
        qfz_driver_is(target->driver, "GPKG") && target->spec->geometry != QFZ_NO_GEOMETRY;
    qfz_error_trap_begin(&trap);
    const bool ok = create_layer(table, name);
    qfz_error_trap_end(&trap);
    free(name);
    if (!ok) {
        ogr_close(table);
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, target->path,
                                   "the table could not be created");
    }
    *state = table;
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- rows */
static void set_real(ogr_table *table, int column, double value)
{
    char text[40];
    if (isnan(value)) {
        OGR_F_SetFieldNull(table->feature, column);
        return;
    }
    if (!table->is_text) {
        OGR_F_SetFieldDouble(table->feature, column, value);
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        (void)snprintf(text, sizeof text, "%lld", (long long)value);
    } else {
        qfz_real_print(text, sizeof text, value);
    }
    OGR_F_SetFieldString(table->feature, column, text);
}

static void set_whole(ogr_table *table, int column, int64_t value)
{
    char text[24];
    if (value == QFZ_COLUMN_NULL) {
        OGR_F_SetFieldNull(table->feature, column);
    } else if (table->is_text) {
        (void)snprintf(text, sizeof text, "%lld", (long long)value);
        OGR_F_SetFieldString(table->feature, column, text);
    } else {
        OGR_F_SetFieldInteger64(table->feature, column, (GIntBig)value);
    }
}

static void set_text(ogr_table *table, int column, const char *value)
{
    if (value)
        OGR_F_SetFieldString(table->feature, column, value);
    else
        OGR_F_SetFieldNull(table->feature, column);
}

static bool set_geometry(ogr_table *table, const qfz_table_rows *rows, int64_t i)
{
    OGRGeometryH geometry = NULL;
    if (table->target->spec->geometry == QFZ_NO_GEOMETRY) return true;
    if (table->target->spec->geometry == QFZ_POINTS) {
        geometry = OGR_G_CreateGeometry(wkbPoint);
        OGR_G_SetPoint_2D(geometry, 0, rows->x[i], rows->y[i]);
    } else {
        const int64_t start = rows->wkb_starts[i], bytes = rows->wkb_starts[i + 1] - start;
        if (OGR_G_CreateFromWkbEx(rows->wkb + start, NULL, &geometry, (size_t)bytes) != OGRERR_NONE)
            return false;
    }
    return OGR_F_SetGeometryDirectly(table->feature, geometry) == OGRERR_NONE;
}

static bool fill(ogr_table *table, const qfz_table_rows *rows, int64_t i)
{
    const qfz_table_spec *const spec = table->target->spec;
    (void)OGR_F_SetFID(table->feature, OGRNullFID);
    for (int c = 0; c < spec->n_columns; c++) {
        const void *const values = rows->columns[c];
        switch (spec->columns[c].type) {
        case QFZ_COLUMN_INT64:
        case QFZ_COLUMN_UINT64: set_whole(table, c, ((const int64_t *)values)[i]); break;
        case QFZ_COLUMN_DOUBLE: set_real(table, c, ((const double *)values)[i]); break;
        case QFZ_COLUMN_STRING: set_text(table, c, ((const char *const *)values)[i]); break;
        }
    }
    return set_geometry(table, rows, i);
}

static bool begin_or_end(ogr_table *table, bool begin)
{
    if (!table->has_transactions || table->in_transaction == begin) return true;
    table->in_transaction = begin;
    if (begin) return GDALDatasetStartTransaction(table->dataset, FALSE) == OGRERR_NONE;
    return GDALDatasetCommitTransaction(table->dataset) == OGRERR_NONE;
}

static bool write_row(ogr_table *table, const qfz_table_rows *rows, int64_t i)
{
    if (!begin_or_end(table, true) || !fill(table, rows, i)) return false;
    if (OGR_L_CreateFeature(table->layer, table->feature) != OGRERR_NONE) return false;
    return ++table->n_rows % ROWS_PER_TRANSACTION != 0 || begin_or_end(table, false);
}

static qfz_status ogr_write(void *state, const qfz_table_rows *rows, qfz_error *err)
{
    ogr_table *const table = state;
    qfz_error_trap trap;
    bool ok = true;
    qfz_error_trap_begin(&trap);
    for (int64_t i = 0; i < rows->n && ok && !trap.failed; i++)
        ok = write_row(table, rows, i);
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->target->path,
                                   "a row could not be written");
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- the end */
/* Makes the spatial index of a GeoPackage.  GDAL would also make it when the table is closed, but
 * then even for a table that is about to be deleted. */
static bool make_index(ogr_table *table)
{
    if (!table->is_indexed) return true;
    char *const name = CPLEscapeString(OGR_L_GetName(table->layer), -1, CPLES_SQL);
    char *const geometry = CPLEscapeString(OGR_L_GetGeometryColumn(table->layer), -1, CPLES_SQL);
    const OGRLayerH made = GDALDatasetExecuteSQL(
        table->dataset, CPLSPrintf("SELECT CreateSpatialIndex('%s', '%s')", name, geometry), NULL,
        NULL);
    CPLFree(name);
    CPLFree(geometry);
    const OGRFeatureH result = made ? OGR_L_GetNextFeature(made) : NULL;
    const bool ok = result && OGR_F_GetFieldAsInteger(result, 0) == 1;
    if (result) OGR_F_Destroy(result);
    if (made) GDALDatasetReleaseResultSet(table->dataset, made);
    return ok;
}

static qfz_status ogr_finish(void *state, qfz_error *err)
{
    ogr_table *const table = state;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = begin_or_end(table, false) && make_index(table);
    OGR_F_Destroy(table->feature);
    GDALClose(table->dataset);
    table->feature = NULL;
    table->dataset = NULL;
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->target->path,
                                   "the table could not be closed");
    return QFZ_OK;
}

const qfz_table_writer qfz_table_writer_ogr = {
    .create = ogr_create, .write = ogr_write, .finish = ogr_finish, .close = ogr_close};
