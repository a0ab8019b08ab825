/* SPDX-License-Identifier: MIT */
/* number_text.h - numbers as text, fast, with every digit that a reader needs, in every locale. */
#ifndef QFZ_RASTER_NUMBER_TEXT_H
#define QFZ_RASTER_NUMBER_TEXT_H

#include <stdint.h>

/* Room for any number, without a terminating zero. */
enum { QFZ_NUMBER_BYTES = 32 };

/* Writes a number to text and returns the number of characters; no zero follows. */
int qfz_whole_write(char *text, int64_t value);

/* The same for a finite or infinite value: a whole number below 10^15 without a point; else the
 * text of qfz_real_print(). */
int qfz_real_write(char *text, double value);

#endif
