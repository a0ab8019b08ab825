/* SPDX-License-Identifier: MIT */
/* exchange.c - pieces of nodes that travel between ranks after a level of groups: for each rank at
 * most one row of nodes up and one down, along the seams with its neighbours. */
#include <stdlib.h>

#include "stitch/state.h"

typedef struct transfer {
    qfz_stitch *stitch;
    int what, level;
    qfz_way way;
    int64_t next; /* node: the next outgoing one is not before it */
} transfer;

/* Sender and receiver of a node's piece; equal if the piece does not travel. */
static void ends(const transfer *t, int64_t node, int *from, int *to)
{
    const qfz_group_tree *const h = &t->stitch->group_tree;
    const int n = t->stitch->ranks->n;
    const int own = qfz_group_tree_owner(h, t->level, node, n);
    const int above =
        qfz_group_tree_owner(h, t->level + 1, qfz_group_tree_parent(h, t->level, node), n);
    *from = t->way == QFZ_UP ? own : above;
    *to = t->way == QFZ_UP ? above : own;
}

static void next(void *arg, int *to, int64_t *key)
{
    transfer *const t = arg;
    const int mine = t->stitch->ranks->rank;
    int from;
    do {
        ends(t, t->next++, &from, to);
    } while (from != mine || *to == mine);
    *key = qfz_piece(t->stitch, t->what, t->next - 1);
}

/* An absent piece, which the receiver does not need, either, is sent as an empty one. */
static qfz_status size(void *arg, int64_t key, int64_t *bytes, qfz_error *err)
{
    const transfer *const t = arg;
    QFZ_TRY(qfz_store_check(t->stitch->store, key, bytes, err));
    if (*bytes < 0) *bytes = 0;
    return QFZ_OK;
}

static qfz_status read(void *arg, int64_t key, int64_t offset, void *data, int64_t bytes,
                       qfz_error *err)
{
    const transfer *const t = arg;
    return qfz_store_look(t->stitch->store, key, offset, data, bytes, err);
}

/* True if the piece is one that this rank gets from that one. */
static bool is_expected(const transfer *t, int from, int64_t key)
{
    const int64_t *const first = t->stitch->group_tree.first + t->level;
    const int64_t node = key - qfz_piece(t->stitch, t->what, 0);
    int sender, receiver;
    if (key < 0 || node < first[0] || node >= first[1]) return false;
    ends(t, node, &sender, &receiver);
    return sender == from && receiver == t->stitch->ranks->rank;
}

/* *incoming = NULL: the piece is there, from an earlier run of the job. */
static qfz_status begin(void *arg, int from, int64_t key, int64_t bytes, void **incoming,
                        qfz_error *err)
{
    const transfer *const t = arg;
    qfz_store_filling *filling = NULL;
    if (!is_expected(t, from, key))
        return qfz_fail(err, QFZ_EIO,
                        "rank %d sent the result of a tile that this rank does not get from it: "
                        "piece %lld of level %d",
                        from, (long long)key, t->level);
    if (!qfz_store_has(t->stitch->store, key))
        QFZ_TRY(qfz_store_begin(t->stitch->store, key, bytes, &filling, err));
    *incoming = filling;
    return QFZ_OK;
}

static qfz_status add(void *arg, void *incoming, const void *data, int64_t bytes, qfz_error *err)
{
    (void)arg;
    return incoming ? qfz_store_fill(incoming, data, bytes, err) : QFZ_OK;
}

static qfz_status end(void *arg, void *take_incoming, qfz_error *err)
{
    (void)arg;
    return take_incoming ? qfz_store_end(take_incoming, err) : QFZ_OK;
}

static void drop(void *arg, void *take_incoming)
{
    (void)arg;
    qfz_store_abandon(take_incoming);
}

/* The receiver owns the pieces from here on. */
static void drop_sent(transfer *t, int64_t n)
{
    t->next = t->stitch->group_tree.first[t->level];
    for (int64_t i = 0; i < n; i++) {
        int to;
        int64_t key;
        next(t, &to, &key);
        qfz_store_drop(t->stitch->store, key);
    }
}

qfz_status qfz_stitch_exchange(qfz_stitch *stitch, int what, int level, qfz_way way, qfz_status st,
                               qfz_error *err)
{
    const int64_t *const first = stitch->group_tree.first + level;
    const int mine = stitch->ranks->rank;
    transfer t = {.stitch = stitch, .what = what, .level = level, .way = way, .next = *first};
    qfz_mail mail = {.arg = &t,
                     .next = next,
                     .size = size,
                     .read = read,
                     .begin = begin,
                     .add = add,
                     .end = end,
                     .drop = drop};
    if (stitch->ranks->n == 1) return st;
    for (int64_t node = *first; node < first[1]; node++) {
        int from, to;
        ends(&t, node, &from, &to);
        mail.n_out += from == mine && to != mine;
        mail.n_in += from != mine && to == mine;
    }
    st = qfz_ranks_exchange(stitch->ranks, &mail, st, err);
    drop_sent(&t, mail.n_out);
    return st;
}
