/* SPDX-License-Identifier: MIT */
/* text.h - strings that a function of this room allocates, and numbers as text. */
#ifndef QFZ_RASTER_TEXT_H
#define QFZ_RASTER_TEXT_H

#include "core/status.h"

/* *copy = text; freed by free(). */
qfz_status qfz_text_copy(char **copy, const char *text, qfz_error *err);

/* *text = the output of printf() for these arguments; freed by free(). */
qfz_status qfz_text_print(char **text, qfz_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the number with a decimal point in every locale, and with as many digits as strtod() needs
 * to read the same double.  40 bytes are enough. */
void qfz_real_print(char *text, size_t bytes, double value);

#endif
