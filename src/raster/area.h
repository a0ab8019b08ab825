/* SPDX-License-Identifier: MIT */
/* area.h - areas of pixels as whole numbers of a unit, so that areas add exactly. */
#ifndef QFZ_RASTER_AREA_H
#define QFZ_RASTER_AREA_H

#include "raster/source.h"

/* weights[i] = area of a pixel in raster row y0 + i, in units of qfz_source_area_unit().  The areas
 * of all pixels of the raster together are below 2^63 units.
 *
 * Geographic CRS: on the ellipsoid; if the geotransform is rotated, the mean of the row.  Else:
 * |determinant of the geotransform| times the square of the CRS's unit.  The source is located. */
qfz_status qfz_source_row_areas(const qfz_source *source, int64_t y0, int64_t n, uint64_t *weights,
                                qfz_error *err);

/* In square metres; without a CRS, in square units of the geotransform. */
double qfz_source_area_unit(const qfz_source *source);

#endif
