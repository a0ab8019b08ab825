/* SPDX-License-Identifier: MIT */
/* group_tree.h - tiles, and groups of tiles, as a tree of boxes.
 *
 * The nodes of level 0 are the tiles, row by row.  Each node of the next level holds two by two
 * nodes of the level below, or up to four of one column or row, until one node is the raster. */
#ifndef QFZ_GROUP_TREE_H
#define QFZ_GROUP_TREE_H

#include "core/tiling.h"
#include "core/status.h"

enum { QFZ_GROUP_LEVELS = 64, QFZ_GROUP_CHILDREN = 4 };

typedef struct qfz_group_tree {
    qfz_tiling tiling;
    int n_levels;
    int64_t n_x[QFZ_GROUP_LEVELS], n_y[QFZ_GROUP_LEVELS];
    int log_w[QFZ_GROUP_LEVELS], log_h[QFZ_GROUP_LEVELS]; /* size of a node, in tiles */
    int64_t first[QFZ_GROUP_LEVELS + 1];                  /* a level's first node; then all nodes */
} qfz_group_tree;

qfz_group_tree qfz_group_tree_of(const qfz_tiling *tiling);
qfz_box qfz_group_tree_box(const qfz_group_tree *group_tree, int level, int64_t node);

/* The sides of a box that have neighbours in the raster (core/box.h). */
int qfz_group_tree_sides(const qfz_group_tree *group_tree, qfz_box box);

/* Lists the members of a node of level > 0: nodes of level - 1, at most QFZ_GROUP_CHILDREN; returns
 * their number. */
int qfz_group_tree_children(const qfz_group_tree *group_tree, int level, int64_t node,
                            int64_t *children);

/* A node is owned by the part that owns its first tile.  The nodes of a level that one part owns
 * are first..end-1. */
int qfz_group_tree_owner(const qfz_group_tree *group_tree, int level, int64_t node, int n_parts);
void qfz_group_tree_owned(const qfz_group_tree *group_tree, int level, int part, int n_parts,
                          int64_t *first, int64_t *end);
int64_t qfz_group_tree_parent(const qfz_group_tree *group_tree, int level, int64_t node);

#endif
