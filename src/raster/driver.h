/* SPDX-License-Identifier: MIT */
/* driver.h - drivers of GDAL: which one writes a file, and what it can do. */
#ifndef QFZ_RASTER_DRIVER_H
#define QFZ_RASTER_DRIVER_H

#include <gdal.h>

#include "core/status.h"

bool qfz_driver_is(GDALDriverH driver, const char *name);

/* capability: a GDAL_DCAP_ name. */
bool qfz_driver_can(GDALDriverH driver, const char *capability);
bool qfz_driver_has_option(GDALDriverH driver, const char *key); /* for creation */

/* True if files of the driver may have bands of the type, by GDAL's name. */
bool qfz_driver_has_type(GDALDriverH driver, const char *type);

/* The driver that creates files with the extension of path, of vectors or of rasters.  A raster
 * without extension is a GTiff. */
qfz_status qfz_driver_find(GDALDriverH *driver, const char *path, bool vector, qfz_error *err);

#endif
