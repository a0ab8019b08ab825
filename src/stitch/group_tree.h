/* SPDX-License-Identifier: MIT */
/* grid.h - tiles, and groups of tiles: level 0 are the tiles, row by row; each node of the level
 * above holds two by two of the level below, or up to four of one column or one row, until one node
 * holds the raster. */
#ifndef QFZ_GROUP_TREE_H
#define QFZ_GROUP_TREE_H

#include "core/tiling.h"
#include "core/status.h"

enum { QFZ_GROUP_LEVELS = 64, QFZ_GROUP_CHILDREN = 4 };

typedef struct qfz_group_tree {
    qfz_tiling tiling;
    int n_levels;
    int64_t n_x[QFZ_GROUP_LEVELS], n_y[QFZ_GROUP_LEVELS];
    int log_w[QFZ_GROUP_LEVELS], log_h[QFZ_GROUP_LEVELS]; /* of a level's nodes, in tiles */
    int64_t first[QFZ_GROUP_LEVELS + 1]; /* number of a level's first node; the last entry: all */
} qfz_group_tree;

qfz_group_tree qfz_group_tree_of(const qfz_tiling *tiling);
qfz_box qfz_group_tree_box(const qfz_group_tree *group_tree, int level, int64_t node);
int qfz_group_tree_sides(const qfz_group_tree *group_tree,
                         qfz_box box); /* that are inside the raster */

/* The members of a node of level > 0, at most QFZ_GROUP_CHILDREN of level - 1; returns how many. */
int qfz_group_tree_children(const qfz_group_tree *group_tree, int level, int64_t node,
                            int64_t *children);

/* A node belongs to the part that has its first tile; those of one part are the range first..end-1
 * of a level. */
int qfz_group_tree_owner(const qfz_group_tree *group_tree, int level, int64_t node, int n_parts);
void qfz_group_tree_owned(const qfz_group_tree *group_tree, int level, int part, int n_parts,
                          int64_t *first, int64_t *end);
int64_t qfz_group_tree_parent(const qfz_group_tree *group_tree, int level, int64_t node);

#endif
