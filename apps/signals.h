/* SPDX-License-Identifier: MIT */
/* signals.h - the signals that end a job: SIGINT, SIGTERM, SIGHUP and SIGUSR1.
 *
 * The first of these signals is recorded, and the job ends at its next progress report; further
 * ones have no effect, so that a job always deletes its temporary files.  Where a process begins by
 * start.c, those count that come while the program is loaded. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define ENDING_SIGNALS SIGINT, SIGTERM, SIGHUP, SIGUSR1

/* Installs the handlers, and lets signals through that start.c has kept back.  SIGHUP that the
 * process was started to ignore (nohup) stays ignored. SIGXFSZ is ignored: a write beyond the limit
 * of file sizes fails like any other write. */
void signals_install(void);

/* For commands that have nothing to delete: a signal ends the process, one recorded before at once.
 */
void signals_end_process(void);

/* For jobs with a journal: if the job does not end within seconds of a signal other than SIGINT,
 * the process ends with EXIT_RESUMABLE. */
void signals_end_in_time(void);

/* The first signal; 0: none. */
int signals_first(void);

/* "Ctrl-C", "SIGTERM" ... */
const char *signals_name(int number);

#endif
