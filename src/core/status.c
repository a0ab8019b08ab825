/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

/* Names of files, and what a VRT says, may hold line ends and escape sequences. */
static void make_one_line(char *message)
{
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
}

qfz_status qfz_fail(qfz_error *err, qfz_status st, const char *format, ...)
{
    if (err && err->status == QFZ_OK) {
        va_list args;
        va_start(args, format);
        err->status = st;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        make_one_line(err->message);
    }
    return st;
}
