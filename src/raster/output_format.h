/* SPDX-License-Identifier: MIT */
/* output_format.h - the format of a raster, from its name or as the user gave it. */
#ifndef QFZ_RASTER_OUTPUT_FORMAT_H
#define QFZ_RASTER_OUTPUT_FORMAT_H

#include "core/status.h"

/* format, below: GDAL's short name of a driver as the user gave it; NULL: by the extension of path,
 * else GTiff. */

/* *name = GDAL's short name of the driver; valid as long as format. */
qfz_status qfz_output_format(const char *format, const char *path, const char **name,
                             qfz_error *err);

/* True if path will be a VRT over parts.  If not, several processes need qfz_sink_options.merge. */
bool qfz_output_is_vrt(const char *format, const char *path);

/* True if the driver can only copy a finished raster (COG, PNG). */
bool qfz_output_is_copied(const char *format, const char *path);

#endif
