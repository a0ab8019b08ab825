/* SPDX-License-Identifier: MIT */
/* gdal_setup.h - what holds for GDAL in the whole process: drivers, configuration, cache. */
#ifndef QFZ_RASTER_GDAL_SETUP_H
#define QFZ_RASTER_GDAL_SETUP_H

#include "core/status.h"

/* Registers GDAL's drivers and the file system of retry_vsi.h, silences GDAL's own printing, sets
 * GDAL's configuration options (config: KEY=VALUE, NULL-terminated, or NULL) and the size of its
 * block cache.  Called before any other function of this room; may be called again, by any thread.
 * QFZ_EARG: an item of config is not KEY=VALUE. */
qfz_status qfz_raster_setup(const char *const *config, int64_t cache_bytes, qfz_error *err);

/* Gives GDAL's block cache another size, unless config sets GDAL_CACHEMAX. */
void qfz_raster_set_cache(const char *const *config, int64_t cache_bytes);

#endif
