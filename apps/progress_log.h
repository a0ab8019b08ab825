/* SPDX-License-Identifier: MIT */
/* progress_log.h - how far a job is, for a log: a line now and then, without control characters. */
#ifndef PROGRESS_LOG_H
#define PROGRESS_LOG_H

#include "qfz.h"

#include <time.h>

typedef struct progress_log {
    double every_s;
    bool has_begun;
    double line_s;              /* when the last line was due, or the first report came */
    double begin_s, begin_done; /* the first report */
    char step[32];              /* the step of the last report ... */
    double step_s;              /* ... when it began, and with how many tiles */
    int64_t step_tiles;
} progress_log;

/* Is a line due?  now_s is a clock that never goes back, wall the one on the wall. */
bool progress_log_line(progress_log *log, const qfz_progress *progress, double now_s, time_t wall,
                       char *line, size_t size);

#endif
