/* SPDX-License-Identifier: MIT */
/* climb.h - minimax levels of pairs of nodes of one contracted block.
 *
 * From both, whichever stands at the lower number climbs, until they meet: the last hook has the
 * level.  How far is at random, so pairs are listed; those on the list climb one step, eight at a
 * time where the processor has AVX2, and those that have not met are listed anew.  Two that stand
 * at different roots ask the small graph. */
#ifndef QFZ_CPU_CLIMB_H
#define QFZ_CPU_CLIMB_H

#include "cpu/contract.h"

/* An answer of the small graph, kept: neighbours mostly ask the same. */
typedef struct qfz_lookup {
    uint32_t p, q, key;
} qfz_lookup;

enum { QFZ_LOOKUPS = 256, QFZ_MAX_CLIMBS = 2048, QFZ_CLIMB_LANES = 8 };

/* One block that is asked, by one thread. */
typedef struct qfz_climbs {
    const qfz_contraction *c;
    const qfz_contracted_block *block;
    const uint16_t *up;
    const uint32_t *level;
    uint32_t *keys;  /* what is raised */
    bool by_vectors; /* can the processor? */
    qfz_lookup lookups[QFZ_LOOKUPS];
    uint64_t lanes_of[1 << QFZ_CLIMB_LANES]; /* the bits of a number, a byte each, ascending */

    /* The list, and where each pair's key lies.  Lists have room for what is written behind their
     * last. */
    int n;
    uint32_t at[QFZ_MAX_CLIMBS + QFZ_CLIMB_LANES];
    uint32_t pair[QFZ_MAX_CLIMBS + QFZ_CLIMB_LANES];
} qfz_climbs;

/* The contraction's forest must have been grown; all is borrowed. */
void qfz_climbs_init(qfz_climbs *s, const qfz_contraction *c, const qfz_contracted_block *block,
                     const qfz_unpacked_block *unpacked, uint32_t *keys);

/* For those i for which doubt[i] is 1, not 0, keys[at + i] will be raised to the minimax level of
 * the nodes of numbers a[i] and b[i], which differ: by qfz_climbs_exterior(), or earlier.  n: at
 * most QFZ_BLOCK_SIDE. */
void qfz_climbs_ask(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                    int64_t n, uint32_t at);

/* After this nothing waits. */
void qfz_climbs_exterior(qfz_climbs *s);

#endif
