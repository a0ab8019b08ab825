/* SPDX-License-Identifier: MIT */
/* forest_tree_parts.cuh - pairs, and the launchers of the steps inside blocks. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/tree/forest_tree.cuh"

/* The top of the piece of a vertex at a level. */
QFZ_DEVICE uint32_t qfz_top_of_vertex(const qfz_gpu_forest &forest, uint32_t vertex, uint32_t level)
{
    for (;;) {
        const uint2 up = forest.up[vertex];
        if ((up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT || up.y > level) return vertex;
        vertex = up.x >> QFZ_UP_BITS;
    }
}

/* Stores pair number i, unless it does not fit. */
QFZ_DEVICE void qfz_put_pair(const qfz_gpu_forest_tree &tree, uint32_t i, uint32_t top,
                             uint32_t level)
{
    if (i < tree.pair_room) tree.d_pairs[0][i] = (uint64_t)top << tree.level_bits | level;
}

/* Finds the nodes inside blocks and appends the pairs of vertices to the tree's.  Results overwrite
 * the forest: the component of a pixel by the number of the pixel's parent; the level of a block's
 * k-th pixel by the level of the block's node k; the block's k-th half hook by the number of that
 * node's parent.  In a block, the numbers of nodes inside are followed by those of its pairs. */
qfz_status qfz_forest_tree_blocks(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree);

/* When the nodes of pairs are known: writes the results for pixels and for nodes inside blocks. */
qfz_status qfz_forest_tree_write(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree);
