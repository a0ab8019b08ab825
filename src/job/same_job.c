/* SPDX-License-Identifier: MIT */
#include "job/same_job.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/job_identity.h"
#include "stitch/stitch.h"

static qfz_status compare(const qfz_job *job, int rank, const char *here, const char *first,
                          bool first_works, qfz_error *err)
{
    qfz_job_difference d;
    if (qfz_job_identity_differs(first, here, &d))
        return qfz_fail(
            err, QFZ_EARG,
            "the processes of a job must have the same options: %s is \"%s\" for rank 0 and "
            "\"%s\" for rank %d",
            d.what, d.there, d.here, rank);
    if (first_works == (job->work != NULL)) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "--work must name a folder for all processes of a job, or for none");
}

qfz_status qfz_same_job_check(const qfz_setup *setup, const qfz_ranks *ranks, qfz_error *err)
{
    char *here = NULL, *first = NULL;
    bool first_works = setup->job->work != NULL;
    qfz_status st = qfz_job_identity_make(&here, setup, NULL, ranks->n, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    int64_t bytes = (int64_t)strlen(here) + 1;
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(ranks, &bytes, sizeof bytes, err));
    st = QFZ_NEW(&first, bytes, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    if (ranks->rank == 0) memcpy(first, here, (size_t)bytes);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(ranks, first, bytes, err));
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(ranks, &first_works, sizeof first_works, err));
    st = compare(setup->job, ranks->rank, here, first, first_works, err);
    st = qfz_ranks_agree(ranks, st, err);

cleanup:
    free(here);
    free(first);
    return st;
}
