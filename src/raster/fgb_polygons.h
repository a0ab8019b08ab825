/* SPDX-License-Identifier: MIT */
/* fgb_polygons.h - multipolygons as features of FlatGeobuf. */
#ifndef QFZ_RASTER_FGB_POLYGONS_H
#define QFZ_RASTER_FGB_POLYGONS_H

#include <stdint.h>

#include "raster/hilbert.h"

/* Most bytes of what qfz_fgb_put_polygons() writes for a multipolygon of n bytes of WKB. */
int64_t qfz_fgb_polygons_room(const uint8_t *wkb, int64_t n);

/* Writes a feature up to its properties: the size (which is set later), the FlatBuffer of the
 * feature, its geometry; the length of the properties and they themselves follow at the end, which
 * is returned.  wkb: a little-endian multipolygon.  *box = its extent. */
char *qfz_fgb_put_polygons(char *start, const uint8_t *wkb, qfz_extent *box);

#endif
