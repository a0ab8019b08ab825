/* SPDX-License-Identifier: MIT */
#include "curve_print.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* The first point with at most `most` regions; there is one. */
static int64_t first_point(const qfz_curve *curve, uint64_t most)
{
    int64_t low = 0, high = curve->n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (curve->regions[middle] <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void print_row(FILE *out, const qfz_curve *curve, uint64_t most, int64_t i)
{
    char digits[JSON_DIGITS];
    json_digits(digits, curve->alpha[i]);
    (void)fprintf(out, "%20" PRIu64 " %16s %20" PRIu64 "\n", most, digits, curve->regions[i]);
}

/* Rows of ever fewer regions, down to the number of connected areas, which no alpha changes; one
 * row for each point. */
static void print_halves(FILE *out, const qfz_curve *curve)
{
    const uint64_t least = curve->regions[curve->n - 1];
    int64_t before = -1;
    for (uint64_t most = curve->regions[0];; most = most / 2 > least ? most / 2 : least) {
        const int64_t i = first_point(curve, most);
        if (i != before) print_row(out, curve, most, i);
        if (i == curve->n - 1) return;
        before = i;
    }
}

static void print_powers_of_ten(FILE *out, const qfz_curve *curve)
{
    const uint64_t all = curve->regions[0], least = curve->regions[curve->n - 1];
    uint64_t power = 1;
    while (power <= all / 10)
        power *= 10;
    for (; power >= least && power > 0; power /= 10)
        print_row(out, curve, power, first_point(curve, power));
}

void curve_print_text(FILE *out, const qfz_curve *curve)
{
    (void)fprintf(out, "%20s %16s %20s\n", "at most", "alpha", "regions");
    print_halves(out, curve);
    (void)fputc('\n', out);
    print_powers_of_ten(out, curve);
    if (isinf(curve->exact_below)) return;
    char from[sizeof "From alpha  on" + JSON_DIGITS] = "Above alpha 0", digits[JSON_DIGITS];
    json_digits(digits, curve->exact_below);
    if (curve->exact_below >= (double)FLT_MIN)
        (void)snprintf(from, sizeof from, "From alpha %s on", digits);
    (void)fprintf(out,
                  "\n%s, neighbouring levels share a row: the numbers are exact at the alphas "
                  "printed, which are not always the least ones.\n",
                  from);
}

void curve_print_csv(FILE *out, const qfz_curve *curve)
{
    (void)fputs("alpha,regions\n", out);
    for (int64_t i = 0; i < curve->n; i++) {
        char digits[JSON_DIGITS];
        json_digits(digits, curve->alpha[i]);
        (void)fprintf(out, "%s,%" PRIu64 "\n", digits, curve->regions[i]);
    }
}

void curve_print_json(json *j, const qfz_curve *curve)
{
    json_number(j, "exact_below", curve->exact_below);
    json_open(j, "curve", '{');
    json_open(j, "alpha", '[');
    for (int64_t i = 0; i < curve->n; i++)
        json_number(j, NULL, curve->alpha[i]);
    json_close(j, ']');
    json_open(j, "regions", '[');
    for (int64_t i = 0; i < curve->n; i++)
        json_count(j, NULL, curve->regions[i]);
    json_close(j, ']');
    json_close(j, '}');
}
