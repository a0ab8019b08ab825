/* SPDX-License-Identifier: MIT */
#include "raster/table_rings.h"

#include <gdal.h>
#include <ogr_api.h>
#include <stdlib.h>

#include "core/memory.h"

void qfz_table_rings_fini(qfz_table_rings *rings)
{
    free(rings->rings);
    free(rings->x);
    free(rings->y);
    *rings = (qfz_table_rings){0};
}

static qfz_status reserve(qfz_table_rings *r, int64_t n_points, qfz_error *err)
{
    if (r->n == r->rings_room) {
        const int64_t room = 2 * r->rings_room + 16;
        QFZ_TRY(qfz_realloc((void **)&r->rings, room, sizeof *r->rings, err));
        r->rings_room = room;
    }
    if (r->n_points + n_points > r->points_room) {
        const int64_t room = 2 * (r->n_points + n_points);
        QFZ_TRY(qfz_realloc((void **)&r->x, room, sizeof *r->x, err));
        QFZ_TRY(qfz_realloc((void **)&r->y, room, sizeof *r->y, err));
        r->points_room = room;
    }
    return QFZ_OK;
}

static qfz_status add_ring(qfz_table_rings *r, OGRGeometryH ring, bool is_hole, qfz_error *err)
{
    const int n = OGR_G_GetPointCount(ring);
    if (n == 0) return QFZ_OK;
    QFZ_TRY(reserve(r, n, err));
    (void)OGR_G_GetPoints(ring, r->x + r->n_points, sizeof *r->x, r->y + r->n_points, sizeof *r->y,
                          NULL, 0);
    r->rings[r->n++] = (qfz_table_ring){r->n_points, n, is_hole};
    r->n_points += n;
    return QFZ_OK;
}

static qfz_status add_polygon(qfz_table_rings *r, OGRGeometryH polygon, qfz_error *err)
{
    if (wkbFlatten(OGR_G_GetGeometryType(polygon)) != wkbPolygon) return QFZ_OK;
    for (int i = 0; i < OGR_G_GetGeometryCount(polygon); i++)
        QFZ_TRY(add_ring(r, OGR_G_GetGeometryRef(polygon, i), i > 0, err));
    return QFZ_OK;
}

qfz_status qfz_table_rings_read(qfz_table_rings *rings, void *geometry, const double transform[6],
                                qfz_error *err)
{
    double forward[6], inverse[6];
    rings->n = rings->n_points = 0;
    for (int i = 0; i < 6; i++)
        forward[i] = transform[i];
    if (!geometry || !GDALInvGeoTransform(forward, inverse)) return QFZ_OK;
    if (wkbFlatten(OGR_G_GetGeometryType(geometry)) == wkbPolygon)
        QFZ_TRY(add_polygon(rings, geometry, err));
    else
        for (int i = 0; i < OGR_G_GetGeometryCount(geometry); i++)
            QFZ_TRY(add_polygon(rings, OGR_G_GetGeometryRef(geometry, i), err));
    for (int64_t i = 0; i < rings->n_points; i++) {
        const double x = rings->x[i], y = rings->y[i];
        rings->x[i] = inverse[0] + x * inverse[1] + y * inverse[2];
        rings->y[i] = inverse[3] + x * inverse[4] + y * inverse[5];
    }
    return QFZ_OK;
}
