/* SPDX-License-Identifier: MIT */
/* area.c - areas of pixels as whole numbers of a unit, so that sums are exact.
 *
 * A pixel of a geographic raster lies between two meridians and two parallels, and the area of
 * such a cell on an ellipsoid has a closed form (Snyder 1987, equations 3-11 and 3-12).  The unit
 * is the power of two that keeps the whole raster below 2^62: no sum of areas overflows 64 bits.
 * Where the geotransform is rotated, a row's latitude is taken at the middle of the row. */
#include "raster/private.h"

#include <float.h>
#include <math.h>

/* Area between the equator and a latitude, per radian of longitude. */
static long double zone_area(const qfz_georef *g, long double latitude)
{
    const long double half_pi = 1.570796326794896619231321691639751442L;
    const long double phi = fmaxl(-half_pi, fminl(half_pi, latitude));
    const long double s = sinl(phi), f = g->flattening, a = g->a;
    const long double e2 = f * (2 - f), e = sqrtl(fmaxl(e2, 0));
    if (e < 1e-9L) return a * a * s;
    return a * a * (1 - e2) / 2 * (s / (1 - e2 * s * s) + atanhl(e * s) / e);
}

/* Latitude of the upper edge of row y, in radians. */
static long double latitude_of(const qfz_source *source, long double y)
{
    const double *const t = source->georef.transform;
    const long double middle = (long double)source->info.w / 2;
    return (t[3] + t[4] * middle + t[5] * y) * (long double)source->georef.unit;
}

static long double pixel_width(const qfz_source *source)
{
    return fabsl((long double)source->georef.transform[1] * source->georef.unit);
}

static bool is_graded(const qfz_source *source)
{
    const qfz_georef *const g = &source->georef;
    return g->is_geographic && g->transform[1] != 0 && g->transform[5] != 0;
}

static long double area_of_rows(const qfz_source *source, int64_t y0, int64_t y1)
{
    const long double top = zone_area(&source->georef, latitude_of(source, y0));
    const long double bottom = zone_area(&source->georef, latitude_of(source, y1));
    return fabsl(top - bottom) * pixel_width(source);
}

double qfz_source_area_unit(const qfz_source *source)
{
    const qfz_georef *const g = &source->georef;
    const double *const t = g->transform;
    if (!is_graded(source)) return fabs(t[1] * t[5] - t[2] * t[4]) * g->unit * g->unit;
    const long double all = area_of_rows(source, 0, source->info.h) * source->info.w;
    int exponent = 0;
    (void)frexpl(all, &exponent);
    return ldexp(1, exponent - 62);
}

qfz_status qfz_source_row_areas(const qfz_source *source, int64_t y0, int64_t n, uint64_t *weights,
                                qfz_error *err)
{
    if (y0 < 0 || n < 0 || y0 + n > source->info.h)
        return qfz_fail(err, QFZ_EARG, "%s: areas of rows %lld..%lld of %lld", source->name,
                        (long long)y0, (long long)(y0 + n - 1), (long long)source->info.h);
    const long double unit = qfz_source_area_unit(source);
    for (int64_t i = 0; i < n; i++) {
        const long double area =
            is_graded(source) ? area_of_rows(source, y0 + i, y0 + i + 1) : unit;
        weights[i] = is_graded(source) ? (uint64_t)llrintl(area / unit) : 1;
    }
    return QFZ_OK;
}
