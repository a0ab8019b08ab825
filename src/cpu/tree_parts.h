/* SPDX-License-Identifier: MIT */
/* tree_parts.h - the three steps of tree.c, and what they share.
 *
 * The image is cut into blocks.  tree_block.c builds the tree of each block by itself,
 * tree_join.c inserts the edges that cross the seams between blocks, tree_number.c makes the
 * result canonical and numbers its nodes.
 *
 * While the tree grows, its inner nodes have slots.  Every block owns a run of them: its own nodes
 * first (fewer than it has pixels), then one slot for each of its crossing edges, so that inserting
 * an edge never looks for room.
 *
 * All of this lies in the room of the result, n being the number of pixels:
 *
 *   parent    0 .. n: leaf     n ..: children of each slot, later the slot's final number
 *   level     two words for each slot: its node */
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
    uint32_t n_nodes;                    /* slots in use, those of crossing edges left out */
    uint32_t seam;                       /* its first crossing edge */
    uint32_t n_right, n_below, n_corner; /* crossing edges, in this order */
    uint32_t number;                     /* final number of its first node that stays */
    uint32_t last_gone;                  /* its last slot that does not stay, or QFZ_NONE */
} qfz_tree_block;

/* The state of one build; everything is borrowed from the caller. */
typedef struct qfz_tree_work {
    const qfz_image *image;
    const qfz_rule *rule;
    qfz_cpu_blocks layout;
    qfz_tree_block *blocks; /* and one more, for where the last one's nodes end */
    qfz_tree_node *node;
    qfz_seam_edge *seam;
    uint32_t *leaf;     /* slot of each pixel's parent, QFZ_NONE: the pixel is alone */
    uint32_t *children; /* of each node; exact */
} qfz_tree_work;

static inline uint32_t qfz_tree_block_slots(const qfz_tree_block *block)
{
    return block->n_nodes + block->n_right + block->n_below + block->n_corner;
}

/* ---- tree_block.c: scratch of qfz_tree_block_bytes() bytes, for one thread. */
size_t qfz_tree_block_bytes(int connectivity);
void qfz_tree_build_block(const qfz_tree_work *t, int64_t by, int64_t bx, void *scratch);

/* ---- tree_join.c: the tree of two groups of blocks that touch.
 *
 * blocks: rows and columns of blocks.  The groups are its two parts on both sides of column
 * (row) `at`; each is a finished tree already. */
void qfz_tree_join_columns(const qfz_tree_work *t, qfz_box blocks, int64_t at);
void qfz_tree_join_rows(const qfz_tree_work *t, qfz_box blocks, int64_t at);

/* ---- tree_number.c: from slots to the canonical tree of cpu.h, in the room of both. */
void qfz_tree_number(const qfz_tree_work *t, int n_threads, uint32_t *parent, uint32_t *level,
                     int64_t *n_nodes);

#endif
