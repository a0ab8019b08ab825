/* SPDX-License-Identifier: MIT */
/* georef.h - where the pixels of a raster lie on Earth. */
#ifndef QFZ_RASTER_GEOREF_H
#define QFZ_RASTER_GEOREF_H

#include <gdal.h>
#include <ogr_srs_api.h>

#include "core/status.h"

typedef struct qfz_georef {
    bool has_transform;
    double transform[6];      /* GDAL's order; the identity if the raster has none */
    OGRSpatialReferenceH srs; /* owned, x before y; NULL: no CRS, or no transform into it */
    bool is_geographic;
    double unit;          /* of the axes: in radians if geographic, else in metres; 1 without CRS */
    double a, flattening; /* ellipsoid in metres, if geographic */
} qfz_georef;

qfz_status qfz_georef_init(qfz_georef *georef, GDALDatasetH dataset, qfz_error *err);
void qfz_georef_fini(qfz_georef *georef); /* a zeroed georef is allowed */

/* Copies CRS, geotransform or GCPs, pixel convention and RPC.
 *
 * khalimsky: `to` has twice the resolution of `from` (georef.c).  y0: the row of the whole output
 * that is the first row of `to`.  name: of `to`, for messages. */
qfz_status qfz_georef_copy(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0,
                           const char *name, qfz_error *err);

#endif
