/* SPDX-License-Identifier: MIT */
/* number_text.c - decimal digits by exact integers of 128 bits.
 *
 * A double in 10^-4 .. 10^15 that is not whole is (I 2^k + r) / 2^k, I its whole part, r < 2^k, and
 * 2^-k the distance to the next double.  Its d decimals are r 10^d / 2^k, rounded to nearest, ties
 * to even, as printf() does; 17 digits need d <= 20 and r 10^d < 2^120.  Fewer digits suffice if
 * they differ from the value by less than half of that distance. */
#include "raster/number_text.h"

#include <math.h>
#include <string.h>

#include "core/wide.h"
#include "raster/text.h"

enum { SHORT_DIGITS = 15, ALL_DIGITS = 17, MAX_DECIMALS = 20, MANTISSA_BITS = 52 };

static const uint64_t powers[MAX_DECIMALS] = {1,
                                              10,
                                              100,
                                              1000,
                                              10000,
                                              100000,
                                              1000000,
                                              10000000,
                                              100000000,
                                              1000000000,
                                              10000000000,
                                              100000000000,
                                              1000000000000,
                                              10000000000000,
                                              100000000000000,
                                              1000000000000000,
                                              10000000000000000,
                                              100000000000000000,
                                              1000000000000000000,
                                              10000000000000000000u};

static qfz_u128 power(int decimals)
{
    return decimals < MAX_DECIMALS ? powers[decimals] : (qfz_u128)powers[MAX_DECIMALS - 1] * 10;
}

static int digits_of(uint64_t value)
{
    int n = 0;
    while (n < MAX_DECIMALS && value >= powers[n])
        n++;
    return n;
}

/* The lowest n digits of value, with zeros in front. */
static void write_digits(char *text, uint64_t value, int n)
{
    for (int i = n - 1; i >= 0; i--, value /= 10)
        text[i] = (char)('0' + value % 10);
}

int qfz_whole_write(char *text, int64_t value)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const int sign = value < 0, n = size == 0 ? 1 : digits_of(size);
    text[0] = '-';
    write_digits(text + sign, size, n);
    return sign + n;
}

/* The parts of a positive double. */
typedef struct parts {
    uint64_t whole, rest; /* I and r */
    int k;
    bool is_power; /* of 2: the next double below is nearer than the one above */
} parts;

static parts split(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    const uint64_t mantissa = fraction | UINT64_C(1) << MANTISSA_BITS;
    const int k = 1023 + MANTISSA_BITS - (int)(bits >> MANTISSA_BITS);
    const uint64_t whole = k <= MANTISSA_BITS ? mantissa >> k : 0;
    return (parts){.whole = whole,
                   .rest = mantissa - (k <= MANTISSA_BITS ? whole << k : 0),
                   .k = k,
                   .is_power = fraction == 0};
}

/* The decimals, as a whole number, rounded. */
static qfz_u128 round_decimals(const parts *p, int decimals)
{
    const qfz_u128 exact = p->rest * power(decimals), half = (qfz_u128)1 << (p->k - 1);
    const qfz_u128 floor = exact >> p->k, left = exact - (floor << p->k);
    return floor + (left > half || (left == half && (floor & 1)));
}

/* True if the decimals read back as the same double; false also where that is close. */
static bool reads_back(const parts *p, int decimals, qfz_u128 rounded)
{
    const qfz_u128 exact = p->rest * power(decimals), there = rounded << p->k;
    const qfz_u128 apart = there > exact ? there - exact : exact - there;
    return 2 * apart < power(decimals);
}

/* Zeros between the point and the first digit of a value in 10^-4 .. 1. */
static int leading_zeros(double value)
{
    return value >= 0.1 ? 0 : value >= 0.01 ? 1 : value >= 0.001 ? 2 : 3;
}

static int write_decimals(char *text, const parts *p, int decimals, qfz_u128 rounded)
{
    const int whole = qfz_whole_write(text, (int64_t)p->whole);
    const uint64_t high = (uint64_t)(rounded / powers[10]), low = (uint64_t)(rounded % powers[10]);
    char digits[MAX_DECIMALS];
    write_digits(digits, high, 10);
    write_digits(digits + 10, low, 10);
    text[whole] = '.';
    memcpy(text + whole + 1, digits + MAX_DECIMALS - decimals, (size_t)decimals);
    int n = whole + 1 + decimals;
    while (text[n - 1] == '0')
        n--;
    return n;
}

static int write_slowly(char *text, double value)
{
    char printed[QFZ_NUMBER_BYTES];
    qfz_real_print(printed, sizeof printed, value);
    const int n = (int)strlen(printed);
    memcpy(text, printed, (size_t)n);
    return n;
}

int qfz_real_write(char *text, double value)
{
    const double size = fabs(value);
    if (size < 1e15 && value == floor(value)) return qfz_whole_write(text, (int64_t)value);
    if (!(size >= 1e-4 && size < 1e15)) return write_slowly(text, value);
    const parts p = split(size);
    if (p.is_power) return write_slowly(text, value);
    const int before = p.whole > 0 ? digits_of(p.whole) : -leading_zeros(size);
    const int sign = value < 0;
    int decimals = SHORT_DIGITS - before;
    text[0] = '-';
    qfz_u128 rounded = decimals > 0 ? round_decimals(&p, decimals) : 0;
    if (decimals <= 0 || rounded >= power(decimals) || !reads_back(&p, decimals, rounded)) {
        decimals = ALL_DIGITS - before;
        rounded = round_decimals(&p, decimals);
    }
    return sign + write_decimals(text + sign, &p, decimals, rounded);
}
