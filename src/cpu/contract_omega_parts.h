/* SPDX-License-Identifier: MIT */
/* contract_omega_parts.h - what contract_omega.c, the joining of one block (contract_omega_block.c)
 * and where its climbs stop (contract_omega_stops.c) share. */
#ifndef QFZ_CPU_CONTRACT_OMEGA_PARTS_H
#define QFZ_CPU_CONTRACT_OMEGA_PARTS_H

#include "cpu/contract_omega.h"
#include "cpu/contract_parts.h"
#include "cpu/min_max.h"

struct qfz_exterior_view {
    qfz_ranges ranges;
    qfz_error err; /* the first failure; nothing is told after it */
};

/* The least, or the greatest, values of a component. */
static inline size_t qfz_span_bytes(const qfz_rule *rule)
{
    return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
}

/* Nodes and late pixels of a block. */
enum { QFZ_MAX_PARTS = QFZ_BLOCK_MAX_NODES };

/* What has been joined in a block, and room to find its stops. */
typedef struct qfz_joined {
    uint32_t holds[QFZ_MAX_PARTS];  /* as qfz_spans, by node */
    uint32_t opened[QFZ_MAX_PARTS]; /* level that a node was opened at */
    uint32_t held[QFZ_MAX_PARTS];   /* from here on by number: as holds, when it was hooked */
    uint32_t till[QFZ_MAX_PARTS]; /* pixels hooked by a level up to this stop where the node does */
    uint16_t top[QFZ_MAX_PARTS];  /* where all hooks of one level lead */
    uint16_t stop[QFZ_MAX_PARTS];
    qfz_stop stops[QFZ_CPU_BLOCK_PX];
    uint16_t others[QFZ_CPU_BLOCK_PX]; /* pixels that do not stop where their node does */
} qfz_joined;

/* A component that is too wide at a level has held before; at level 0, it holds just there. */
static inline uint32_t qfz_level_before(uint32_t level)
{
    return level > 0 ? level - 1 : 0;
}

/* Of a thread's scratch memory. */
size_t qfz_omega_block_bytes(const qfz_rule *rule);

/* A qfz_join_fn; arg is the qfz_omega_contraction. */
void qfz_omega_join_block(const qfz_block_work *b, void *arg);

/* Where climbs from the pixels of a block that is through stop. */
void qfz_omega_find_stops(const qfz_block_work *b, qfz_omega_contraction *o, qfz_joined *joined);

#endif
