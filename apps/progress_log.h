/* SPDX-License-Identifier: MIT */
/* progress_log.h - progress of a job as lines of a log file: at most one line per interval, without
 * control characters. */
#ifndef PROGRESS_LOG_H
#define PROGRESS_LOG_H

#include "qfz.h"

#include <time.h>

typedef struct progress_log {
    double every_s;
    bool has_begun;
    double line_s;              /* time of the last line; before it, of the first report */
    double begin_s, begin_done; /* time and share done of the first report */
    char step[32];              /* step of the last report ... */
    double step_s;              /* ... time of its first report */
    int64_t step_tiles;         /* ... tiles done in its first report */
} progress_log;

/* Processes one report.  Returns true, with the text in line, if a line is due.  All times are in
 * seconds: now_s from a monotonic clock, wall from the calendar clock.  Starts as {.every_s = S}.
 */
bool progress_log_line(progress_log *log, const qfz_progress *progress, double now_s, time_t wall,
                       char *line, size_t size);

#endif
