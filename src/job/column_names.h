/* SPDX-License-Identifier: MIT */
/* column_names.h - names of columns as users write them. */
#ifndef QFZ_COLUMN_NAMES_H
#define QFZ_COLUMN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Stands for the columns of a table for which none are named. */
#define QFZ_COLUMNS_DEFAULT "default"

/* True if the n characters are the name of a column, or the name without the number of its band. */
bool qfz_column_is_named(const char *column, const char *name, size_t n);

/* The same with a column's name that has no number: true also for the name with any number. */
bool qfz_column_kind_is_named(const char *kind, const char *name, size_t n);

/* Takes the first name of a list that is separated by commas: sets its length, and returns the rest
 * of the list, NULL after the last name. */
const char *qfz_column_names_next(const char *names, size_t *n);

#endif
