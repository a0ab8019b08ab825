/* SPDX-License-Identifier: MIT */
/* progress.h - how far a job is, on stderr: GDAL's bar, 0...10...20, on a terminal, else a line a
 * minute; and the wish to stop. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "command.h"
#include "progress_log.h"

typedef struct progress {
    const command *command;
    bool visible; /* the bar */
    int ticks;    /* drawn so far; -1: none */
    bool logs;    /* lines */
    progress_log log;
} progress;

/* From here on SIGINT, SIGTERM and SIGUSR1 ask the job to stop; a second one kills.  resumable:
 * what does not stop soon after SIGTERM or SIGUSR1 is ended with EXIT_RESUMABLE. */
progress progress_start(const command *c, bool quiet, bool resumable);

/* A qfz_progress_fn; arg is the progress. */
int progress_report(const qfz_progress *state, void *arg);

/* Ends the line if one was begun. */
void progress_end(progress *p);

/* The signal that asked to stop, 0: none. */
int progress_signal(void);

#endif
