/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"

enum { TICKS = 40, LOG_EVERY_S = 60 };

progress progress_start(const command *c, bool quiet, bool resumable)
{
    signals_install(); /* again, because MPI may have handlers of its own */
    if (resumable) signals_end_in_time();
    const bool terminal = isatty(STDERR_FILENO);
    return (progress){.command = c,
                      .visible = !quiet && terminal,
                      .ticks = -1,
                      .logs = !quiet && !terminal,
                      .log = {.every_s = LOG_EVERY_S}};
}

static void draw_bar(progress *p, double done)
{
    const int ticks = done >= 1 ? TICKS : done > 0 ? (int)(done * TICKS) : 0;
    while (p->ticks < ticks) {
        p->ticks++;
        if (p->ticks % 4 == 0)
            (void)fprintf(stderr, "%d", p->ticks / 4 * 10);
        else
            (void)fputc('.', stderr);
        if (p->ticks == TICKS) (void)fputs(" - done.\n", stderr);
    }
}

static void write_line(progress *p, const qfz_progress *state)
{
    struct timespec now;
    char line[256];
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const double now_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (progress_log_line(&p->log, state, now_s, time(NULL), line, sizeof line))
        complain(p->command, "%s", line);
}

int progress_report(const qfz_progress *state, void *arg)
{
    progress *const p = arg;
    if (p->visible) draw_bar(p, state->done);
    if (p->logs) write_line(p, state);
    return signals_first() != 0;
}

void progress_end(progress *p)
{
    if (p->visible && p->ticks >= 0 && p->ticks < TICKS) (void)fputc('\n', stderr);
    p->visible = false;
}
