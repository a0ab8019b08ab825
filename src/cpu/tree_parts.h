/* SPDX-License-Identifier: MIT */
/* tree_parts.h - the data of the three steps of tree.c.
 *
 * The image is cut into blocks.  tree_block.c builds the tree of each block, tree_join.c inserts
 * the edges that cross the seams between blocks, tree_number.c makes the result canonical and
 * numbers its nodes.
 *
 * While the tree grows, its inner nodes have slots.  Every block owns a sequence of slots: first
 * for its own nodes (fewer than its pixels), then one for each of its crossing edges, so that
 * inserting an edge never has to look for memory.
 *
 * All data lies in the memory of the result.  In parent, with n pixels, words 0..n - 1 are leaf,
 * and words from n on are the children of each slot, later the slot's final number.  In level, each
 * slot has two words: its node. */
#ifndef QFZ_TREE_PARTS_H
#define QFZ_TREE_PARTS_H

#include "cpu/block.h"
#include "cpu/cpu.h"

/* An inner node.  A root is its own parent.  A node whose parent has its own level is an alias of
 * that parent.  A slot whose parent is QFZ_NONE is not in use. */
typedef struct qfz_tree_node {
    uint32_t parent, level;
} qfz_tree_node;

typedef struct qfz_tree_block {
    uint32_t slot;                       /* its first slot */
    uint32_t n_nodes;                    /* slots in use, without those of crossing edges */
    uint32_t seam;                       /* its first crossing edge */
    uint32_t n_right, n_below, n_corner; /* crossing edges, in this order */
    uint32_t number;                     /* final number of its first remaining node */
    uint32_t last_gone;                  /* its last removed slot, or QFZ_NONE */
} qfz_tree_block;

/* The state of one build; everything is borrowed from the caller. */
typedef struct qfz_tree_work {
    const qfz_image *image;
    const qfz_rule *rule;
    qfz_cpu_blocks layout;
    qfz_tree_block *blocks; /* and one more, for the end of the last block's nodes */
    qfz_tree_node *node;
    qfz_seam_edge *seam;
    uint32_t *leaf;     /* slot of each pixel's parent; QFZ_NONE: the pixel has none */
    uint32_t *children; /* exact number of children of each node */
} qfz_tree_work;

static inline uint32_t qfz_tree_block_slots(const qfz_tree_block *block)
{
    return block->n_nodes + block->n_right + block->n_below + block->n_corner;
}

/* ---- tree_block.c: scratch has qfz_tree_block_bytes() bytes and belongs to one thread. */
size_t qfz_tree_block_bytes(int connectivity);
void qfz_tree_build_block(const qfz_tree_work *t, int64_t by, int64_t bx, void *scratch);

/* ---- tree_join.c: joins the trees of two adjacent groups of blocks.
 *
 * blocks: rows and columns of blocks.  The groups are the two parts of it on both sides of column
 * (row) `at`; the tree of each is finished. */
void qfz_tree_join_columns(const qfz_tree_work *t, qfz_box blocks, int64_t at);
void qfz_tree_join_rows(const qfz_tree_work *t, qfz_box blocks, int64_t at);

/* ---- tree_number.c: turns slots into the canonical tree of cpu.h, in the memory of both. */
void qfz_tree_number(const qfz_tree_work *t, int n_threads, uint32_t *parent, uint32_t *level,
                     int64_t *n_nodes);

#endif
