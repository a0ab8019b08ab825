/* SPDX-License-Identifier: MIT */
#include "cpu/ultrametric.h"

#include "core/simd.h"
#include "cpu/min_max.h"

QFZ_CLONES_512 static void levels_by_hooks(const uint32_t *restrict a, const uint32_t *restrict b,
                                           const uint16_t *restrict p, const uint16_t *restrict q,
                                           int64_t n, uint32_t *restrict level,
                                           uint8_t *restrict doubt)
{
    for (int64_t x = 0; x < n; x++) {
        level[x] = qfz_max(a[x], b[x]);
        doubt[x] = p[x] != q[x];
    }
}

/* If one of the other three sides of a square is larger than the two others, its level is the
 * edge's level. */
QFZ_CLONES_512 static void levels_between(const qfz_squares *above, const qfz_squares *below,
                                          int64_t n, uint32_t *restrict level,
                                          uint8_t *restrict doubt)
{
    const qfz_squares q = *above, o = *below;
    for (int64_t x = 0; x < n; x++) {
        const uint32_t least = qfz_max(o.first[x], o.first[x + 1]);
        const uint32_t l1 = q.left[x], r1 = q.left[x + 1], l2 = o.left[x], r2 = o.left[x + 1];
        const uint32_t sides1 = qfz_max(l1, r1), sides2 = qfz_max(l2, r2);
        const uint32_t most1 = qfz_max(sides1, q.top[x]), most2 = qfz_max(sides2, o.bottom[x]);
        const uint32_t next1 = qfz_max(qfz_min(l1, r1), qfz_min(sides1, q.top[x]));
        const uint32_t next2 = qfz_max(qfz_min(l2, r2), qfz_min(sides2, o.bottom[x]));
        const bool first_decides = most1 != next1, second_decides = most2 != next2;
        const uint32_t other = second_decides ? most2 : least;
        level[x] = first_decides ? most1 : other;
        doubt[x] = !first_decides & !second_decides & (least != most1) & (least != most2) &
                   (o.number[x] != o.number[x + 1]);
    }
}

/* A diagonal has two paths around it: sides leg1 and leg2, or leg3 and leg4.  If the two sides of a
 * path differ, the larger one is the diagonal's level. */
static inline uint32_t level_of_diagonal(uint32_t leg1, uint32_t leg2, uint32_t leg3, uint32_t leg4,
                                         uint32_t least, bool is_least, uint8_t *doubt)
{
    const bool first_decides = leg1 != leg2, second_decides = leg3 != leg4;
    const uint32_t other = second_decides ? qfz_max(leg3, leg4) : least;
    *doubt = !first_decides & !second_decides & !is_least & (leg1 != least) & (leg3 != least);
    return first_decides ? qfz_max(leg1, leg2) : other;
}

QFZ_CLONES_512 static void levels_of_diagonals(const qfz_squares *of, int64_t n,
                                               uint32_t *restrict fall,
                                               uint8_t *restrict fall_doubt,
                                               uint32_t *restrict rise,
                                               uint8_t *restrict rise_doubt)
{
    const qfz_squares q = *of;
    for (int64_t x = 0; x < n; x++) {
        const uint32_t t = q.top[x], u = q.bottom[x], l = q.left[x], r = q.left[x + 1];
        fall[x] = level_of_diagonal(t, r, u, l, qfz_max(q.first[x], q.first_below[x + 1]),
                                    q.number[x] == q.number_below[x + 1], &fall_doubt[x]);
        rise[x] = level_of_diagonal(t, l, u, r, qfz_max(q.first[x + 1], q.first_below[x]),
                                    q.number[x + 1] == q.number_below[x], &rise_doubt[x]);
    }
}

void qfz_levels_by_hooks(const uint32_t *a, const uint32_t *b, const uint16_t *p, const uint16_t *q,
                         int64_t n, uint32_t *level, uint8_t *doubt)
{
    levels_by_hooks(a, b, p, q, n, level, doubt);
}

void qfz_levels_between(const qfz_squares *above, const qfz_squares *below, int64_t n,
                        uint32_t *level, uint8_t *doubt)
{
    levels_between(above, below, n, level, doubt);
}

void qfz_levels_of_diagonals(const qfz_squares *of, int64_t n, uint32_t *fall, uint8_t *fall_doubt,
                             uint32_t *rise, uint8_t *rise_doubt)
{
    levels_of_diagonals(of, n, fall, fall_doubt, rise, rise_doubt);
}
