/* SPDX-License-Identifier: MIT */
/* table_rings.h - the rings of the polygon of a row of a table, in pixels of a raster. */
#ifndef QFZ_RASTER_TABLE_RINGS_H
#define QFZ_RASTER_TABLE_RINGS_H

#include "core/status.h"

typedef struct qfz_table_ring {
    int64_t first, n; /* points x[first..first + n), y[...] */
    bool is_hole;
} qfz_table_ring;

/* Begin with all members 0. */
typedef struct qfz_table_rings {
    qfz_table_ring *rings;
    int64_t n, rings_room;
    double *x, *y;
    int64_t n_points, points_room;
} qfz_table_rings;

void qfz_table_rings_fini(qfz_table_rings *rings);

/* Replaces the rings by those of a polygon or multipolygon (an OGRGeometryH; NULL or another
 * geometry: none).  transform: from pixels to coordinates. */
qfz_status qfz_table_rings_read(qfz_table_rings *rings, void *geometry, const double transform[6],
                                qfz_error *err);

#endif
