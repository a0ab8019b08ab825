/* SPDX-License-Identifier: MIT */
#include "job/column_names.h"

#include <string.h>

/* True if the n characters are an underscore and at least one digit. */
static bool is_band_number(const char *text, size_t n)
{
    return n > 1 && text[0] == '_' && strspn(text + 1, "0123456789") >= n - 1;
}

bool qfz_column_is_named(const char *column, const char *name, size_t n)
{
    if (strncmp(column, name, n) != 0) return false;
    const char *const rest = column + n;
    return *rest == '\0' || is_band_number(rest, strlen(rest));
}

bool qfz_column_kind_is_named(const char *kind, const char *name, size_t n)
{
    const size_t n_kind = strlen(kind);
    if (n < n_kind || strncmp(kind, name, n_kind) != 0) return false;
    return n == n_kind || is_band_number(name + n_kind, n - n_kind);
}

const char *qfz_column_names_next(const char *names, size_t *n)
{
    *n = strcspn(names, ",");
    return names[*n] ? names + *n + 1 : NULL;
}
