/* SPDX-License-Identifier: MIT */
/* progress_log.h - progress of a job as a line of a log file, as text without control characters or
 * as members of a JSON object. */
#ifndef PROGRESS_LOG_H
#define PROGRESS_LOG_H

#include <time.h>

#include "json.h"
#include "pace.h"

/* now_s: seconds of the monotonic clock of so_far; wall: of the calendar clock. */
void progress_log_text(const pace *so_far, const qfz_progress *progress, double now_s, time_t wall,
                       char *line, size_t size);
void progress_log_json(const pace *so_far, const qfz_progress *progress, double now_s, time_t wall,
                       json *to);

#endif
