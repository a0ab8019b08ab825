/* SPDX-License-Identifier: MIT */
/* table.c - one row for each region, in any vector format that GDAL can create.
 *
 * In text formats a number has as many digits as strtod() needs to read the same double, in every
 * locale; so columns of CSV are text columns without quotes. */
#include "raster/table.h"

#include <assert.h>
#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <ogr_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/retry_vsi.h"
#include "raster/source_state.h"
#include "raster/temp_output.h"
#include "raster/text.h"

enum { ROWS_PER_TRANSACTION = 20000, NAME_BYTES = 32 };

struct qfz_table {
    char *path, *temp;
    GDALDatasetH dataset;
    OGRLayerH layer;
    OGRFeatureH feature;                     /* reused for every row */
    OGRCoordinateTransformationH to_lon_lat; /* NULL: no such columns */
    double transform[6];
    int n_bands;
    bool is_text, is_indexed, has_transactions, in_transaction, finished;
    bool overwrite, placed, committed;
    qfz_placement placement; /* of a file that has its name, until commit */
    int64_t n_rows;
    int column; /* the next one of the row being filled */
};

qfz_status qfz_table_check(qfz_source *source, const qfz_output_options *options, const char *path,
                           qfz_error *err)
{
    GDALDriverH driver = NULL;
    QFZ_TRY(qfz_output_check(source, options, path, err));
    return qfz_driver_find(&driver, path, true, err);
}

/* ------------------------------------------------------------------------------------- creation */
static bool add_column(qfz_table *table, const char *name, OGRFieldType type)
{
    const OGRFieldDefnH column = OGR_Fld_Create(name, table->is_text ? OFTString : type);
    const OGRErr done = OGR_L_CreateField(table->layer, column, FALSE);
    OGR_Fld_Destroy(column);
    return done == OGRERR_NONE;
}

static bool add_band_columns(qfz_table *table, int number)
{
    static const char *const what[] = {"mean", "min", "max", "stddev"};
    bool ok = true;
    for (int i = 0; i < 4 && ok; i++) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s_%d", what[i], number);
        ok = add_column(table, name, OFTReal);
    }
    return ok;
}

static bool add_columns(qfz_table *table, const qfz_source *source)
{
    static const char *const reals[] = {"area", "x", "y"}, *const place[] = {"lon", "lat"};
    static const char *const box[] = {"xmin", "ymin", "xmax", "ymax"};
    static const char *const pixels[] = {"px_x0", "px_y0", "px_x1", "px_y1"};
    bool ok = add_column(table, "label", OFTInteger64) && add_column(table, "pixels", OFTInteger64);
    for (int i = 0; i < 3 && ok; i++)
        ok = add_column(table, reals[i], OFTReal);
    for (int i = 0; i < 2 && ok && table->to_lon_lat; i++)
        ok = add_column(table, place[i], OFTReal);
    for (int i = 0; i < 4 && ok; i++)
        ok = add_column(table, box[i], OFTReal);
    for (int i = 0; i < 4 && ok; i++)
        ok = add_column(table, pixels[i], OFTInteger64);
    for (int b = 0; b < table->n_bands && ok; b++)
        ok = add_band_columns(table, b < source->n_bands ? source->bands[b].number : b + 1);
    return ok;
}

static OGRCoordinateTransformationH make_lon_lat(const qfz_source *source)
{
    if (!source->georef.srs) return NULL;
    const OGRSpatialReferenceH wgs84 = OSRNewSpatialReference(NULL);
    OGRCoordinateTransformationH made = NULL;
    if (wgs84 && OSRImportFromEPSG(wgs84, 4326) == OGRERR_NONE) {
        OSRSetAxisMappingStrategy(wgs84, OAMS_TRADITIONAL_GIS_ORDER);
        made = OCTNewCoordinateTransformation(source->georef.srs, wgs84);
    }
    OSRDestroySpatialReference(wgs84);
    return made;
}

