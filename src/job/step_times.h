/* SPDX-License-Identifier: MIT */
/* step_times.h - how long each step of a job took.  Steps follow one another without gaps. */
#ifndef QFZ_STEP_TIMES_H
#define QFZ_STEP_TIMES_H

#include "qfz.h"

/* All 0: no step has begun. */
typedef struct qfz_step_times {
    qfz_step_time list[QFZ_STEPS];
    int n;
    double began; /* the last step, by qfz_seconds_now() */
} qfz_step_times;

/* Ends the previous step, if any, and begins the step `name`.  Beyond QFZ_STEPS steps, time is
 * added to the last one. */
void qfz_step_times_begin(qfz_step_times *times, const char *name);

/* Ends the last step and copies all steps into the report, with their sum, and the peak of this
 * process's resident memory. */
void qfz_step_times_end(qfz_step_times *times, qfz_report *report);

#endif
