/* SPDX-License-Identifier: MIT */
/* angle.h - the angle between two vectors from their dot products: the level of QFZ_SAM.
 *
 * Only sums, products, quotients and square roots of doubles, each rounded to nearest, in this
 * order: so the CPU and the GPU get the same bits, which no library's acos() promises.  The sine
 * comes from Gram's determinant, since near 0 a cosine has lost the angle. */
#ifndef QFZ_ANGLE_H
#define QFZ_ANGLE_H

#include <math.h>
#include <stdbool.h>

#include "core/host_device.h"

/* The angle in radians, 0 to pi, of vectors a and b: ab, aa and bb are a.b, a.a and b.b.  A vector
 * of zeros, or with an infinite value, has no direction: its angle is 0 to another one without, and
 * pi / 2 to one with a direction. */
QFZ_HOST_AND_DEVICE float qfz_angle(double ab, double aa, double bb)
{
    const double pi = 0x1.921fb54442d18p1;
    const bool has_a = aa > 0 && aa<INFINITY, has_b = bb> 0 && bb < INFINITY;
    if (!has_a || !has_b) return has_a == has_b ? 0 : (float)(pi / 2);
    const double square = aa * bb, rest = square - ab * ab;
    const double sine = rest > 0 ? sqrt(rest) : 0;

    /* the tangent of half the acute angle; halved three times, at most tan(pi / 32) */
    double t = sine / (sqrt(square) + fabs(ab));
    for (int i = 0; i < 3; i++)
        t = t / (1 + sqrt(1 + t * t));

    /* arc tangent: the series up to t^15 */
    const double u = t * t;
    double series = 0;
    for (int k = 15; k > 0; k -= 2)
        series = 1.0 / k - u * series;
    const double acute = 16 * (t * series);
    return (float)(ab < 0 ? pi - acute : acute);
}

#endif
