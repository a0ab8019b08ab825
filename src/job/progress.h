/* SPDX-License-Identifier: MIT */
/* progress.h - how far a job is: reports to the job's progress function, and requests to stop.
 *
 * A job is a sequence of steps, each with a share of the whole run time.  Invariant: the share that
 * is reported never falls. */
#ifndef QFZ_JOB_PROGRESS_H
#define QFZ_JOB_PROGRESS_H

#include <pthread.h>

#include "job/step_times.h"
#include "core/status.h"

typedef struct qfz_job_progress {
    qfz_progress_fn report; /* of the job; NULL: none */
    void *arg;
    const qfz_ranks *ranks; /* borrowed */
    pthread_t main;         /* the one thread that may communicate with other ranks */
    qfz_step_times *times;  /* borrowed */

    char step[32]; /* name of the current step */
    double scale;  /* factor that makes the shares of all steps add up to 1 */
    double done;   /* share of the steps before the current one */
    double share;  /* of the current step */
    double reported;
    bool cancelled; /* report() has returned a value other than 0 */
    bool has_tiles; /* the items of the current step are tiles */
    int64_t items_done, items;
} qfz_job_progress;

/* Called by the thread that communicates with other ranks. */
void qfz_progress_init(qfz_job_progress *progress, const qfz_job *job, const qfz_ranks *ranks,
                       qfz_step_times *times);

/* Begins a step: its name, its share of the run time before scaling, and its number of tiles, 0 for
 * a step that is not made of tiles. */
void qfz_progress_begin(qfz_job_progress *progress, const char *step, double share, int64_t tiles);

/* Counts one more item of the step as done and reports.  Any thread.  QFZ_ECANCEL: the progress
 * function asked to stop, or another rank failed. */
qfz_status qfz_progress_advance(qfz_job_progress *progress, qfz_error *err);

/* Reports that the part 0..1 of the step is done.  Threads and errors as above. */
qfz_status qfz_progress_advance_to(qfz_job_progress *progress, double part, qfz_error *err);

#endif
