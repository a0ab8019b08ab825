/* SPDX-License-Identifier: MIT */
/* place.h - where a source lies, and the names of its bands, as numbers and texts. */
#ifndef QFZ_RASTER_PLACE_H
#define QFZ_RASTER_PLACE_H

#include "raster/source.h"

/* Writes GDAL's geotransform, the identity if the raster has none; returns whether it has one.  The
 * source is located. */
bool qfz_source_transform(const qfz_source *source, double transform[6]);

/* *crs = the coordinate reference system as WKT 2 in one line; NULL if there is none.  Freed by
 * free().  The source is located. */
qfz_status qfz_source_crs(const qfz_source *source, char **crs, qfz_error *err);

/* *name = the description of the band in use with this index, from 0; "" if it has none.  Freed by
 * free(). */
qfz_status qfz_source_band_name(const qfz_source *source, int band, char **name, qfz_error *err);

#endif
