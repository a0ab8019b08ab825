/* SPDX-License-Identifier: MIT */
/* polygon.h - the polygon of a label from its chains.
 *
 * A polygon has one exterior ring for each 4-connected piece of its label, and rings for the holes.
 * Every turn of a border and every junction is a corner of the rings, so two neighbours have the
 * same corners along their common border.  Rings never cross.  Where a border passes a corner
 * twice, it is cut into two rings that touch there: rings are simple, as OGC's Simple Features ask.
 *
 * The form is canonical, whatever the tiles were: each ring begins at its first corner in raster
 * order and runs clockwise in pixels if it is exterior, counter-clockwise if it is a hole;
 * exteriors are in the order of their first corners, each followed by its holes in the same order.
 */
#ifndef QFZ_REGIONS_POLYGON_H
#define QFZ_REGIONS_POLYGON_H

#include "regions/arc_store.h"
#include "regions/corner_map.h"

typedef struct qfz_polygon_corner {
    int32_t x, y;
    bool is_junction, is_touch;
} qfz_polygon_corner;

typedef struct qfz_polygon_ring {
    int64_t first, n; /* corners[first..first + n); the first is not repeated at the end */
    int64_t pixels;   /* inside the ring; less than 0: a hole */
    int64_t exterior; /* the ring that it is a hole of; itself, if exterior */
} qfz_polygon_ring;

typedef struct qfz_polygon {
    uint64_t label;
    int64_t pixels; /* without holes */
    uint64_t area;  /* in units of the weights of rows; 0 without weights */
    int64_t n_rings, n_exteriors;
    const qfz_polygon_ring *rings;
    const qfz_polygon_corner *corners;
} qfz_polygon;

typedef struct qfz_polygon_maker qfz_polygon_maker; /* used by one thread at a time */

/* weights_before[y] = weight of all rows before row y of one column, for each row and one more;
 * NULL: no areas.  Sums are modulo 2^64, and exact where the area of a label is below that.
 *
 * tolerance > 0, in pixels: lines between two junctions become simpler, as polygon_simplify.h says;
 * map, of the corners of all tiles, is used then.  Both are borrowed. */
qfz_status qfz_polygon_maker_create(qfz_polygon_maker **maker, const uint64_t *weights_before,
                                    double tolerance, const qfz_corner_map *map, qfz_error *err);
void qfz_polygon_maker_close(qfz_polygon_maker *maker); /* NULL is allowed */

/* *polygon is the maker's; valid until the next call. */
qfz_status qfz_polygon_make(qfz_polygon_maker *maker, const qfz_arc_group *group,
                            qfz_polygon *polygon, qfz_error *err);

/* Bytes of memory that the polygon of chains of so many bytes takes at most while it is made. */
int64_t qfz_polygon_bytes(int64_t group_bytes);

#endif
