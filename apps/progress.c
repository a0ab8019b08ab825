/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TICKS = 40, STOP_S = 12, LOG_EVERY_S = 60 };

/* File scope, since a signal handler has no argument for state. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGUSR1, SIG_DFL);
}

/* A batch system kills a job soon after its signal, and a journal is consistent at any moment: the
 * process ends STOP_S seconds after the first signal, whatever signals follow. */
static void on_resumable_signal(int number)
{
    stop_signal = number;
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGUSR1, SIG_IGN);
    (void)alarm(STOP_S);
}

static void on_alarm(int number)
{
    static const char text[] = "qfz: stopped in the middle of a step; --resume continues\n";
    (void)number;
    if (command_ranks()->rank == 0) (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_RESUMABLE);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

progress progress_start(const command *c, bool quiet, bool resumable)
{
    handle(SIGINT, on_signal);
    handle(SIGTERM, resumable ? on_resumable_signal : on_signal);
    handle(SIGUSR1, resumable ? on_resumable_signal : on_signal);
    if (resumable) handle(SIGALRM, on_alarm);
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
    return stop_signal != 0;
}

void progress_end(progress *p)
{
    if (p->visible && p->ticks >= 0 && p->ticks < TICKS) (void)fputc('\n', stderr);
    p->visible = false;
}

int progress_signal(void)
{
    return stop_signal;
}
