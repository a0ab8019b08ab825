/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"

enum { TICKS = 40, PATIENCE_S = 12 };

/* A handler can reach nothing but a variable of the file. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
}

/* Batch systems do not wait long; a journal can be left at any moment. */
static void on_resumable_signal(int number)
{
    stop_signal = number;
    (void)signal(number, SIG_IGN);
    (void)alarm(PATIENCE_S);
}

static void on_alarm(int number)
{
    static const char text[] = "qfz: stopped in the middle of a step; --resume goes on\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_RESUMABLE);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

progress progress_start(bool quiet, bool resumable)
{
    handle(SIGINT, on_signal);
    handle(SIGTERM, resumable ? on_resumable_signal : on_signal);
    if (resumable) {
        handle(SIGUSR1, on_resumable_signal);
        handle(SIGALRM, on_alarm);
    }
    return (progress){.visible = !quiet && isatty(STDERR_FILENO), .ticks = -1};
}

int progress_report(double done, void *arg)
{
    progress *const p = arg;
    const int ticks = done >= 1 ? TICKS : done > 0 ? (int)(done * TICKS) : 0;
    while (p->visible && p->ticks < ticks) {
        p->ticks++;
        if (p->ticks % 4 == 0)
            (void)fprintf(stderr, "%d", p->ticks / 4 * 10);
        else
            (void)fputc('.', stderr);
        if (p->ticks == TICKS) (void)fputs(" - done.\n", stderr);
    }
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
