/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <unistd.h>

#include "command.h"

enum { STOP_S = 12 };

static const int ending[] = {ENDING_SIGNALS};
enum { N_ENDING = sizeof ending / sizeof ending[0] };

/* File scope, since a signal handler has no argument for state. */
static volatile sig_atomic_t first_signal, in_time;

/* A batch system kills a job soon after its signal, and a journal is consistent at any moment: the
 * process ends STOP_S seconds after the first signal, whatever signals follow. */
static void begin_countdown(void)
{
    in_time = 0;
    (void)alarm(STOP_S);
}

static void on_signal(int number)
{
    if (!first_signal) first_signal = number;
    if (in_time && number != SIGINT) begin_countdown();
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

static bool is_ignored(int number)
{
    struct sigaction present;
    return sigaction(number, NULL, &present) == 0 && present.sa_handler == SIG_IGN;
}

void signals_install(void)
{
    sigset_t kept_back;
    (void)sigemptyset(&kept_back);
    for (int i = 0; i < N_ENDING; i++) {
        if (ending[i] != SIGHUP || !is_ignored(SIGHUP)) handle(ending[i], on_signal);
        (void)sigaddset(&kept_back, ending[i]);
    }
    handle(SIGXFSZ, SIG_IGN);
    (void)sigprocmask(SIG_UNBLOCK, &kept_back, NULL);
}

void signals_end_process(void)
{
    for (int i = 0; i < N_ENDING; i++)
        if (!is_ignored(ending[i])) handle(ending[i], SIG_DFL);
    if (first_signal) (void)raise(first_signal);
}

void signals_end_in_time(void)
{
    handle(SIGALRM, on_alarm);
    in_time = 1;
    if (first_signal && first_signal != SIGINT) begin_countdown();
}

int signals_first(void)
{
    return first_signal;
}

const char *signals_name(int number)
{
    switch (number) {
    case SIGINT: return "Ctrl-C";
    case SIGHUP: return "SIGHUP";
    case SIGUSR1: return "SIGUSR1";
    default: return "SIGTERM";
    }
}
