/* SPDX-License-Identifier: MIT */
/* forest_tree.cuh - the canonical alpha-tree of a tile out of its Boruvka forest (boruvka.cuh).
 *
 * The forest is a rooted tree (or several) in which the greatest level on the way between two
 * pixels is their minimax level.  Take away its links above level l: the pieces that remain are the
 * l-components, and each has one top, the member nearest the root.  So a node of the alpha-tree is
 * a pair (top, level), and the pair of a member is found by climbing while links are not above the
 * level: some fifteen steps at most.
 *
 *   nodes     every link of the forest, of level l, names the node of its own piece at l; the names
 *             of all links are all nodes
 *   parents   the nodes of one top, by level, contain each other and are below the level of the
 *             top's own link; so each hangs on the next, and the last on what that link names
 *   pixels    hang on what their own link names, the lightest they have
 *
 * No list is merged with another: pairs are made unique and sorted, those whose top is a component
 * inside a block there (forest_tree_block.cu), those whose top is a vertex of the graph of all
 * blocks by one radix sort (forest_tree.cu).  How nodes are numbered depends on the schedule, the
 * tree does not.
 *
 * Traffic, bytes a pixel: the forest's; 4 read and 4 written by each of two passes over blocks, 8
 * of results and 8 a node; some 150 a pair that is sorted, of which a natural scene has 0.1 to 0.3
 * a pixel. */
#ifndef QFZ_GPU_FOREST_TREE_CUH
#define QFZ_GPU_FOREST_TREE_CUH

#include "gpu/boruvka.cuh"

/* A tree in the making; all arrays lie in its scratch memory or in its results'. */
typedef struct qfz_gpu_forest_tree {
    qfz_gpu_forest forest;
    uint32_t alpha_key;
    int level_bits;
    uint32_t *d_parent, *d_level; /* the results; until they are written, in the same places: */
    uint64_t *d_pairs[2];         /* top << level_bits | level, top being a vertex */
    uint32_t *d_who[2];           /* which pair it was, before the sort */
    uint32_t *d_node;             /* of a pair: its node; of the first: what the vertex hangs on */
    uint32_t *d_first_node;       /* of a vertex: the lowest node that it is the top of */
    uint32_t *d_n_local;          /* of a block: nodes inside, then their sum over those before */
    uint32_t *d_first_pair;       /* of a block */
    uint32_t *d_counts;           /* vertices, pairs: two words */
    void *d_sort;                 /* scratch memory of sort and sums */
} qfz_gpu_forest_tree;

size_t qfz_gpu_forest_tree_bytes(const qfz_gpu_edges *edges);

/* Shared memory that its blocks of threads need, beside those that make the forest. */
size_t qfz_gpu_forest_tree_shared(const qfz_gpu_edges *edges);

/* In two steps, since a sort wants to be told how many items there are: between them the caller
 * reads the two words at tree->d_counts.  Edges of keys above alpha_key are left out;
 * edges->max_key is below QFZ_NONE.  d_parent and d_level have room for 2 * h * w and become, in
 * the second step, a qfz_tree (qfz.h) of *d_n_nodes nodes.  d_scratch has
 * qfz_gpu_forest_tree_bytes(). */
qfz_status qfz_gpu_forest_tree_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_key,
                                     void *d_scratch, uint32_t *d_parent, uint32_t *d_level,
                                     qfz_gpu_forest_tree *tree);
qfz_status qfz_gpu_forest_tree_end(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree,
                                   const uint32_t counts[2], uint32_t *d_n_nodes);

#endif
