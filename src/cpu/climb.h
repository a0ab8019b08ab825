/* SPDX-License-Identifier: MIT */
/* climb.h - minimax levels of pairs of nodes of one contracted block.
 *
 * The minimax level of two nodes is the level of the last hook of a climb: of the two, the node
 * with the lower number moves to the node it is hooked to, until both are the same node.  The
 * number of steps varies at random, so pairs are collected in a list; all pairs of the list climb
 * one step, eight at a time if the processor has AVX2, and those that have not met form the next
 * list.  For a pair that ends at two different roots, the level comes from the small graph of
 * contract.h. */
#ifndef QFZ_CPU_CLIMB_H
#define QFZ_CPU_CLIMB_H

#include "core/simd.h"
#include "cpu/contract.h"

/* A cached minimax level of the small graph: neighbouring pairs mostly need the same one. */
typedef struct qfz_lookup {
    uint32_t p, q, level;
} qfz_lookup;

enum { QFZ_LOOKUPS = 256, QFZ_MAX_CLIMBS = 2048 };

/* The climbs in one block, by one thread. */
typedef struct qfz_climbs {
    const qfz_contraction *c;
    const qfz_contracted_block *block;
    const uint16_t *up;
    const uint32_t *hook_level;
    uint32_t *levels; /* the results, each at least what it was before */
    bool by_lanes;    /* qfz_lanes_are_fast() */
    qfz_lookup lookups[QFZ_LOOKUPS];
    uint64_t lanes_of[1 << QFZ_N_LANES]; /* the set bits of a number, one byte each, ascending */

    /* The list: n pairs, and the place of each pair's level.  The arrays have room for one vector
     * more, since whole vectors are written. */
    int n;
    uint32_t at[QFZ_MAX_CLIMBS + QFZ_N_LANES];
    uint32_t pair[QFZ_MAX_CLIMBS + QFZ_N_LANES];
} qfz_climbs;

/* The contraction's forest must have been grown.  All pointers are borrowed. */
void qfz_climbs_init(qfz_climbs *s, const qfz_contraction *c, const qfz_contracted_block *block,
                     const qfz_unpacked_block *unpacked, uint32_t *levels);

/* Adds n pairs of nodes, a[i] and b[i], n <= QFZ_CPU_BLOCK_SIDE, but only those with doubt[i] == 1;
 * the others have 0.  The two nodes of an added pair differ.  levels[at + i] will be raised to
 * their minimax level, at the latest by qfz_climbs_finish(). */
void qfz_climbs_add(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                    int64_t n, uint32_t at);

/* Finishes all pairs; the list is empty afterwards. */
void qfz_climbs_finish(qfz_climbs *s);

#endif
