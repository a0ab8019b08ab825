/* SPDX-License-Identifier: MIT */
#include "job/step_times.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/retry.h"

static void end_last(qfz_step_times *times)
{
    const double now = qfz_seconds_now();
    if (times->n > 0) times->list[times->n - 1].seconds += now - times->began;
    times->began = now;
}

void qfz_step_times_begin(qfz_step_times *times, const char *name)
{
    end_last(times);
    if (times->n == QFZ_STEPS) return;
    qfz_step_time *const step = &times->list[times->n++];
    (void)snprintf(step->name, sizeof step->name, "%s", name);
}

void qfz_step_times_end(qfz_step_times *times, qfz_report *report)
{
    end_last(times);
    memcpy(report->steps, times->list, sizeof times->list);
    report->n_steps = times->n;
    report->seconds = 0;
    for (int i = 0; i < report->n_steps; i++)
        report->seconds += report->steps[i].seconds;
    report->peak_rss_bytes = qfz_peak_memory_bytes();
    report->retries = qfz_retries_so_far();
}
