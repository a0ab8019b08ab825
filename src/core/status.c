/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

qfz_status qfz_fail(qfz_error *err, qfz_status st, const char *format, ...)
{
    if (err && err->status == QFZ_OK) {
        va_list args;
        va_start(args, format);
        err->status = st;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return st;
}
