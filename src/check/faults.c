/* SPDX-License-Identifier: MIT */
#include "check/faults.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* A pixel comes before no pixel, whatever the order. */
static bool is_first(const qfz_faults *faults, int64_t x, int64_t y)
{
    if (faults->n == 0 || x < 0) return faults->n == 0;
    return faults->x < 0 || y < faults->y || (y == faults->y && x < faults->x);
}

void qfz_faults_add(qfz_faults *faults, int64_t x, int64_t y, const char *format, ...)
{
    va_list arguments;
    if (is_first(faults, x, y)) {
        faults->x = x;
        faults->y = y;
        va_start(arguments, format);
        (void)vsnprintf(faults->what, sizeof faults->what, format, arguments);
        va_end(arguments);
    }
    faults->n++;
}
