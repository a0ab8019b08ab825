/* SPDX-License-Identifier: MIT */
/* forest_tree.cuh - the canonical alpha-tree of a tile, from its Boruvka forest
 * (forest/boruvka.cuh).
 *
 * The forest consists of rooted trees in which the greatest level on the path between two pixels is
 * their minimax level.  Here a hook is called a link.  Without the links above level l, the
 * remaining pieces are the l-components, and each piece has one top: its member nearest the root.
 * So a node of the alpha-tree is a pair (top, level).  The pair of any pixel is found by climbing
 * while links are not above the level, at most some fifteen steps.
 *
 *   nodes     each link of the forest, of level l, yields the node of its piece at l; these are all
 *             nodes
 *   parents   the nodes of one top, by level, contain each other, and their levels are below that
 *             of the top's own link; so the parent of each is the next one, and the parent of the
 *             last is the node that the top's link yields
 *   pixels    the parent of a pixel is the node that its own link yields, its lightest edge
 *
 * Pairs are made unique and sorted: pairs whose piece lies inside a block in shared memory
 * (forest_tree_block.cu), the others, whose top is a vertex of the graph of all blocks, by one
 * radix sort (forest_tree.cu).  The numbering of nodes depends on the schedule; the tree does not.
 *
 * Memory, bytes per pixel: 4 (wide: 6) for hooks of pixels, which become the parents of pixels; 2.5
 * for blocks; 4 to 5 more while the forest is built.  Then 24 bytes per pair; at the end 12 bytes
 * per pair and 6 to 8 per node inside a block.  A natural scene has 0.08 to 0.17 pairs a pixel
 * and 0.3 to 0.75 nodes inside blocks, white noise 0.13 to 0.25 and 0.75.  The numbers are known
 * before the memory for pairs and nodes is needed.
 *
 * Traffic, bytes per pixel: that of the forest; 4 read and 4 written by each of two passes over
 * blocks; 6 to 8 per node; some 150 per pair. */
#pragma once

#include "gpu/forest/boruvka.cuh"

/* The counts that decide the memory of a tree. */
typedef struct qfz_gpu_tree_counts {
    uint32_t vertices, pairs;
    uint32_t inside; /* nodes whose piece is inside a block */
    uint32_t others; /* the other nodes; known when the tree is complete */
} qfz_gpu_tree_counts;

/* A tree that is being built; all arrays lie in its scratch memory. */
typedef struct qfz_gpu_forest_tree {
    qfz_gpu_forest forest;
    uint32_t alpha_level;
    int level_bits;
    uint32_t *d_first_node; /* per vertex: the lowest node whose top it is */
    uint2 *d_inside;        /* per block, of its nodes inside: first, number */
    uint32_t *d_first_pair; /* per block: its first pair */
    qfz_gpu_tree_counts *d_counts;
    int64_t pair_room;     /* pairs that fit; further pairs are counted only */
    uint64_t *d_pairs[2];  /* top << level_bits | level, where top is a vertex */
    uint32_t *d_source[2]; /* the pair's number before the sort */
    uint32_t *d_node;      /* per pair: its node; pair v is that of vertex v's link */
    void *d_sort;          /* scratch memory of sort and sums */
    uint32_t *d_parent;    /* results: parents of pixels, in the memory of forest.top */
    uint32_t *d_inside_parent, *d_other_parent;
    void *d_inside_level; /* uint16_t; uint32_t for a wide forest */
    uint32_t *d_other_level;
} qfz_gpu_forest_tree;

/* Bytes of scratch memory for a tree of such counts and for its forest. */
size_t qfz_gpu_forest_tree_bytes(const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts);

/* Counts that suffice for all images except noise. */
qfz_gpu_tree_counts qfz_gpu_tree_counts_usual(const qfz_gpu_edges *edges);

/* The place in the scratch memory where the caller may store planes of levels for the edges. */
uint32_t *qfz_gpu_forest_tree_edge_levels(const qfz_gpu_edges *edges, void *d_scratch);

/* Dynamic shared memory, bytes, that a block of threads needs, in addition to
 * qfz_gpu_forest_shared(). */
size_t qfz_gpu_forest_tree_shared(const qfz_gpu_edges *edges);

/* Builds the tree in two steps; between them the caller downloads *tree->d_counts.  If a tree of
 * these counts needs more than scratch_bytes, the caller must begin again with more memory.  Edges
 * of levels above alpha_level are omitted; edges->max_level must be below QFZ_NONE.
 *
 * The nodes of the qfz_tree (qfz.h) are, in this order: pixels, all of level 0; nodes inside
 * blocks; the other nodes, whose number is in *tree->d_counts after the second step. */
qfz_status qfz_gpu_forest_tree_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                                     void *d_scratch, size_t scratch_bytes,
                                     qfz_gpu_forest_tree *tree);
qfz_status qfz_gpu_forest_tree_end(qfz_gpu *gpu, qfz_gpu_forest_tree *tree,
                                   const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts);
