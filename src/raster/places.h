/* SPDX-License-Identifier: MIT */
/* places.h - where positions in pixels lie: in the CRS of a raster, and on WGS 84. */
#ifndef QFZ_RASTER_PLACES_H
#define QFZ_RASTER_PLACES_H

#include "raster/source.h"

/* Converts n positions in pixels, in place, to coordinates in the CRS; 0.5 is the middle of the
 * first pixel.  The source is located. */
void qfz_source_to_crs(const qfz_source *source, int64_t n, double *x, double *y);

typedef struct qfz_lon_lat qfz_lon_lat; /* used by one thread at a time */

/* *places = NULL if the source, which is located, has no CRS, or none that leads to WGS 84. */
qfz_status qfz_lon_lat_open(qfz_lon_lat **places, const qfz_source *source, qfz_error *err);

/* Converts n coordinates in the CRS, in place, to longitude and latitude on WGS 84 in degrees; NaN
 * where there are none.  The result for a point does not depend on the others. */
void qfz_lon_lat_convert(const qfz_lon_lat *places, int64_t n, double *x, double *y);
void qfz_lon_lat_close(qfz_lon_lat *places); /* NULL is allowed */

#endif
