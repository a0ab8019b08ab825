/* SPDX-License-Identifier: MIT */
/* transport_none.c - without MPI every process is alone. */
#include "core/api.h"
#include "stitch/transport_launcher.h"
#include "stitch/ranks.h"

qfz_status qfz_ranks_join(qfz_ranks *ranks, qfz_error *err)
{
    qfz_error own;
    const qfz_launcher launcher = qfz_launcher_look();
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_launcher_check(&launcher, 1,
                               "this qfz has no MPI: build it with -DQFZ_MPI=ON, start one "
                               "process, or use `qfz run --phase ... --part K/N`",
                               err));
    *ranks = (qfz_ranks){.n = 1, .n_local = 1};
    return QFZ_OK;
}

void qfz_ranks_leave(void)
{
}

qfz_status qfz_ranks_agree(const qfz_ranks *ranks, qfz_status st, qfz_error *err)
{
    (void)ranks;
    (void)err;
    return st;
}

void qfz_ranks_stop(const qfz_ranks *ranks)
{
    (void)ranks;
}

bool qfz_ranks_stopped(const qfz_ranks *ranks)
{
    (void)ranks;
    return false;
}

qfz_status qfz_ranks_share(const qfz_ranks *ranks, void *data, int64_t bytes, qfz_error *err)
{
    (void)ranks;
    (void)data;
    (void)bytes;
    (void)err;
    return QFZ_OK;
}

qfz_status qfz_ranks_sum(const qfz_ranks *ranks, uint64_t mine, uint64_t *before, uint64_t *total,
                         qfz_error *err)
{
    (void)ranks;
    (void)err;
    *before = 0;
    *total = mine;
    return QFZ_OK;
}

qfz_status qfz_ranks_exchange(const qfz_ranks *ranks, const qfz_mail *mail, qfz_status st,
                              qfz_error *err)
{
    (void)ranks;
    (void)mail;
    (void)err;
    return st;
}
