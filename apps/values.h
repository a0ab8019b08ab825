/* SPDX-License-Identifier: MIT */
/* values.h - strict parsers of option values.
 *
 * The whole string must be valid; on failure the result is untouched.  The program never calls
 * setlocale(), so the decimal separator is always a point. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* A decimal number, inf or nan, with or without a sign; no hexadecimal, no white space. */
bool value_number(const char *text, double *number);

/* A decimal whole number. */
bool value_integer(const char *text, int64_t *number);

/* 2GB, 1.5GiB, 500000000, 50% (of physical memory); at least one byte. */
bool value_memory(const char *text, int64_t *bytes);

/* An area: a whole number of pixels (25), or a number with a unit (5000m2, 0.5ha, 0.01km2).  The
 * other of *pixels and *m2 becomes 0.  At least 1 pixel, or more than 0 square metres. */
bool value_area(const char *text, int64_t *pixels, double *m2);

/* The position of a text among the alternatives "a|b|c", or -1. */
int value_choice(const char *text, const char *alternatives);

#endif