static bool has_geometry(GDALDriverH driver)
{
    static const char *const without[] = {"CSV", "XLSX", "ODS"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (EQUAL(GDALGetDriverShortName(driver), without[i])) return false;
    return true;
}

/* Drivers that write one file from beginning to end.  Most of them ignore a failed write; the file
 * system of retry_vsi.c repeats the write, and reports an error if all tries fail. */
static qfz_status name_for_driver(const qfz_table *table, GDALDriverH driver,
                                  const qfz_output_options *options, char **name, qfz_error *err)
{
    static const char *const of_one_file[] = {"CSV", "GeoJSON",    "GeoJSONSeq", "LIBKML",
                                              "KML", "FlatGeobuf", "XLSX",       "ODS"};
    for (size_t i = 0; i < sizeof of_one_file / sizeof of_one_file[0]; i++)
        if (EQUAL(GDALGetDriverShortName(driver), of_one_file[i]))
            return qfz_retry_vsi_name(name, table->temp, &options->retry, err);
    return qfz_text_copy(name, table->temp, err);
}

static bool create_layer(qfz_table *table, const qfz_source *source, GDALDriverH driver,
                         const char *name)
{
    const bool points = has_geometry(driver);
    char **options = NULL;
    table->dataset = GDALCreate(driver, name, 0, 0, 0, GDT_Unknown, NULL);
    if (!table->dataset) return false;
    table->has_transactions = GDALDatasetTestCapability(table->dataset, ODsCTransactions) != 0;
    if (table->is_text) options = CSLSetNameValue(options, "STRING_QUOTING", "IF_NEEDED");
    if (table->is_indexed) options = CSLSetNameValue(options, "SPATIAL_INDEX", "NO");
    table->layer = GDALDatasetCreateLayer(table->dataset, CPLGetBasename(table->path),
                                          points ? source->georef.srs : NULL,
                                          points ? wkbPoint : wkbNone, options);
    CSLDestroy(options);
    if (!table->layer) return false;
    table->to_lon_lat = make_lon_lat(source);
    if (!add_columns(table, source)) return false;
    table->feature = OGR_F_Create(OGR_L_GetLayerDefn(table->layer));
    return table->feature != NULL;
}

static qfz_status create(qfz_table *table, const qfz_source *source,
                         const qfz_output_options *options, const char *path, qfz_error *err)
{
    GDALDriverH driver = NULL;
    char *name = NULL;
    qfz_error_trap trap;
    assert(source->is_located);
    QFZ_TRY(qfz_driver_find(&driver, path, true, err));
    QFZ_TRY(qfz_text_copy(&table->path, path, err));
    QFZ_TRY(qfz_temp_name(&table->temp, path, "tmp", NULL, err));
    table->overwrite = options->overwrite;
    memcpy(table->transform, source->georef.transform, sizeof table->transform);
    table->is_text = EQUAL(GDALGetDriverShortName(driver), "CSV");
    table->is_indexed = EQUAL(GDALGetDriverShortName(driver), "GPKG");
    QFZ_TRY(name_for_driver(table, driver, options, &name, err));
    qfz_error_trap_begin(&trap);
    const bool ok = create_layer(table, source, driver, name);
    qfz_error_trap_end(&trap);
    free(name);
    if (!ok)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, path, "the table could not be created");
    return QFZ_OK;
}

qfz_status qfz_table_create(qfz_table **table, const qfz_source *source,
                            const qfz_output_options *options, const char *path, int n_bands,
                            qfz_error *err)
{
    qfz_table *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->n_bands = n_bands;
    const qfz_status st = create(made, source, options, path, err);
    if (st != QFZ_OK) {
        qfz_table_close(made);
        return st;
    }
    *table = made;
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- rows */
static void set_real(qfz_table *table, double value)
{
    const int column = table->column++;
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

static void set_whole(qfz_table *table, int64_t value)
{
    const int column = table->column++;
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    if (table->is_text)
        OGR_F_SetFieldString(table->feature, column, text);
    else
        OGR_F_SetFieldInteger64(table->feature, column, (GIntBig)value);
}

static void to_crs(const qfz_table *table, double px, double py, double *x, double *y)
{
    const double *const t = table->transform;
    *x = t[0] + px * t[1] + py * t[2];
    *y = t[3] + px * t[4] + py * t[5];
}

static void set_box(qfz_table *table, const qfz_region_row *row)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++) {
        double at[2];
        to_crs(table, (double)(corner & 1 ? row->x1 : row->x0),
               (double)(corner & 2 ? row->y1 : row->y0), &at[0], &at[1]);
        for (int i = 0; i < 2; i++) {
            lo[i] = fmin(lo[i], at[i]);
            hi[i] = fmax(hi[i], at[i]);
        }
    }
    set_real(table, lo[0]);
    set_real(table, lo[1]);
    set_real(table, hi[0]);
    set_real(table, hi[1]);
    set_whole(table, row->x0);
    set_whole(table, row->y0);
    set_whole(table, row->x1);
    set_whole(table, row->y1);
}

