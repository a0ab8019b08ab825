/* SPDX-License-Identifier: MIT */
/* climb.h - minimax levels of pairs of nodes of one contracted block.
 *
 * From both, whichever stands at the lower number climbs, until they meet: the last hook has the
 * level.  How far is at random, so eight pairs climb in step where the processor can gather.  Two
 * that stand at different roots ask the small graph. */
#ifndef QFZ_CPU_CLIMB_H
#define QFZ_CPU_CLIMB_H

#include "cpu/contract.h"

/* An answer of the small graph, kept: neighbours mostly ask the same. */
typedef struct qfz_lookup {
    uint32_t p, q, key;
} qfz_lookup;

enum { QFZ_LOOKUPS = 256 };

/* One block that is asked, by one thread. */
typedef struct qfz_climbs {
    const qfz_contraction *c;
    const qfz_contracted_block *block;
    const uint16_t *up;
    const uint32_t *level;
    bool gathers; /* does the processor? */
    qfz_lookup lookups[QFZ_LOOKUPS];
} qfz_climbs;

/* The contraction's forest must have been grown; all is borrowed. */
void qfz_climbs_init(qfz_climbs *s, const qfz_contraction *c, const qfz_contracted_block *block,
                     const qfz_unpacked_block *unpacked);

/* Raises keys[i] to the minimax level of the nodes of numbers a[i] and b[i], 0 of one node. */
void qfz_climbs_raise(qfz_climbs *s, const uint16_t *a, const uint16_t *b, int64_t n,
                      uint32_t *keys);

#endif
