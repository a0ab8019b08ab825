/* SPDX-License-Identifier: MIT */
/* progress.h - progress of a job: on stderr, and in the file of --metrics.
 *
 * On a terminal progress is GDAL's bar, 0...10...20, else one line per minute.  A log of JSON has
 * one line per minute anywhere. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "command.h"
#include "metrics.h"
#include "pace.h"

typedef struct progress {
    const command *command;
    bool visible;     /* draws the bar */
    int ticks;        /* drawn so far; -1: none */
    bool logs;        /* prints lines */
    pace pace;        /* of the lines */
    metrics *metrics; /* borrowed; NULL: none */
} progress;

/* Begins: a signal (signals.h) ends the job at its next progress report.  resumable: the job has a
 * journal. */
progress progress_start(const command *c, bool quiet, bool resumable);

/* A qfz_progress_fn; arg is the progress. */
int progress_report(const qfz_progress *state, void *arg);

/* Ends the line of an incomplete bar. */
void progress_end(progress *p);

#endif
