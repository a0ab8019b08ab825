/* SPDX-License-Identifier: MIT */
/* ranks.h - the processes that share a job, and the messages between them.
 *
 * All functions except join, leave and stop are collective: every rank calls them in the same
 * order, from its main thread.  With a single rank they do next to nothing.
 *
 * transport_mpi.c and transport_none.c implement this header; the build selects one of them. */
#ifndef QFZ_STITCH_RANKS_H
#define QFZ_STITCH_RANKS_H

#include "core/status.h"

/* Returns, on every rank, the status and message of the lowest rank that failed.  A step that may
 * fail on one rank alone is followed by this call, before the next collective call other than
 * qfz_ranks_exchange(). */
qfz_status qfz_ranks_agree(const qfz_ranks *ranks, qfz_status st, qfz_error *err);

/* qfz_ranks_stop(): this rank has failed and will report it by qfz_ranks_agree(); the other ranks
 * may stop early.  qfz_ranks_stopped(): true if a rank has called it; cheap enough to call often.
 */
void qfz_ranks_stop(const qfz_ranks *ranks);
bool qfz_ranks_stopped(const qfz_ranks *ranks);

/* Copies data from rank 0 to all ranks. */
qfz_status qfz_ranks_share(const qfz_ranks *ranks, void *data, int64_t bytes, qfz_error *err);

/* The sum of `mine` over the ranks before this one, and over all. */
qfz_status qfz_ranks_sum(const qfz_ranks *ranks, uint64_t mine, uint64_t *before, uint64_t *total,
                         qfz_error *err);

/* Pieces of bytes between ranks, each with a key.  A piece may be larger than memory: it is read,
 * sent and taken in parts of a few.  Both sides know the number of pieces beforehand. */
typedef struct qfz_mail {
    int64_t n_out, n_in;
    void *arg;

    /* Receiver and key of the next outgoing piece; its size; and some of its bytes. */
    void (*next)(void *arg, int *to, int64_t *key);
    qfz_status (*size)(void *arg, int64_t key, int64_t *bytes, qfz_error *err);
    qfz_status (*read)(void *arg, int64_t key, int64_t offset, void *data, int64_t bytes,
                       qfz_error *err);

    /* Takes an incoming piece, whose key may be any: begin() once, add() for its bytes from first
     * to last, and end(); or drop() after begin() or a failure of add().  *incoming is for the
     * following calls.  Pieces of several ranks may come at a time. */
    qfz_status (*begin)(void *arg, int from, int64_t key, int64_t bytes, void **incoming,
                        qfz_error *err);
    qfz_status (*add)(void *arg, void *incoming, const void *data, int64_t bytes, qfz_error *err);
    qfz_status (*end)(void *arg, void *take_incoming, qfz_error *err);
    void (*drop)(void *arg, void *take_incoming);
} qfz_mail;

/* Sends and receives all pieces; waits only for the ranks that send to this one, and until the
 * own pieces have arrived.  A rank that has failed (st) takes part with messages that carry the
 * failure, and their receivers fail, too.  So no rank waits in vain, and qfz_ranks_agree() may
 * follow after many exchanges. */
qfz_status qfz_ranks_exchange(const qfz_ranks *ranks, const qfz_mail *mail, qfz_status st,
                              qfz_error *err);

#endif
