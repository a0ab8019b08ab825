/* SPDX-License-Identifier: MIT */
/* contract_omega_parts.h - what contract_omega.c and the joining of one block
 * (contract_omega_block.c) share. */
#ifndef QFZ_CPU_CONTRACT_OMEGA_PARTS_H
#define QFZ_CPU_CONTRACT_OMEGA_PARTS_H

#include "cpu/contract_omega.h"
#include "cpu/contract_parts.h"

struct qfz_told {
    qfz_absorbs absorbs;
    qfz_error err; /* the first failure; nothing is told after it */
};

/* The least, or the greatest, values of a component. */
static inline size_t qfz_span_bytes(const qfz_rule *rule)
{
    return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
}

/* Of a thread's scratch memory. */
size_t qfz_omega_block_bytes(const qfz_rule *rule);

/* A qfz_join_fn; arg is the qfz_omega_contraction. */
void qfz_omega_join_block(const qfz_block_work *b, void *arg);

#endif
