/* SPDX-License-Identifier: MIT */
/* contract_parts.h - one block that is contracted, and who joins its components: contract.c where
 * levels are all that counts, contract_omega.c where ranges of values do too. */
#ifndef QFZ_CPU_CONTRACT_PARTS_H
#define QFZ_CPU_CONTRACT_PARTS_H

#include "cpu/contract.h"

enum {
    QFZ_BLOCK_MAX_RING = 4 * QFZ_BLOCK_SIDE,
    QFZ_BLOCK_MAX_SEAM = 6 * QFZ_BLOCK_SIDE,
    QFZ_OPEN = 0x8000 /* in a component's state, over its size */
};

typedef struct qfz_contract_scratch {
    uint16_t find[QFZ_BLOCK_PX];       /* sets of pixels */
    uint16_t state[QFZ_BLOCK_PX];      /* of a set's root: its size, QFZ_OPEN */
    uint64_t open[QFZ_BLOCK_MAX_RING]; /* ring pixel -> least key that leaves the block */
    qfz_seam_edge seam[QFZ_BLOCK_MAX_SEAM];
} qfz_contract_scratch;

typedef struct qfz_block_work {
    const qfz_contraction *c;
    const qfz_image *image;
    qfz_contracted_block *block;
    qfz_box box;
    int thread;
    qfz_contract_scratch *s;
    qfz_block_edges *edges;
    uint32_t *hook, *level; /* the block's */
} qfz_block_work;

/* Joins the components of a block whose edges have been found, in the order of qfz_block_sort(). */
typedef void (*qfz_join_fn)(const qfz_block_work *b, void *arg);

void qfz_contract_by(qfz_contraction *c, const qfz_image *image, bool open_ring, qfz_join_fn join,
                     void *arg);

/* The vertex of an open root. */
static inline uint32_t qfz_root_vertex(const qfz_contracted_block *block, uint32_t root_hook)
{
    return block->vertex + (root_hook >> QFZ_HOOK_BITS & ~QFZ_ROOT);
}

static inline bool qfz_is_open_root(uint32_t hook)
{
    return hook >= QFZ_ROOT_HOOK && (hook >> QFZ_HOOK_BITS & ~QFZ_ROOT) != QFZ_CLOSED;
}

/* A link between two of the block's vertices. */
void qfz_block_link(const qfz_block_work *b, uint32_t p, uint32_t q, uint32_t key);

#endif
