/* SPDX-License-Identifier: MIT */
/* polygon_wkb.h - polygons in the form that tables take: well-known binary of OGC. */
#ifndef QFZ_REGIONS_POLYGON_WKB_H
#define QFZ_REGIONS_POLYGON_WKB_H

#include "regions/polygon.h"

/* Multipolygons one behind the other; begin with all members 0. */
typedef struct qfz_polygon_wkb {
    uint8_t *bytes;
    int64_t n_bytes, room;
} qfz_polygon_wkb;

void qfz_polygon_wkb_fini(qfz_polygon_wkb *wkb);

/* Appends a polygon as a little-endian multipolygon.  x[i], y[i]: coordinates of corner i in the
 * CRS; is_mirrored: a turn from x to y in pixels is one from y to x in the CRS, as in rasters whose
 * first row is the northernmost.  In the CRS exterior rings run counter-clockwise, holes clockwise.
 * QFZ_EARG: the label is as large as 2^32 rings or corners. */
qfz_status qfz_polygon_wkb_add(qfz_polygon_wkb *wkb, const qfz_polygon *polygon, const double *x,
                               const double *y, bool is_mirrored, qfz_error *err);

#endif
