/* SPDX-License-Identifier: MIT */
/* ultrametric.h - minimax levels of edges that follow from levels of other edges of a unit square.
 *
 * Minimax levels are an ultrametric: of the three levels between three pixels, the two largest are
 * equal, and so the largest level of any closed path occurs at least twice.  Where this does not
 * determine a level, there are two bounds: the level is at least the larger level of the first
 * hooks of its two pixels (lightest.h), which is the level itself if both pixels have the same
 * node, and at most the largest level of a path around.  If the bounds differ, the level is in
 * doubt. */
#ifndef QFZ_CPU_ULTRAMETRIC_H
#define QFZ_CPU_ULTRAMETRIC_H

#include <stdint.h>

/* A row of unit squares: minimax levels of their sides; for their pixels, the levels of the first
 * hooks and the numbers of the nodes.  Square x has the right side left[x + 1], and so on. */
typedef struct qfz_squares {
    const uint32_t *top, *bottom, *left;
    const uint32_t *first, *first_below;
    const uint16_t *number, *number_below;
} qfz_squares;

/* Levels of n pairs of pixels, from the levels a and b of their first hooks and their nodes p and
 * q. level[i] is the minimax level if doubt[i] is 0, and a lower bound of it if doubt[i] is 1. */
void qfz_levels_by_hooks(const uint32_t *a, const uint32_t *b, const uint16_t *p, const uint16_t *q,
                         int64_t n, uint32_t *level, uint8_t *doubt);

/* The same for n horizontal edges between two rows of squares: bottoms of the squares above, tops
 * of the squares below. */
void qfz_levels_between(const qfz_squares *above, const qfz_squares *below, int64_t n,
                        uint32_t *level, uint8_t *doubt);

/* The same for both diagonals of n squares. */
void qfz_levels_of_diagonals(const qfz_squares *of, int64_t n, uint32_t *fall, uint8_t *fall_doubt,
                             uint32_t *rise, uint8_t *rise_doubt);

#endif
