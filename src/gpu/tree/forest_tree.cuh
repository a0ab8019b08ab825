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
 * Memory, bytes a pixel: 4 of what the forest has of pixels, which become their parents, or 6; 2.5
 * of blocks; as long as the forest is made 4 to 5 more; then 24 a pair; in the end 12 a pair and 6
 * to 8 a node inside a block.  A natural scene has 0.1 to 0.2 pairs a pixel and 0.3 to 0.6 such
 * nodes, white noise 0.3 and 0.7; how many there are is known before they need room.
 *
 * Traffic, bytes a pixel: the forest's; 4 read and 4 written by each of two passes over blocks, 6
 * to 8 a node; some 150 a pair. */
#ifndef QFZ_GPU_FOREST_TREE_CUH
#define QFZ_GPU_FOREST_TREE_CUH

#include "gpu/forest/boruvka.cuh"

/* How much there is of what a tree is made of. */
typedef struct qfz_gpu_tree_counts {
    uint32_t vertices, pairs;
    uint32_t inside; /* nodes whose top is inside a block */
    uint32_t others; /* the other nodes; known when the tree is done */
} qfz_gpu_tree_counts;

/* A tree in the making; all arrays lie in its scratch memory. */
typedef struct qfz_gpu_forest_tree {
    qfz_gpu_forest forest;
    uint32_t alpha_level;
    int level_bits;
    uint32_t *d_first_node; /* of a vertex: the lowest node that it is the top of */
    uint2 *d_inside;        /* of a block: nodes inside, those before its first, how many */
    uint32_t *d_first_pair; /* of a block */
    qfz_gpu_tree_counts *d_counts;
    int64_t pair_room;    /* pairs for which there is room; others are counted only */
    uint64_t *d_pairs[2]; /* top << level_bits | level, top being a vertex */
    uint32_t *d_who[2];   /* which pair it was, before the sort */
    uint32_t *d_node;     /* of a pair: its node; of the first: what the vertex hangs on */
    void *d_sort;         /* scratch memory of sort and sums */
    uint32_t *d_parent;   /* the results: of pixels, where their components were; */
    uint32_t *d_inside_parent, *d_other_parent;
    void *d_inside_level; /* uint16_t or, of a wide forest, uint32_t */
    uint32_t *d_other_level;
} qfz_gpu_forest_tree;

/* Scratch memory for a tree of such counts, and for the forest that it is made of. */
size_t qfz_gpu_forest_tree_bytes(const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts);

/* What all but noise stays below. */
qfz_gpu_tree_counts qfz_gpu_tree_counts_usual(const qfz_gpu_edges *edges);

/* Where in the scratch memory planes of keys may lie that edges are read from. */
uint32_t *qfz_gpu_forest_tree_edge_levels(const qfz_gpu_edges *edges, void *d_scratch);

/* Shared memory that its blocks of threads need, beside those that make the forest. */
size_t qfz_gpu_forest_tree_shared(const qfz_gpu_edges *edges);

/* In two steps: between them the caller reads *tree->d_counts.  If the tree takes more than the
 * scratch_bytes that there are, it must be begun anew with more.  Edges of keys above alpha_level
 * are left out; edges->max_level is below QFZ_NONE.
 *
 * The nodes of the qfz_tree (qfz.h), one part after the other: pixels, all of level 0; nodes inside
 * blocks; the others, whose number is in *tree->d_counts after the second step. */
qfz_status qfz_gpu_forest_tree_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                                     void *d_scratch, size_t scratch_bytes,
                                     qfz_gpu_forest_tree *tree);
qfz_status qfz_gpu_forest_tree_end(qfz_gpu *gpu, qfz_gpu_forest_tree *tree,
                                   const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts);

#endif
