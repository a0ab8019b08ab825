/* SPDX-License-Identifier: MIT */
/* curve_print.h - a curve as text, CSV and JSON. */
#ifndef CURVE_PRINT_H
#define CURVE_PRINT_H

#include <stdio.h>

#include "qfz.h"

#include "json.h"

/* The least alpha at which there are N, N/2, N/4 ... regions, N being the number at alpha 0; and
 * 10^k regions for each k. */
void curve_print_text(FILE *out, const qfz_curve *curve);

/* A header, then a row for each point. */
void curve_print_csv(FILE *out, const qfz_curve *curve);

/* Writes the fields exact_below and curve into an object of JSON. */
void curve_print_json(json *j, const qfz_curve *curve);

#endif
