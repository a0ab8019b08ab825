/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "progress_log.h"
#include "signals.h"

enum { TICKS = 40, LOG_EVERY_S = 60 };

progress progress_start(const command *c, bool quiet, bool resumable)
{
    signals_install(); /* again, because MPI may have handlers of its own */
    if (resumable) signals_end_in_time();
    const bool bar = isatty(STDERR_FILENO) && log_chosen() == LOG_TEXT;
    return (progress){.command = c,
                      .visible = !quiet && bar,
                      .ticks = -1,
                      .logs = !quiet && !bar,
                      .pace = {.every_s = LOG_EVERY_S}};
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

/* The end has a line of its own. */
static void write_line(progress *p, const qfz_progress *state, double now_s, time_t wall)
{
    char text[256];
    log_line line;
    if (!pace_is_due(&p->pace, state, now_s) || state->done >= 1) return;
    if (log_chosen() == LOG_TEXT) {
        progress_log_text(&p->pace, state, now_s, wall, text, sizeof text);
        complain(p->command, "%s", text);
    } else if (log_begin(&line, p->command, "progress")) {
        progress_log_json(&p->pace, state, now_s, wall, &line.json);
        log_end(&line);
    }
}

int progress_report(const qfz_progress *state, void *arg)
{
    progress *const p = arg;
    struct timespec now;
    if (p->visible) draw_bar(p, state->done);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const double now_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (p->logs) write_line(p, state, now_s, time(NULL));
    if (p->metrics) metrics_progress(p->metrics, state, now_s, time(NULL));
    return signals_first() != 0;
}

void progress_end(progress *p)
{
    if (p->visible && p->ticks >= 0 && p->ticks < TICKS) (void)fputc('\n', stderr);
    p->visible = false;
}
