/* SPDX-License-Identifier: MIT */
/* rtree.h - fills an R*Tree table of SQLite, the spatial index of a GeoPackage, from below.
 *
 * Inserting boxes one by one takes longer than writing the rows themselves.  Here boxes come in
 * order of their numbers; each 2^14 of them are sorted along a Hilbert curve and packed into full
 * nodes, which are written into the three tables behind the R*Tree.  Memory does not grow with the
 * number of boxes. */
#ifndef QFZ_RASTER_RTREE_H
#define QFZ_RASTER_RTREE_H

#include <gdal.h>

#include "core/status.h"
#include "raster/hilbert.h"

typedef struct qfz_rtree qfz_rtree;

/* Creates the R*Tree `name` in a dataset of SQLite, which is borrowed; messages name path. */
qfz_status qfz_rtree_create(qfz_rtree **tree, GDALDatasetH dataset, const char *name,
                            const char *path, qfz_error *err);

/* Adds a box; ids ascend. */
qfz_status qfz_rtree_add(qfz_rtree *tree, int64_t id, const qfz_extent *box, qfz_error *err);

/* Writes what is left; the tree is complete. */
qfz_status qfz_rtree_finish(qfz_rtree *tree, qfz_error *err);
void qfz_rtree_close(qfz_rtree *tree); /* NULL is allowed */

#endif
