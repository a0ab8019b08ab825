/* SPDX-License-Identifier: MIT */
/* length.c - lengths of the sides of pixels.
 *
 * In a geographic raster the side of a pixel is so short that the ellipsoid's two radii of
 * curvature (Snyder 1987, chapter 3) in its middle give its length.  The unit is the power of two
 * that keeps the length of all sides of the raster below 2^62 units. */
#include "raster/length.h"

#include <assert.h>
#include <math.h>

#include "raster/source_state.h"

/* Length of the step (east, north) in radians, at a latitude. */
static long double on_ellipsoid(const qfz_georef *g, long double latitude, long double east,
                                long double north)
{
    const long double f = g->flattening, e2 = f * (2 - f), s = sinl(latitude);
    const long double w2 = 1 - e2 * s * s, across = g->a / sqrtl(w2);
    const long double along = across * (1 - e2) / w2;
    return hypotl(along * north, across * cosl(latitude) * east);
}

/* The side below runs along a row, the right side along a column. */
static long double geographic_side(const qfz_source *source, int64_t y, int side)
{
    const qfz_georef *const g = &source->georef;
    const double *const t = g->transform;
    const long double column = source->info.w / 2.0L;
    const long double row = side == QFZ_SIDE_BELOW ? y + 1 : y + 0.5L;
    const long double unit = g->unit;
    const long double latitude = (t[3] + t[4] * column + t[5] * row) * unit;
    return side == QFZ_SIDE_BELOW ? on_ellipsoid(g, latitude, t[1] * unit, t[4] * unit)
                                  : on_ellipsoid(g, latitude, t[2] * unit, t[5] * unit);
}

static double plane_side(const qfz_georef *g, int side)
{
    const double *const t = g->transform;
    return (side == QFZ_SIDE_BELOW ? hypot(t[1], t[4]) : hypot(t[2], t[5])) * g->unit;
}

void qfz_source_side_units(const qfz_source *source, double units[QFZ_SIDES])
{
    const qfz_georef *const g = &source->georef;
    const double *const t = g->transform;
    assert(source->is_located);
    for (int side = 0; side < QFZ_SIDES; side++) {
        int exponent = 0;
        const double degrees = side == QFZ_SIDE_BELOW ? hypot(t[1], t[4]) : hypot(t[2], t[5]);
        units[side] = plane_side(g, side);
        if (!g->is_geographic) continue;
        (void)frexp(1.02 * g->a * degrees * g->unit * (double)source->info.w *
                        (double)source->info.h,
                    &exponent);
        units[side] = ldexp(1, exponent - 62);
    }
}

qfz_status qfz_source_side_lengths(const qfz_source *source, int64_t y0, int64_t n,
                                   uint64_t *lengths, qfz_error *err)
{
    double units[QFZ_SIDES];
    if (y0 < -1 || n < 0 || y0 + n > source->info.h)
        return qfz_fail(err, QFZ_EARG, "%s: sides of rows %lld..%lld of %lld", source->name,
                        (long long)y0, (long long)(y0 + n - 1), (long long)source->info.h);
    qfz_source_side_units(source, units);
    for (int64_t i = 0; i < QFZ_SIDES * n; i++) {
        const int side = (int)(i % QFZ_SIDES);
        lengths[i] = 1;
        if (source->georef.is_geographic)
            lengths[i] = (uint64_t)llrintl(geographic_side(source, y0 + i / QFZ_SIDES, side) /
                                           (long double)units[side]);
    }
    return QFZ_OK;
}
