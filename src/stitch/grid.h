/* SPDX-License-Identifier: MIT */
/* grid.h - tiles, and groups of tiles: level 0 are the tiles, row by row; each node of the level
 * above holds two by two of the level below, or up to four of one column or one row, until one node
 * holds the raster. */
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
    int log_w[QFZ_MAX_LEVELS], log_h[QFZ_MAX_LEVELS]; /* of a level's nodes, in tiles */
    int64_t first[QFZ_MAX_LEVELS + 1]; /* number of a level's first node; the last entry: all */
} qfz_hierarchy;

qfz_hierarchy qfz_hierarchy_of(const qfz_grid *grid);
qfz_box qfz_hierarchy_box(const qfz_hierarchy *hierarchy, int level, int64_t node);
int qfz_hierarchy_sides(const qfz_hierarchy *hierarchy,
                        qfz_box box); /* that are inside the raster */

/* The members of a node of level > 0, at most QFZ_MAX_CHILDREN of level - 1; returns how many. */
int qfz_hierarchy_children(const qfz_hierarchy *hierarchy, int level, int64_t node,
                           int64_t *children);

/* A raster in parts: part k of n (from 0) has a range of whole rows of tiles, maybe none. */
int64_t qfz_part_first_row(int64_t n_rows, int part, int n_parts);
int qfz_part_of_row(int64_t n_rows, int64_t row, int n_parts);

/* A node belongs to the part that has its first tile; those of one part are the range first..end-1
 * of a level. */
int qfz_hierarchy_owner(const qfz_hierarchy *hierarchy, int level, int64_t node, int n_parts);
void qfz_hierarchy_owned(const qfz_hierarchy *hierarchy, int level, int part, int n_parts,
                         int64_t *first, int64_t *end);
int64_t qfz_hierarchy_parent(const qfz_hierarchy *hierarchy, int level, int64_t node);

#endif
