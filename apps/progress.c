/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TICKS = 40 };

/* A handler can reach nothing but a variable of the file. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
}

progress progress_start(bool quiet)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
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
