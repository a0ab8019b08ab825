/* SPDX-License-Identifier: MIT */
#include "job/phase_check.h"

#include "job/setup.h"

qfz_status qfz_phase_check(const qfz_job *job, qfz_error *err)
{
    const bool parts = qfz_job_is_of_part(job);
    if (job->resume && !job->work)
        return qfz_fail(err, QFZ_EARG, "--resume needs --work, the folder that holds the journal");
    if (!parts && job->n_parts > 0)
        return qfz_fail(err, QFZ_EARG, "--part belongs to a --phase: summarise or resolve");
    if (job->phase == QFZ_PHASE_ALL) return QFZ_OK;
    if (!job->work)
        return qfz_fail(err, QFZ_EARG, "--phase needs --work, the folder that all phases share");
    if (job->ranks && job->ranks->n > 1)
        return qfz_fail(err, QFZ_EARG, "a phase is for one process; start it without MPI ranks");
    if (parts && job->n_parts == 0)
        return qfz_fail(
            err, QFZ_EARG,
            "this phase processes one part at a time; name it, for instance --part 3/16");
    if (parts && (job->part < 1 || job->part > job->n_parts))
        return qfz_fail(err, QFZ_EARG, "part %d of %d; parts are numbered from 1", job->part,
                        job->n_parts);
    return QFZ_OK;
}
