/* SPDX-License-Identifier: MIT */
/* filter_saved.h - what stage one of the area filter has found of a tile without its exterior, kept
 * until the exterior is known: the bits of edges, and the small graph. */
#ifndef QFZ_FILTER_SAVED_H
#define QFZ_FILTER_SAVED_H

#include "core/engine.h"
#include "core/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_filter_saved {
    int64_t n_px, n_items;
    uint32_t n_vertices;
    uint8_t *zeroed, *forest; /* two pixels a byte; forest: NULL unless the rule wants it */
    uint64_t *weight;         /* by vertex */
    uint32_t *u, *v;          /* these and the masses by item */
    uint64_t *mass;
    qfz_filter_key *key;
} qfz_filter_saved;

/* What qfz_filter_save() allocates. */
int64_t qfz_filter_saved_bytes(const qfz_filter_items *items, uint32_t n_vertices, int64_t n_px,
                               const qfz_rule *rule);

/* Copies items, the weights of n_vertices before a pass, and the bits of n_px pixels.  After a
 * failure qfz_filter_saved_fini() releases what was allocated. */
qfz_status qfz_filter_save(qfz_filter_saved *saved, const qfz_filter_items *items,
                           const uint64_t *weight, uint32_t n_vertices, const qfz_edge_bits *bits,
                           int64_t n_px, qfz_error *err);
void qfz_filter_saved_fini(qfz_filter_saved *saved); /* all 0 is allowed */

/* The opposite; items may grow. */
qfz_status qfz_filter_restore(const qfz_filter_saved *saved, qfz_filter_items *items,
                              qfz_filter_sets *sets, const qfz_edge_bits *bits, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
