/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool value_number(const char *text, double *number)
{
    const char *const digits = text + (*text == '-' || *text == '+');
    const bool word = strcasecmp(digits, "inf") == 0 || strcasecmp(digits, "infinity") == 0 ||
                      strcasecmp(digits, "nan") == 0;
    if (!word && (*digits == '-' || *digits == '+')) return false;
    if (!word && digits[strspn(digits, "0123456789.eE+-")] != '\0') return false;
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') return false;
    if (errno == ERANGE && isinf(value)) return false;
    *number = value;
    return true;
}

bool value_integer(const char *text, int64_t *number)
{
    const char *const digits = text + (*text == '-' || *text == '+');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') return false;
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE) return false;
    *number = value;
    return true;
}

static double physical_bytes(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes of one unit; 0 for an unknown unit. */
static double unit_bytes(const char *unit)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"KB", 1e3},
        {"MB", 1e6},
        {"GB", 1e9},
        {"TB", 1e12},
        {"KiB", 1024.0},
        {"MiB", 1024.0 * 1024},
        {"GiB", 1024.0 * 1024 * 1024},
        {"TiB", 1024.0 * 1024 * 1024 * 1024},
    };
    if (strcmp(unit, "%") == 0) return physical_bytes() / 100;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].name) == 0) return units[i].bytes;
    return 0;
}

bool value_memory(const char *text, int64_t *bytes)
{
    char digits[32];
    const size_t length = strspn(text, "0123456789.");
    double number;
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!value_number(digits, &number)) return false;
    if (text[length] == '%' && number > 100) return false;
    const double product = number * unit_bytes(text + length);
    if (!(product >= 1) || product > 9e18) return false;
    *bytes = (int64_t)product;
    return true;
}

bool value_area(const char *text, int64_t *pixels, double *m2)
{
    static const struct unit {
        const char *name;
        double m2;
    } units[] = {{"km2", 1e6}, {"m2", 1}, {"ha", 1e4}};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].name);
        char digits[64];
        double number;
        if (length <= n || length - n >= sizeof digits ||
            strcmp(text + length - n, units[i].name) != 0)
            continue;
        memcpy(digits, text, length - n);
        digits[length - n] = '\0';
        if (!value_number(digits, &number) || !(number > 0) || isinf(number)) return false;
        *m2 = number * units[i].m2;
        *pixels = 0;
        return true;
    }
    int64_t number;
    if (!value_integer(text, &number) || number < 1) return false;
    *pixels = number;
    *m2 = 0;
    return true;
}

int value_choice(const char *text, const char *alternatives)
{
    const size_t length = strlen(text);
    for (int i = 0; *alternatives; i++) {
        const size_t n = strcspn(alternatives, "|");
        if (n == length && memcmp(text, alternatives, n) == 0) return i;
        alternatives += n + (alternatives[n] == '|');
    }
    return -1;
}
