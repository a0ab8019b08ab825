/* SPDX-License-Identifier: MIT */
/* polygon_simplify.h - rings with fewer corners, the same for both neighbours.
 *
 * A line is the part of a ring between two junctions, or corners of the raster; a ring without
 * these is one line from its first corner to itself.  Lines are simplified as by Douglas and
 * Peucker (1973): a chord replaces corners that lie within the tolerance of it.  The result depends
 * on the line alone, not on its direction, so two neighbours keep the same corners.
 *
 * Beyond Douglas and Peucker, a chord is refused if another border passes a corner between the
 * chord and the line, or if the line would then be one straight chord although it was not straight.
 * So no two lines cross, touch or coincide afterwards (after de Berg, van Kreveld and Schirra,
 * 1998): between a chord and its line lies no corner of another line, hence another chord that
 * enters there would cross the same chord again, which straight lines cannot. */
#ifndef QFZ_REGIONS_POLYGON_SIMPLIFY_H
#define QFZ_REGIONS_POLYGON_SIMPLIFY_H

#include "regions/polygon.h"

/* Memory of simplification; begin with all members 0. */
typedef struct qfz_simplify_memory {
    bool *keep;
    int64_t keep_room;
    int64_t *stack;
    int64_t stack_room;
    int32_t *least, *most; /* columns of a line, by row */
    int64_t rows_room;
} qfz_simplify_memory;

void qfz_simplify_fini(qfz_simplify_memory *memory);

/* Removes corners of a ring in place; *n_corners is at least 3 afterwards. */
qfz_status qfz_polygon_simplify(qfz_simplify_memory *memory, qfz_polygon_corner *corners,
                                int64_t *n_corners, double tolerance, const qfz_corner_map *map,
                                qfz_error *err);

#endif
