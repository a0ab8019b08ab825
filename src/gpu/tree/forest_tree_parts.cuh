/* SPDX-License-Identifier: MIT */
/* forest_tree_parts.cuh - what the parts of forest_tree.cuh share. */
#ifndef QFZ_GPU_FOREST_TREE_PARTS_CUH
#define QFZ_GPU_FOREST_TREE_PARTS_CUH

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/tree/forest_tree.cuh"

/* The top of a vertex's piece at a level. */
static __device__ __forceinline__ uint32_t qfz_top_of_vertex(const qfz_gpu_forest &forest,
                                                             uint32_t vertex, uint32_t level)
{
    for (;;) {
        const uint2 up = forest.up[vertex];
        if ((up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT || up.y > level) return vertex;
        vertex = up.x >> QFZ_UP_BITS;
    }
}

/* Pair i: a vertex and one of its levels. */
static __device__ __forceinline__ void qfz_put_pair(const qfz_gpu_forest_tree &tree, uint32_t i,
                                                    uint32_t top, uint32_t level)
{
    if (i < tree.pair_room) tree.d_pairs[0][i] = (uint64_t)top << tree.level_bits | level;
}

/* Nodes inside blocks, into places that the forest no longer needs: of a pixel, where its component
 * was, the number of the node it hangs on; of node k of a block, where the level of its k-th pixel
 * was, its level, and where its k-th half hook was, the number of its parent.  The numbers of a
 * block's nodes are followed by those of its pairs.  Appends these to the tree's. */
qfz_status qfz_forest_tree_blocks(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree);

/* Then, when pairs have nodes: the part of the results that concerns pixels and nodes inside
 * blocks. */
qfz_status qfz_forest_tree_write(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree);

#endif
