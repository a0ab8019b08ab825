/* SPDX-License-Identifier: MIT */
#include "job/steps.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"

static void end_last(qfz_steps *steps)
{
    const double now = qfz_seconds_now();
    if (steps->n > 0) steps->list[steps->n - 1].seconds += now - steps->began;
    steps->began = now;
}

void qfz_steps_begin(qfz_steps *steps, const char *name)
{
    end_last(steps);
    if (steps->n == QFZ_STEPS) return;
    qfz_step_time *const step = &steps->list[steps->n++];
    (void)snprintf(step->name, sizeof step->name, "%s", name);
}

void qfz_steps_end(qfz_steps *steps, qfz_report *report)
{
    end_last(steps);
    memcpy(report->steps, steps->list, sizeof steps->list);
    report->n_steps = steps->n;
}
