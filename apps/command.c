/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

#include "help.h"
#include "options.h"

void complain(const command *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s: ", c->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

int end_of_output(const command *c, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    complain(c, "stdout: cannot be written to");
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
    switch (r.wish) {
    case WISH_HELP: help_print(c); break;
    case WISH_MAN: man_print(c); break;
    case WISH_VERSION: printf("qfz %s\n", qfz_version()); break;
    case WISH_RUN: status = c->run(&r); break;
    }
    request_fini(&r);
    return end_of_output(c, status);
}
