/* SPDX-License-Identifier: MIT */
/* exchange.c - what goes from rank to rank between two levels: of each rank at most one row of
 * nodes up and one down, along the seam with its neighbours. */
#include <stdlib.h>

#include "memory.h"
#include "stitch/state.h"

typedef struct transfer {
    qfz_stitch *stitch;
    int what;
    int64_t *nodes; /* that go out */
    int *to;
    int64_t n_out, n_in;
} transfer;

/* A node of the level whose parent this rank does not have, or one that only its parent is of. */
static void consider(transfer *t, int level, int64_t node, qfz_way way)
{
    const qfz_stitch *const stitch = t->stitch;
    const int n = stitch->ranks->n, mine = stitch->ranks->rank;
    const int own = qfz_hierarchy_owner(&stitch->hierarchy, level, node, n);
    const int64_t parent = qfz_hierarchy_parent(&stitch->hierarchy, level, node);
    const int above = qfz_hierarchy_owner(&stitch->hierarchy, level + 1, parent, n);
    const int from = way == QFZ_UP ? own : above, to = way == QFZ_UP ? above : own;
    if (from == to) return;
    if (to == mine) t->n_in++;
    if (from != mine) return;
    t->nodes[t->n_out] = node;
    t->to[t->n_out++] = to;
}

static qfz_status out(void *arg, int64_t i, int *to, int64_t *key, void **data, int64_t *bytes,
                      qfz_error *err)
{
    const transfer *const t = arg;
    *to = t->to[i];
    *key = qfz_piece(t->stitch, t->what, t->nodes[i]);
    QFZ_TRY(qfz_store_get(t->stitch->store, *key, data, bytes, err));
    qfz_store_drop(t->stitch->store, *key); /* from now on it is asked for over there */
    return QFZ_OK;
}

static qfz_status in(void *arg, int64_t key, const void *data, int64_t bytes, qfz_error *err)
{
    const transfer *const t = arg;
    if (qfz_store_has(t->stitch->store, key)) return QFZ_OK; /* from before a resumption */
    return qfz_store_put(t->stitch->store, key, data, bytes, err);
}

qfz_status qfz_stitch_exchange(qfz_stitch *stitch, int what, int level, qfz_way way, qfz_error *err)
{
    const qfz_hierarchy *const h = &stitch->hierarchy;
    transfer t = {.stitch = stitch, .what = what};
    if (stitch->ranks->n == 1) return QFZ_OK;
    const int64_t n_nodes = h->first[level + 1] - h->first[level];
    qfz_status st = QFZ_NEW(&t.nodes, n_nodes, err);
    if (st == QFZ_OK) st = QFZ_NEW(&t.to, n_nodes, err);
    for (int64_t i = 0; i < n_nodes && st == QFZ_OK; i++)
        consider(&t, level, h->first[level] + i, way);
    const qfz_mail mail = {.n_out = t.n_out, .n_in = t.n_in, .out = out, .in = in, .arg = &t};
    st = qfz_ranks_agree(stitch->ranks, st, err);
    if (st == QFZ_OK) st = qfz_ranks_exchange(stitch->ranks, &mail, err);
    free(t.nodes);
    free(t.to);
    return st;
}
