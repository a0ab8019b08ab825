/* SPDX-License-Identifier: MIT */
/* contract_omega_parts.h - the state of one block during contraction with ranges, shared by
 * contract_omega.c, contract_omega_block.c (joins) and contract_omega_stops.c (ends of climbs). */
#ifndef QFZ_CPU_CONTRACT_OMEGA_PARTS_H
#define QFZ_CPU_CONTRACT_OMEGA_PARTS_H

#include "cpu/contract_omega.h"
#include "cpu/contract_parts.h"
#include "cpu/min_max.h"

struct qfz_thread_events {
    qfz_ranges ranges;
    qfz_error err; /* the first failure; no events are added after it */
};

/* Bytes of the least, or the greatest, values of a component. */
static inline size_t qfz_span_bytes(const qfz_rule *rule)
{
    return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
}

/* Nodes and late pixels of a block. */
enum { QFZ_MAX_PARTS = QFZ_BLOCK_MAX_NODES };

/* The joined components of a block, and working memory to find its stops. */
typedef struct qfz_joined {
    uint32_t holds[QFZ_MAX_PARTS];  /* omega level, by node; as in qfz_spans */
    uint32_t opened[QFZ_MAX_PARTS]; /* level at which a node opened, by node */
    uint32_t held[QFZ_MAX_PARTS];   /* this one and the following arrays by number: omega level when
                                       the node was hooked */
    uint32_t
        till[QFZ_MAX_PARTS];     /* pixels hooked by a level up to this have the stop of the node */
    uint16_t top[QFZ_MAX_PARTS]; /* the node where a chain of hooks of one level ends */
    uint16_t stop[QFZ_MAX_PARTS];
    qfz_stop stops[QFZ_CPU_BLOCK_PX];
    uint16_t others[QFZ_CPU_BLOCK_PX]; /* pixels whose stop is not their node's */
} qfz_joined;

/* The omega level of a component that exceeds omega at this level: the level before; level 0 itself
 * always is within omega. */
static inline uint32_t qfz_level_before(uint32_t level)
{
    return level > 0 ? level - 1 : 0;
}

/* Bytes of working memory per thread. */
size_t qfz_omega_block_bytes(const qfz_rule *rule);

/* A qfz_join_fn; arg is the qfz_omega_contraction. */
void qfz_omega_join_block(const qfz_block_work *b, void *arg);

/* Finds the stops of the pixels of a block after qfz_block_finish(). */
void qfz_omega_find_stops(const qfz_block_work *b, qfz_omega_contraction *o, qfz_joined *joined);

#endif
