/* SPDX-License-Identifier: MIT */
/* steps.h - how long the steps of a job took, one after the other. */
#ifndef QFZ_STEPS_H
#define QFZ_STEPS_H

#include "qfz.h"

typedef struct qfz_steps {
    qfz_step_time list[QFZ_STEPS];
    int n;
    double began; /* the last one, by qfz_seconds_now() */
} qfz_steps;

/* The step before it, if there was one, is over.  Steps that there is no room for belong to the
 * last one. */
void qfz_steps_begin(qfz_steps *steps, const char *name);

/* So is the last; the report gets them all. */
void qfz_steps_end(qfz_steps *steps, qfz_report *report);

#endif