static void set_place(qfz_table *table, const qfz_region_row *row)
{
    double x, y;
    to_crs(table, row->x, row->y, &x, &y);
    set_real(table, x);
    set_real(table, y);
    if (OGR_FD_GetGeomFieldCount(OGR_L_GetLayerDefn(table->layer)) > 0) {
        const OGRGeometryH point = OGR_G_CreateGeometry(wkbPoint);
        OGR_G_SetPoint_2D(point, 0, x, y);
        (void)OGR_F_SetGeometryDirectly(table->feature, point);
    }
    if (!table->to_lon_lat) return;
    if (!OCTTransform(table->to_lon_lat, 1, &x, &y, NULL) || !isfinite(x) || !isfinite(y))
        x = y = NAN;
    set_real(table, x);
    set_real(table, y);
}

static void fill(qfz_table *table, const qfz_region_row *row)
{
    table->column = 0;
    (void)OGR_F_SetFID(table->feature, OGRNullFID);
    set_whole(table, (int64_t)row->label);
    set_whole(table, (int64_t)row->pixels);
    set_real(table, row->area);
    set_place(table, row);
    set_box(table, row);
    for (int b = 0; b < table->n_bands; b++) {
        set_real(table, row->bands[b].mean);
        set_real(table, row->bands[b].min);
        set_real(table, row->bands[b].max);
        set_real(table, row->bands[b].stddev);
    }
}

static bool begin_or_end(qfz_table *table, bool begin)
{
    if (!table->has_transactions || table->in_transaction == begin) return true;
    table->in_transaction = begin;
    if (begin) return GDALDatasetStartTransaction(table->dataset, FALSE) == OGRERR_NONE;
    return GDALDatasetCommitTransaction(table->dataset) == OGRERR_NONE;
}

qfz_status qfz_table_write(qfz_table *table, const qfz_region_row *row, qfz_error *err)
{
    qfz_error_trap trap;
    if (!table->dataset) return qfz_fail(err, QFZ_EIO, "%s: it is already complete", table->path);
    if (row->label > INT64_MAX || row->pixels > INT64_MAX)
        return qfz_fail(
            err, QFZ_EARG,
            "%s: a label or pixel count is larger than 2^63 - 1, which no table can hold",
            table->path);
    qfz_error_trap_begin(&trap);
    fill(table, row);
    qfz_error_trap_end(&trap); /* a point without longitude and latitude is not a failure */
    qfz_error_trap_begin(&trap);
    bool ok = begin_or_end(table, true);
    ok = ok && OGR_L_CreateFeature(table->layer, table->feature) == OGRERR_NONE;
    table->n_rows++;
    if (ok && table->n_rows % ROWS_PER_TRANSACTION == 0) ok = begin_or_end(table, false);
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->path, "a row could not be written");
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- the end */
static void release(qfz_table *table)
{
    if (table->feature) OGR_F_Destroy(table->feature);
    if (table->to_lon_lat) OCTDestroyCoordinateTransformation(table->to_lon_lat);
    if (table->dataset) GDALClose(table->dataset);
    table->feature = NULL;
    table->to_lon_lat = NULL;
    table->dataset = NULL;
}

/* Makes the spatial index of a GeoPackage.  GDAL would also make it when the table is closed, but
 * then even for a table that is about to be deleted. */
static bool make_index(qfz_table *table)
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

qfz_status qfz_table_finish(qfz_table *table, qfz_error *err)
{
    qfz_error_trap trap;
    if (table->finished) return QFZ_OK;
    if (!table->dataset) return qfz_fail(err, QFZ_EIO, "%s: writing failed before", table->path);
    qfz_error_trap_begin(&trap);
    const bool ok = begin_or_end(table, false) && make_index(table);
    release(table);
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->path,
                                   "the table could not be closed");
    table->finished = true;
    return QFZ_OK;
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
    qfz_placement_settle(&table->placement);
    table->committed = true;
    return QFZ_OK;
}

void qfz_table_close(qfz_table *table)
{
    qfz_error_trap trap;
    if (!table) return;
    qfz_error_trap_begin(&trap);
    release(table);
    qfz_error_trap_end(&trap);
    if (!table->committed) {
        qfz_placement_take_back(&table->placement);
        qfz_temp_delete(table->temp);
    }
    free(table->temp);
    free(table->path);
    free(table);
}
