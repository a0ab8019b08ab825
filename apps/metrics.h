/* SPDX-License-Identifier: MIT */
/* metrics.h - the state of a job as a file in the text format of Prometheus, for the textfile
 * collector of its node exporter: written when the job begins, every 15 seconds, and when it ends.
 * The file is replaced as a whole, so that a reader never sees half of it. */
#ifndef METRICS_H
#define METRICS_H

#include <time.h>

#include "command.h"
#include "pace.h"

typedef struct metrics {
    const command *command;
    const char *path;   /* NULL: no file */
    const char *output; /* name of the job in the file: its output, or its source */
    time_t begin, now;
    pace pace;
    char step[32]; /* the state of the last report */
    double done, tiles_per_s, left_s;
    int64_t tiles_done, tiles, retries;
    bool has_ended;
    int status;       /* the exit status, once the job has ended */
    uint64_t regions; /* of the result */
} metrics;

/* Writes the file for the first time; false, with a line in the log, if that fails. */
bool metrics_begin(metrics *m, const command *c, const char *path, const char *output);

/* Takes a report of progress, and writes the file if it is due.  If that fails, a line in the log
 * says so, and the file is not written again. */
void metrics_progress(metrics *m, const qfz_progress *progress, double now_s, time_t wall);

/* Writes the file for the last time. */
void metrics_end(metrics *m, int status, const qfz_report *report);

#endif
