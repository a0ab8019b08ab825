/* SPDX-License-Identifier: MIT */
/* exact.h - sums of pixels that do not depend on the order of addition.
 *
 * A sum is a two's-complement integer of several 64-bit words, the lowest word first.  Its unit is
 * 1 for integer rasters and 2^-149, the least positive single, for floating-point rasters; so every
 * pixel is a whole number of units and every addition is exact.  The unit of a sum of squares is
 * the square of that unit.  The words suffice for 2^40 infinite pixels and 2^62 finite ones.  An
 * infinity is represented by a number beyond every finite sum, so that a sum with infinities of one
 * sign is infinite, and infinities of opposite signs cancel. */
#ifndef QFZ_EXACT_H
#define QFZ_EXACT_H

#include "core/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QFZ_SUM_WORDS_MAX = 6, QFZ_SQUARE_WORDS_MAX = 11 };

int qfz_sum_words(qfz_type type);    /* 2 for integers, 6 for floats */
int qfz_square_words(qfz_type type); /* 2 for integers, 11 for floats */

/* sum += pixel i of a plane. */
void qfz_sum_add_pixel(uint64_t *sum, qfz_type type, const void *plane, int64_t i);
void qfz_square_add_pixel(uint64_t *sum, qfz_type type, const void *plane, int64_t i);

/* sum += value, for integer rasters.  The carry of a signed addition: the upper word takes the sign
 * and the overflow of the lower one. */
static inline void qfz_sum_add(uint64_t *sum, int64_t value)
{
    const uint64_t was = sum[0];
    sum[0] += (uint64_t)value;
    sum[1] += (uint64_t)(value >> 63) + (sum[0] < was);
}

/* sums[r - 1] += pixel i, for every pixel i with the label r; label 0 is no region. */
void qfz_sum_add_regions(uint64_t *sums, qfz_type type, const void *plane, const uint32_t *label,
                         int64_t n);

/* a += b, both of n words. */
void qfz_words_add(uint64_t *a, const uint64_t *b, int n);

/* The sum rounded once to a double (to nearest, ties to even), in units of the pixels. */
double qfz_sum_value(const uint64_t *sum, qfz_type type);
double qfz_square_value(const uint64_t *sum, qfz_type type);

/* *out (of the raster's type) = sum / count, count > 0: integers exactly, rounded to nearest,
 * halves up; floats: the sum as a double, divided in double, rounded to single. */
void qfz_sum_mean(const uint64_t *sum, uint64_t count, qfz_type type, void *out);

/* The population variance of count > 0 pixels; the difference in its numerator is exact. */
double qfz_variance(const uint64_t *sum, const uint64_t *square, uint64_t count, qfz_type type);

#ifdef __cplusplus
}
#endif

#endif
