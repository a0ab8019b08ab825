/* SPDX-License-Identifier: MIT */
#include "raster/driver.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <stdio.h>
#include <string.h>

bool qfz_driver_has_option(GDALDriverH driver, const char *key)
{
    const char *const list = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONOPTIONLIST, NULL);
    char quoted[64];
    if (!list) return false;
    (void)snprintf(quoted, sizeof quoted, "name='%s'", key);
    if (strstr(list, quoted)) return true;
    (void)snprintf(quoted, sizeof quoted, "name=\"%s\"", key);
    return strstr(list, quoted) != NULL;
}

bool qfz_driver_is(GDALDriverH driver, const char *name)
{
    return EQUAL(GDALGetDriverShortName(driver), name);
}

/* The lists of GTiff and COG lack types that the drivers can write. */
bool qfz_driver_has_type(GDALDriverH driver, const char *type)
{
    const char *const list = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONDATATYPES, NULL);
    if (!list || qfz_driver_is(driver, "GTiff") || qfz_driver_is(driver, "COG")) return true;
    char **const names = CSLTokenizeString(list);
    const bool found = CSLFindString(names, type) >= 0;
    CSLDestroy(names);
    return found;
}

bool qfz_driver_can(GDALDriverH driver, const char *capability)
{
    const char *const value = GDALGetMetadataItem(driver, capability, NULL);
    return value && CPLTestBool(value);
}

static bool has_extension(GDALDriverH driver, const char *extension)
{
    char **list = CSLTokenizeString(GDALGetMetadataItem(driver, GDAL_DMD_EXTENSIONS, NULL));
    list = CSLAddString(list, GDALGetMetadataItem(driver, GDAL_DMD_EXTENSION, NULL));
    const bool found = CSLFindString(list, extension) >= 0;
    CSLDestroy(list);
    return found;
}

/* LIBKML keeps a whole table in memory, and its time grows with the square of the rows. */
static bool has_better(GDALDriverH driver, const char *extension)
{
    return qfz_driver_is(driver, "LIBKML") && EQUAL(extension, "kml") && GDALGetDriverByName("KML");
}

qfz_status qfz_driver_find(GDALDriverH *driver, const char *path, bool vector, qfz_error *err)
{
    const char *const extension = CPLGetExtension(path);
    if (!vector && (!extension[0] || EQUAL(extension, "tif") || EQUAL(extension, "tiff"))) {
        *driver = GDALGetDriverByName("GTiff");
        return *driver ? QFZ_OK : qfz_fail(err, QFZ_EIO, "%s: GDAL has no GTiff driver", path);
    }
    for (int i = 0; i < GDALGetDriverCount(); i++) {
        const GDALDriverH d = GDALGetDriver(i);
        const bool writes = qfz_driver_can(d, GDAL_DCAP_CREATE) ||
                            (!vector && qfz_driver_can(d, GDAL_DCAP_CREATECOPY));
        if (qfz_driver_is(d, "PDS4")) continue; /* cannot be renamed; see format.c */
        if (!writes || !qfz_driver_can(d, vector ? GDAL_DCAP_VECTOR : GDAL_DCAP_RASTER)) continue;
        if (!extension[0] || !has_extension(d, extension) || has_better(d, extension)) continue;
        *driver = d;
        return QFZ_OK;
    }
    if (!extension[0])
        return qfz_fail(
            err, QFZ_EARG,
            "%s: the name has no extension, from which the format follows; add one, as .csv", path);
    return qfz_fail(err, QFZ_EARG,
                    "%s: this GDAL can write no format with the extension .%s; use %s", path,
                    extension, vector ? ".fgb, .gpkg or .csv" : ".tif");
}
