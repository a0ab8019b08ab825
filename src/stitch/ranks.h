/* SPDX-License-Identifier: MIT */
/* ranks.h - the processes that share a job, and what passes between them.
 *
 * All functions but those of join, leave, stop are collective: every rank calls them in the same
 * order, from the main thread.  A rank on its own meets nobody, and they do next to nothing.
 *
 * transport_mpi.c and transport_none.c both are this; the build picks one. */
#ifndef QFZ_STITCH_RANKS_H
#define QFZ_STITCH_RANKS_H

#include "core/status.h"

/* One failure for all: the status of the lowest rank that failed, with its message.  Whatever may
 * fail on one rank alone is followed by this, before the next collective call but exchanges. */
qfz_status qfz_ranks_agree(const qfz_ranks *ranks, qfz_status st, qfz_error *err);

/* This rank has failed and will say so by qfz_ranks_agree(); the others need not go on until then.
 * The second tells them so; it is free to call often. */
void qfz_ranks_stop(const qfz_ranks *ranks);
bool qfz_ranks_stopped(const qfz_ranks *ranks);

/* What rank 0 has, for all. */
qfz_status qfz_ranks_share(const qfz_ranks *ranks, void *data, int64_t bytes, qfz_error *err);

/* The sum of `mine` over the ranks before this one, and over all. */
qfz_status qfz_ranks_sum(const qfz_ranks *ranks, uint64_t mine, uint64_t *before, uint64_t *total,
                         qfz_error *err);

/* Pieces of bytes from rank to rank, each under a key.  Both sides know how many. */
typedef struct qfz_mail {
    int64_t n_out, n_in;
    void *arg;

    /* The next piece that goes out: to whom, and its key. */
    void (*next)(void *arg, int *to, int64_t *key);

    /* The bytes of one, good until the exchange is over; those in *own are released here. */
    qfz_status (*get)(void *arg, int64_t key, const void **data, int64_t *bytes, void **own,
                      qfz_error *err);

    /* One that came. */
    qfz_status (*put)(void *arg, int64_t key, void *take_data, int64_t bytes, qfz_error *err);
} qfz_mail;

/* Waits for those only from whom something comes, and until what goes out has come.  A rank that
 * has failed (st) takes part all the same, with pieces that say so: whoever gets one has failed
 * too, though not of its own.  So nobody waits in vain, and qfz_ranks_agree() may follow after many
 * of these. */
qfz_status qfz_ranks_exchange(const qfz_ranks *ranks, const qfz_mail *mail, qfz_status st,
                              qfz_error *err);

#endif
