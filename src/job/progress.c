/* SPDX-License-Identifier: MIT */
#include "job/progress.h"

#include <stdio.h>

#include "core/retry.h"
#include "stitch/stitch.h"

void qfz_progress_init(qfz_job_progress *progress, const qfz_job *job, const qfz_ranks *ranks,
                       qfz_step_times *times)
{
    *progress = (qfz_job_progress){.report = job->progress,
                                   .arg = job->progress_arg,
                                   .ranks = ranks,
                                   .main = pthread_self(),
                                   .times = times};
}

void qfz_progress_begin(qfz_job_progress *progress, const char *step, double share, int64_t tiles)
{
    (void)snprintf(progress->step, sizeof progress->step, "%s", step);
    qfz_step_times_begin(progress->times, step);
    progress->has_tiles = tiles > 0;
    progress->done += progress->share;
    progress->share = share * progress->scale;
    progress->items = tiles > 0 ? tiles : 1;
    progress->items_done = 0;
}

/* Calls the job's function; true if the function cancels. */
static bool report(qfz_job_progress *progress, double part)
{
    const double done = progress->done + progress->share * part;
    int64_t tiles;
#pragma omp atomic read
    tiles = progress->items_done;
    if (done > progress->reported) progress->reported = done < 1 ? done : 1;
    const qfz_progress now = {.struct_size = sizeof now,
                              .done = progress->reported,
                              .step = progress->step,
                              .tiles_done = progress->has_tiles ? tiles : 0,
                              .tiles = progress->has_tiles ? progress->items : 0,
                              .retries = qfz_retries_so_far()};
    return progress->report(&now, progress->arg) != 0;
}

/* The critical section keeps the promises of qfz.h: one thread at a time calls the function, and no
 * thread calls it after it has cancelled the job. */
qfz_status qfz_progress_advance_to(qfz_job_progress *progress, double part, qfz_error *err)
{
    bool stop = false;
    if (pthread_equal(pthread_self(), progress->main) && qfz_ranks_stopped(progress->ranks))
        return qfz_fail(err, QFZ_ECANCEL, "another rank failed");
    if (progress->report) {
#pragma omp critical(qfz_job_progress_report)
        {
            if (!progress->cancelled) progress->cancelled = report(progress, part);
            stop = progress->cancelled;
        }
    }
    return stop ? qfz_fail(err, QFZ_ECANCEL, "stopped on request; no output was written") : QFZ_OK;
}

qfz_status qfz_progress_advance(qfz_job_progress *progress, qfz_error *err)
{
    int64_t done;
#pragma omp atomic capture
    done = ++progress->items_done;
    return qfz_progress_advance_to(progress, (double)done / (double)progress->items, err);
}
