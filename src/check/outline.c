/* SPDX-License-Identifier: MIT */
#include "check/outline.h"

#include <math.h>

/* How far a point may be from its corner: transformed coordinates are rounded. */
static const double NEAR = 1e-3;

/* The mixing function of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

void qfz_outline_add_side(qfz_outline *outline, int64_t x, int64_t y)
{
    outline->n_sides++;
    outline->sum += mix(mix((uint64_t)y + 1) + (uint64_t)x);
}

void qfz_outline_add(qfz_outline *outline, const qfz_outline *more)
{
    outline->n_sides += more->n_sides;
    outline->sum += more->sum;
}

static bool to_corner(double place, int64_t most, int64_t *corner)
{
    const double whole = round(place);
    if (!(fabs(place - whole) <= NEAR && whole >= 0 && whole <= (double)most)) return false;
    *corner = (int64_t)whole;
    return true;
}

qfz_ring_fault qfz_outline_add_ring(qfz_outline *outline, const double *x, const double *y,
                                    int64_t n, bool is_hole, int64_t w, int64_t h, int64_t *pixels)
{
    int64_t inside = 0, x0 = 0, y0 = 0;
    for (int64_t i = 0; i <= n; i++) { /* back to the first point, where the ring is not closed */
        int64_t x1, y1;
        if (!to_corner(x[i % n], w, &x1) || !to_corner(y[i % n], h, &y1))
            return QFZ_RING_OFF_CORNERS;
        if (i > 0 && x0 != x1 && y0 != y1) return QFZ_RING_SLANTS;
        for (int64_t side = y0 < y1 ? y0 : y1; i > 0 && side < (y0 < y1 ? y1 : y0); side++)
            qfz_outline_add_side(outline, x0, side);
        if (i > 0) inside += x0 * (y1 - y0);
        x0 = x1;
        y0 = y1;
    }
    inside = inside < 0 ? -inside : inside;
    *pixels += is_hole ? -inside : inside;
    return QFZ_RING_RIGHT;
}
