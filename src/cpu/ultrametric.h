/* SPDX-License-Identifier: MIT */
/* ultrametric.h - what minimax levels in a unit square tell of each other.
 *
 * They are an ultrametric: of three pixels, the two largest levels between them are equal, and so
 * on any closed way the largest level is there twice.  Where that is not enough, a level lies
 * between the first hooks' of its two pixels (lightest.h), which is the answer if both have one
 * node, and what the way round allows; if these differ, it is in doubt. */
#ifndef QFZ_CPU_ULTRAMETRIC_H
#define QFZ_CPU_ULTRAMETRIC_H

#include <stdint.h>

/* A row of unit squares: levels of their sides; of their pixels the first hooks' levels and the
 * numbers of nodes. */
typedef struct qfz_squares {
    const uint32_t *top, *bottom, *left; /* and what follows left is right */
    const uint32_t *first, *first_below;
    const uint16_t *number, *number_below;
} qfz_squares;

/* What pixels' own hooks, of levels a and b, tell of n pairs, of nodes p and q: key is the level
 * where doubt is 0, and where it is 1 what the level is at least. */
void qfz_tell_by_hooks(const uint32_t *a, const uint32_t *b, const uint16_t *p, const uint16_t *q,
                       int64_t n, uint32_t *key, uint8_t *doubt);

/* The same of n horizontal edges, the bottoms of one row of squares and the tops of the next. */
void qfz_tell_right(const qfz_squares *above, const qfz_squares *below, int64_t n, uint32_t *key,
                    uint8_t *doubt);

/* The same for both diagonals of n squares. */
void qfz_tell_diagonals(const qfz_squares *of, int64_t n, uint32_t *fall, uint8_t *fall_doubt,
                        uint32_t *rise, uint8_t *rise_doubt);

#endif
