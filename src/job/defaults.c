/* SPDX-License-Identifier: MIT */
/* defaults.c - the job from which callers start, with and without GDAL. */
#include "job/defaults.h"

static qfz_job default_job(qfz_task task)
{
    return (qfz_job){.struct_size = sizeof(qfz_job),
                     .task = task,
                     .criterion = {.connectivity = 4, .distance = QFZ_L1},
                     .retries = 3,
                     .retry_wait_s = 0.01};
}

void qfz_job_init(qfz_job *job, size_t struct_size, qfz_task task)
{
    const qfz_job made = default_job(task);
    if (!job || struct_size < sizeof struct_size) return;
    memset(job, 0, struct_size);
    memcpy(job, &struct_size, sizeof struct_size);
    qfz_api_write(job, &made, sizeof made);
}

qfz_status qfz_job_read(qfz_job *job, const qfz_job *of_caller, qfz_error *err)
{
    *job = default_job(QFZ_LABEL);
    QFZ_TRY(qfz_api_read(job, sizeof *job, of_caller, "qfz_job", err));
    if (job->task == QFZ_CURVE) job->count_only = true; /* a curve has no output raster */
    if (job->task != QFZ_CUT || !job->edges) return QFZ_OK;
    if (job->src && strcmp(job->src, job->edges) != 0)
        return qfz_fail(err, QFZ_EARG,
                        "%s: a cut takes the levels of --edges instead of a saliency raster; leave "
                        "one out, or use qfz label --edges for levels beside a raster",
                        job->src);
    job->src = job->edges;
    return QFZ_OK;
}
