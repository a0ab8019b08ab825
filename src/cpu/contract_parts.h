/* SPDX-License-Identifier: MIT */
/* contract_parts.h - the state of one block during contraction, shared by contract.c and the two
 * ways to join its components: contract_levels.c by levels alone, contract_omega_block.c with
 * ranges of values. */
#ifndef QFZ_CPU_CONTRACT_PARTS_H
#define QFZ_CPU_CONTRACT_PARTS_H

#include "cpu/contract.h"
#include "cpu/lightest.h"

enum { QFZ_BLOCK_MAX_RING = 4 * QFZ_CPU_BLOCK_SIDE, QFZ_BLOCK_MAX_SEAM = 6 * QFZ_CPU_BLOCK_SIDE };

/* A set of nodes, stored at its root in spanning.h: the node that its next hook leads to, and a
 * weight: the component's size - 1, with QFZ_SET_OPEN if it is open.  So an open component counts
 * as larger than any closed one. */
enum { QFZ_SET_OPEN = 0x4000, QFZ_SET_WEIGHT_SHIFT = 16 };

typedef struct qfz_contract_scratch {
    uint16_t set[QFZ_BLOCK_MAX_NODES]; /* of nodes, as in spanning.h */
    uint64_t
        open[QFZ_BLOCK_MAX_RING]; /* by ring pixel: least level of an edge that leaves the block */
    qfz_seam_edge seam[QFZ_BLOCK_MAX_SEAM];

    uint16_t number[QFZ_BLOCK_MAX_NODES]; /* of nodes */
    uint32_t component[QFZ_BLOCK_MAX_NODES];
    qfz_lightest lightest;
} qfz_contract_scratch;

typedef struct qfz_block_work {
    qfz_contraction *c;
    const qfz_image *image;
    qfz_contracted_block *block;
    qfz_box box;
    int thread;
    qfz_contract_scratch *s;
    qfz_block_edges *edges;
    uint16_t *number, *up; /* of nodes; until qfz_block_finish(), up is a node, not its number */
    uint32_t *level;
    uint16_t *px_number; /* of pixels; until qfz_block_finish(), their nodes */
    uint32_t *px_first;  /* levels of their hooks, as in lightest.h */
} qfz_block_work;

/* Joins the components of a block whose edges have been found, in the order of qfz_block_sort(). */
typedef void (*qfz_join_fn)(const qfz_block_work *b, void *arg);

/* contract_levels.c: a qfz_join_fn, which ignores arg. */
void qfz_contract_join_levels(const qfz_block_work *b, void *arg);

void qfz_contract_by(qfz_contraction *c, const qfz_image *image, bool open_ring, qfz_join_fn join,
                     void *arg);

static inline uint32_t qfz_set_node(uint32_t component)
{
    return (uint16_t)component;
}

static inline uint32_t qfz_set_weight(uint32_t component)
{
    return component >> QFZ_SET_WEIGHT_SHIFT;
}

static inline uint32_t qfz_set_of(uint32_t node, uint32_t weight)
{
    return node | weight << QFZ_SET_WEIGHT_SHIFT;
}

/* The larger of the components *stays and other, *stays if they are equal, takes in the other one;
 * the result is stored in *stays.  Returns the smaller one. */
static inline uint32_t qfz_set_join(uint32_t *stays, uint32_t other, uint32_t *larger)
{
    const uint32_t p = *stays, q = other;
    const bool p_stays = qfz_set_weight(p) >= qfz_set_weight(q);
    const uint32_t smaller = p_stays ? q : p;
    *larger = p_stays ? p : q;
    *stays = *larger + qfz_set_of(0, (qfz_set_weight(smaller) & (QFZ_SET_OPEN - 1)) + 1);
    return smaller;
}

/* Turns a root's component into a vertex. */
static inline void qfz_block_open(const qfz_block_work *b, uint32_t root)
{
    b->number[root] = (uint16_t)(b->block->n_nodes - ++b->block->n_open);
}

/* Adds a link between two of the block's vertices, given by their roots. */
void qfz_block_link(const qfz_block_work *b, uint32_t p, uint32_t q, uint32_t level);

/* Call after the last join: numbers the closed components that are not hooked, finds the gates, and
 * packs the block if it is to be stored. */
void qfz_block_finish(const qfz_block_work *b);

/* contract_count.c: counts the levels of the hooks of pixels and of nodes. */
void qfz_block_count(const qfz_block_work *b, qfz_histogram *settled);

/* contract_pack.c: packs a block behind those already packed; and the most bytes that a packed
 * block has. */
void qfz_block_pack(const qfz_block_work *b);
int64_t qfz_block_packed_most(int64_t n_px, int64_t n_nodes);

#endif
