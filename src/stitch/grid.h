/* SPDX-License-Identifier: MIT */
/* grid.h - tiles, and groups of tiles: level 0 are the tiles, row by row; each node of the level
 * above holds two by two of the level below, until one node holds the raster. */
#ifndef QFZ_STITCH_GRID_H
#define QFZ_STITCH_GRID_H

#include "box.h"
#include "status.h"

typedef struct qfz_grid {
    int64_t w, h;
    int64_t tile_w, tile_h;
    int64_t n_x, n_y;
} qfz_grid;

enum { QFZ_MAX_LEVELS = 64, QFZ_MAX_CHILDREN = 4 };

typedef struct qfz_hierarchy {
    qfz_grid grid;
    int n_levels;
    int64_t n_x[QFZ_MAX_LEVELS], n_y[QFZ_MAX_LEVELS];
    int64_t first[QFZ_MAX_LEVELS + 1]; /* number of a level's first node; the last entry: all */
} qfz_hierarchy;

qfz_hierarchy qfz_hierarchy_of(const qfz_grid *grid);
qfz_box qfz_hierarchy_box(const qfz_hierarchy *hierarchy, int level, int64_t node);

/* The members of a node of level > 0, at most QFZ_MAX_CHILDREN of level - 1; returns how many. */
int qfz_hierarchy_children(const qfz_hierarchy *hierarchy, int level, int64_t node,
                           int64_t *children);

#endif
