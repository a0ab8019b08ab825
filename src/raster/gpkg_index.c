/* SPDX-License-Identifier: MIT */
/* gpkg_index.c - the statements that declare the index are those that GDAL runs for an empty layer
 * of the same names, in a GeoPackage in memory. */
#include "raster/gpkg_index.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>

#include "core/temp_file.h"
#include "raster/error_trap.h"
#include "raster/sql.h"
#include "raster/text.h"

qfz_status qfz_gpkg_index_create(qfz_rtree **tree, GDALDatasetH dataset, OGRLayerH layer,
                                 const char *path, qfz_error *err)
{
    char *name = NULL;
    QFZ_TRY(qfz_sql_run(dataset, "SELECT 1", path, err)); /* GDAL creates the layer only now */
    QFZ_TRY(qfz_text_print(&name, err, "rtree_%s_%s", OGR_L_GetName(layer),
                           OGR_L_GetGeometryColumn(layer)));
    const qfz_status st = qfz_rtree_create(tree, dataset, name, path, err);
    free(name);
    return st;
}

/* Adds the first column of the rows of a query to a list. */
static char **query(char **list, GDALDatasetH dataset, const char *statement)
{
    const OGRLayerH rows = GDALDatasetExecuteSQL(dataset, statement, NULL, NULL);
    if (!rows) return list;
    for (OGRFeatureH row; (row = OGR_L_GetNextFeature(rows)) != NULL; OGR_F_Destroy(row))
        list = CSLAddString(list, OGR_F_GetFieldAsString(row, 0));
    GDALDatasetReleaseResultSet(dataset, rows);
    return list;
}

/* The statements that declare the index of an empty layer, in order. */
static char **declaration(GDALDatasetH model, OGRLayerH layer)
{
    const char *const name = OGR_L_GetName(layer), *const geometry = OGR_L_GetGeometryColumn(layer);
    char *const t = CPLEscapeString(name, -1, CPLES_SQL);
    char *const g = CPLEscapeString(geometry, -1, CPLES_SQL);
    char **list = NULL;
    CSLDestroy(query(NULL, model, CPLSPrintf("SELECT CreateSpatialIndex('%s', '%s')", t, g)));
    list = query(list, model,
                 "SELECT replace(sql, 'CREATE TABLE ', 'CREATE TABLE IF NOT EXISTS ') FROM "
                 "sqlite_master WHERE type = 'table' AND name = 'gpkg_extensions'");
    list = query(list, model,
                 "SELECT 'INSERT INTO gpkg_extensions VALUES (' || quote(table_name) || ',' || "
                 "quote(column_name) || ',' || quote(extension_name) || ',' || quote(definition) "
                 "|| ',' || quote(scope) || ')' FROM gpkg_extensions WHERE extension_name = "
                 "'gpkg_rtree_index'");
    list = query(list, model,
                 "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rtree%'");
    CPLFree(t);
    CPLFree(g);
    return list;
}

/* The same for a layer with rows; NULL if GDAL cannot make an index. */
static char **declaration_of(OGRLayerH layer, const char *model_path)
{
    const GDALDatasetH model =
        GDALCreate(GDALGetDriverByName("GPKG"), model_path, 0, 0, 0, GDT_Unknown, NULL);
    char **options = CSLSetNameValue(NULL, "SPATIAL_INDEX", "NO"), **list = NULL;
    options = CSLSetNameValue(options, "GEOMETRY_NAME", OGR_L_GetGeometryColumn(layer));
    const OGRLayerH made = model ? GDALDatasetCreateLayer(model, OGR_L_GetName(layer), NULL,
                                                          OGR_L_GetGeomType(layer), options)
                                 : NULL;
    if (made) list = declaration(model, made);
    if (model) GDALClose(model);
    (void)VSIUnlink(model_path);
    CSLDestroy(options);
    return list;
}

qfz_status qfz_gpkg_index_finish(qfz_rtree *tree, GDALDatasetH dataset, OGRLayerH layer,
                                 const char *path, qfz_error *err)
{
    char number[QFZ_RANDOM_BYTES];
    qfz_error_trap trap;
    qfz_status st = QFZ_OK;
    QFZ_TRY(qfz_rtree_finish(tree, err));
    QFZ_TRY(qfz_random_name(number, err));
    qfz_error_trap_begin(&trap);
    char *const model = CPLStrdup(CPLSPrintf("/vsimem/qfz-%s.gpkg", number));
    char **const list = declaration_of(layer, model);
    CPLFree(model);
    qfz_error_trap_end(&trap);
    if (trap.failed || CSLCount(list) < 3)
        st = qfz_error_trap_fail(&trap, err, QFZ_EIO, path,
                                 "GDAL does not declare its spatial index");
    for (char *const *statement = list; statement && *statement && st == QFZ_OK; statement++)
        st = qfz_sql_run(dataset, *statement, path, err);
    CSLDestroy(list);
    return st;
}
