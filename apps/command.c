/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

#include "help.h"
#include "options.h"
#include "signals.h"

/* MPI has one state per process, and so have the ranks. */
static qfz_ranks ranks = {.n = 1, .n_local = 1};

bool command_join(void)
{
    qfz_error err = {0};
    if (qfz_ranks_join(&ranks, &err) != QFZ_OK) {
        (void)fprintf(stderr, "qfz: %s\n", err.message);
        return false;
    }
    return ranks.rank == 0 || freopen("/dev/null", "w", stdout) != NULL;
}

const qfz_ranks *command_ranks(void)
{
    return &ranks;
}

void command_leave(void)
{
    qfz_ranks_leave();
}

void complain(const command *c, const char *format, ...)
{
    va_list arguments;
    if (ranks.rank > 0) return;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s: ", c->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

int end_of_output(const command *c, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    complain(c, "stdout: write failed; the printed result is incomplete");
    return status == EXIT_OK ? EXIT_FAILED : status;
}

int command_main(const command *c, int argc, char **argv)
{
    request r;
    int status = EXIT_OK;
    request_init(&r, c);
    if (!request_parse(&r, argc, argv)) {
        request_fini(&r);
        return EXIT_USAGE;
    }
    switch (r.action) {
    case ACTION_HELP: help_print(c); break;
    case ACTION_MAN: man_print(c); break;
    case ACTION_VERSION: (void)puts(qfz_build_info()); break;
    case ACTION_RUN:
        if (!(c->bit & (FOR_TASKS | FOR_EXPLORE))) signals_end_process();
        status = c->run(&r);
        break;
    }
    request_fini(&r);
    return end_of_output(c, status);
}
