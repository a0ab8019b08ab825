/* SPDX-License-Identifier: MIT */
/* table_ogr.c - tables through GDAL, one feature a row. */
#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <ogr_api.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/gpkg_index.h"
#include "raster/retry_vsi.h"
#include "raster/sql.h"
#include "raster/table_writer.h"
#include "raster/text.h"

enum { ROWS_PER_TRANSACTION = 100000 };

typedef struct ogr_table {
    const qfz_table_target *target;
    GDALDatasetH dataset;
    OGRLayerH layer;
    OGRFeatureH feature; /* reused for every row */
    qfz_rtree *index;    /* of a GeoPackage with geometry; else NULL */
    bool has_transactions, in_transaction;
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
        const OGRFieldDefnH column =
            OGR_Fld_Create(spec->columns[i].name, types[spec->columns[i].type]);
        ok = OGR_L_CreateField(table->layer, column, FALSE) == OGRERR_NONE;
        OGR_Fld_Destroy(column);
    }
    return ok;
}

/* Drivers that write one file from beginning to end.  Most of them ignore a failed write; the file
 * system of retry_vsi.c repeats the write, and reports an error if all tries fail. */
static qfz_status name_for_driver(const qfz_table_target *target, char **name, qfz_error *err)
{
    static const char *const of_one_file[] = {"GeoJSON",    "GeoJSONSeq", "LIBKML", "KML",
                                              "FlatGeobuf", "XLSX",       "ODS"};
    for (size_t i = 0; i < sizeof of_one_file / sizeof of_one_file[0]; i++)
        if (qfz_driver_is(target->driver, of_one_file[i]))
            return qfz_retry_vsi_name(name, target->temp, &target->retry, err);
    return qfz_text_copy(name, target->temp, err);
}

static bool is_gpkg(const qfz_table_target *target)
{
    return qfz_driver_is(target->driver, "GPKG");
}

/* GDAL keeps an entry for every row of a FlatGeobuf file with an index; 1.35 million took 240 MB.
 */
static bool index_exceeds_memory(const qfz_table_target *target)
{
    enum { ENTRY_BYTES = 200 };
    const qfz_table_spec *const spec = target->spec;
    return qfz_driver_is(target->driver, "FlatGeobuf") && spec->memory_bytes > 0 &&
           (spec->n_rows == 0 || spec->n_rows > spec->memory_bytes / ENTRY_BYTES);
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
    if (is_gpkg(target) || index_exceeds_memory(target))
        options = CSLSetNameValue(options, "SPATIAL_INDEX", "NO");
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
    qfz_rtree_close(table->index);
    qfz_error_trap_begin(&trap);
    if (table->feature) OGR_F_Destroy(table->feature);
    if (table->dataset) GDALClose(table->dataset);
    qfz_error_trap_end(&trap);
    free(table);
}

/* The file has a temporary name and is deleted after a failure; so it needs no journal, and nothing
 * needs to be on disk before the end. */
static qfz_status prepare_gpkg(ogr_table *table, qfz_error *err)
{
    const char *const path = table->target->path;
    QFZ_TRY(qfz_sql_run(table->dataset, "PRAGMA synchronous = OFF", path, err));
    QFZ_TRY(qfz_sql_run(table->dataset, "PRAGMA journal_mode = OFF", path, err));
    if (table->target->spec->geometry == QFZ_NO_GEOMETRY) return QFZ_OK;
    return qfz_gpkg_index_create(&table->index, table->dataset, table->layer, path, err);
}

static qfz_status open_table(ogr_table *table, qfz_error *err)
{
    const qfz_table_target *const target = table->target;
    char *name = NULL;
    qfz_error_trap trap;
    QFZ_TRY(name_for_driver(target, &name, err));
    qfz_error_trap_begin(&trap);
    const bool ok = create_layer(table, name);
    qfz_error_trap_end(&trap);
    free(name);
    if (!ok)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, target->path,
                                   "the table could not be created");
    return is_gpkg(target) ? prepare_gpkg(table, err) : QFZ_OK;
}

static qfz_status ogr_create(void **state, const qfz_table_target *target, qfz_error *err)
{
    ogr_table *table = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&table, 1, err));
    table->target = target;
    const qfz_status st = open_table(table, err);
    if (st == QFZ_OK)
        *state = table;
    else
        ogr_close(table);
    return st;
}

/* ----------------------------------------------------------------------------------------- rows */
static void set_real(ogr_table *table, int column, double value)
{
    if (isnan(value))
        OGR_F_SetFieldNull(table->feature, column);
    else
        OGR_F_SetFieldDouble(table->feature, column, value);
}

static void set_whole(ogr_table *table, int column, int64_t value)
{
    if (value == QFZ_COLUMN_NULL)
        OGR_F_SetFieldNull(table->feature, column);
    else
        OGR_F_SetFieldInteger64(table->feature, column, (GIntBig)value);
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

/* Adds the row just written. */
static qfz_status add_to_index(ogr_table *table, qfz_error *err)
{
    const OGRGeometryH geometry = OGR_F_GetGeometryRef(table->feature);
    OGREnvelope e;
    if (!table->index || !geometry || OGR_G_IsEmpty(geometry)) return QFZ_OK;
    OGR_G_GetEnvelope(geometry, &e);
    const qfz_extent box = {.x0 = e.MinX, .y0 = e.MinY, .x1 = e.MaxX, .y1 = e.MaxY};
    return qfz_rtree_add(table->index, OGR_F_GetFID(table->feature), &box, err);
}

static qfz_status ogr_write(void *state, const qfz_table_rows *rows, qfz_error *err)
{
    ogr_table *const table = state;
    qfz_error_trap trap;
    qfz_status st = QFZ_OK;
    bool ok = true;
    qfz_error_trap_begin(&trap);
    for (int64_t i = 0; i < rows->n && ok && !trap.failed && st == QFZ_OK; i++) {
        ok = write_row(table, rows, i);
        if (ok) st = add_to_index(table, err);
    }
    qfz_error_trap_end(&trap);
    if (st == QFZ_OK && (!ok || trap.failed))
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->target->path,
                                   "a row could not be written");
    return st;
}

/* -------------------------------------------------------------------------------------- the end */
static qfz_status finish_index(ogr_table *table, qfz_error *err)
{
    if (!table->index) return QFZ_OK;
    return qfz_gpkg_index_finish(table->index, table->dataset, table->layer, table->target->path,
                                 err);
}

static qfz_status ogr_finish(void *state, qfz_error *err)
{
    ogr_table *const table = state;
    qfz_error_trap trap;
    QFZ_TRY(finish_index(table, err));
    qfz_error_trap_begin(&trap);
    const bool ok = begin_or_end(table, false);
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
