/* SPDX-License-Identifier: MIT */
/* arc_store.h - the chains of all tiles, sorted by label.
 *
 * Chains beyond a number of bytes go to a temporary file, in sorted runs, which are merged as the
 * chains are read. */
#ifndef QFZ_REGIONS_ARC_STORE_H
#define QFZ_REGIONS_ARC_STORE_H

#include "regions/arc.h"

typedef struct qfz_arc_store qfz_arc_store;

/* All chains of one label: n of them one behind the other, each a qfz_arc_head and its steps,
 * unaligned.  Their order depends on the tiles. */
typedef struct qfz_arc_group {
    uint64_t label;
    int64_t n, n_bytes;
    const uint8_t *bytes; /* the store's; valid until the next call */
} qfz_arc_group;

/* memory_bytes: for chains and their index in memory.  group_bytes: the most for the chains of one
 * label.  folder: of the temporary file; borrowed. */
qfz_status qfz_arc_store_create(qfz_arc_store **store, int64_t memory_bytes, int64_t group_bytes,
                                const char *folder, qfz_error *err);
void qfz_arc_store_close(qfz_arc_store *store); /* NULL is allowed */

/* Copies the chains of a tile; one thread at a time. */
qfz_status qfz_arc_store_add(qfz_arc_store *store, const qfz_arcs *arcs, qfz_error *err);

/* After the last qfz_arc_store_add().  *n_labels = number of labels. */
qfz_status qfz_arc_store_sort(qfz_arc_store *store, int64_t *n_labels, qfz_error *err);

/* The chains of the next label, ascending; group->n = 0: there are no more.  QFZ_ENOMEM if those of
 * one label exceed group_bytes. */
qfz_status qfz_arc_store_next(qfz_arc_store *store, qfz_arc_group *group, qfz_error *err);

/* The part of all chains that next() has read, 0..1. */
double qfz_arc_store_part(const qfz_arc_store *store);

#endif
