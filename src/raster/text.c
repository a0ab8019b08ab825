/* SPDX-License-Identifier: MIT */
#include "raster/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

qfz_status qfz_text_copy(char **copy, const char *text, qfz_error *err)
{
    char *made = NULL;
    const size_t bytes = strlen(text) + 1;
    QFZ_TRY(QFZ_NEW(&made, (int64_t)bytes, err));
    memcpy(made, text, bytes);
    *copy = made;
    return QFZ_OK;
}

qfz_status qfz_text_print(char **text, qfz_error *err, const char *format, ...)
{
    char *made = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    qfz_status st = n < 0 ? qfz_fail(err, QFZ_EARG, "a name cannot be made") : QFZ_OK;
    if (st == QFZ_OK) st = QFZ_NEW(&made, (int64_t)n + 1, err);
    if (st == QFZ_OK) {
        (void)vsnprintf(made, (size_t)n + 1, format, again);
        *text = made;
    }
    va_end(again);
    va_end(args);
    return st;
}

/* Replaces the decimal separator of the locale, which may have several bytes, by a point. */
void qfz_real_print(char *text, size_t bytes, double value)
{
    char *to = text;
    (void)snprintf(text, bytes, "%.15g", value);
    if (strtod(text, NULL) != value) (void)snprintf(text, bytes, "%.17g", value);
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("0123456789+-einf", *from))
            *to++ = *from;
        else if (to > text && to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}
