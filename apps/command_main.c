/* SPDX-License-Identifier: MIT */
#include "command_main.h"

#include <stdio.h>

#include "help.h"
#include "log.h"
#include "options.h"
#include "signals.h"

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
