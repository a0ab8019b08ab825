/* SPDX-License-Identifier: MIT */
/* progress.h - GDAL's progress bar, 0...10...20, on a terminal, and the wish to stop. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool visible;
    int ticks; /* drawn so far; -1: none */
} progress;

/* From here on SIGINT and SIGTERM ask the job to stop; a second one kills.  resumable: SIGUSR1 does
 * so too, and what does not stop soon after that or SIGTERM is ended with EXIT_RESUMABLE. */
progress progress_start(bool quiet, bool resumable);

/* A qfz_progress_fn; arg is the progress. */
int progress_report(double done, void *arg);

/* Ends the line if one was begun. */
void progress_end(progress *p);

/* The signal that asked to stop, 0: none. */
int progress_signal(void);

#endif
