/* SPDX-License-Identifier: MIT */
/* length.h - lengths of the sides of pixels as whole numbers of a unit, so that lengths add
 * exactly. */
#ifndef QFZ_RASTER_LENGTH_H
#define QFZ_RASTER_LENGTH_H

#include "raster/source.h"

/* The two kinds of sides of pixels. */
enum { QFZ_SIDE_BELOW = 0, QFZ_SIDE_RIGHT, QFZ_SIDES };

/* lengths[QFZ_SIDES * i + side] = length of that side of a pixel in raster row y0 + i, in units of
 * units[side].  The lengths of all sides of one kind, those along the
 * edge of the raster included, are together at most 2^63 units.  y0 = -1: the sides below the row
 * above the raster are the upper edge of the raster.
 *
 * Geographic CRS: on the ellipsoid; if the geotransform is rotated, in the middle of the row.  Else
 * the length of a column or row of the geotransform times the unit of the CRS: 1 unit.  The source
 * is located. */
qfz_status qfz_source_side_lengths(const qfz_source *source, int64_t y0, int64_t n,
                                   uint64_t *lengths, qfz_error *err);

/* In metres; without a CRS, in units of the geotransform. */
void qfz_source_side_units(const qfz_source *source, double units[QFZ_SIDES]);

#endif
