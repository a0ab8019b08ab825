/* SPDX-License-Identifier: MIT */
/* area.c - areas of pixels.
 *
 * A pixel of a geographic raster lies between two meridians and two parallels; the area of such a
 * cell on an ellipsoid has a closed form (Snyder 1987, equations 3-11 and 3-12).  The unit is the
 * power of two that keeps the area of the whole raster below 2^62 units, so that no sum of areas
 * overflows 64 bits.  If the geotransform is rotated, a row crosses parallels, and all pixels of
 * the row get the mean area. */
#include "raster/area.h"

#include <assert.h>
#include <math.h>

#include "raster/source_state.h"

/* Area between the equator and a latitude, per radian of longitude. */
static long double belt_area(const qfz_georef *g, long double latitude)
{
    const long double half_pi = 1.570796326794896619231321691639751442L;
    const long double phi = fmaxl(-half_pi, fminl(half_pi, latitude));
    const long double s = sinl(phi), f = g->flattening, a = g->a;
    const long double e2 = f * (2 - f), e = sqrtl(fmaxl(e2, 0));
    if (e < 1e-9L) return a * a * s;
    return a * a * (1 - e2) / 2 * (s / (1 - e2 * s * s) + atanhl(e * s) / e);
}

/* Latitude of a point of the raster, in radians. */
static long double latitude_of(const qfz_georef *g, long double x, long double y)
{
    return (g->transform[3] + g->transform[4] * x + g->transform[5] * y) * (long double)g->unit;
}

/* Of one pixel of a plane raster. */
static long double plane_area(const qfz_georef *g)
{
    const double *const t = g->transform;
    return fabsl((long double)t[1] * t[5] - (long double)t[2] * t[4]) * g->unit * g->unit;
}

static bool is_rotated(const qfz_georef *g)
{
    return g->transform[2] != 0 || g->transform[4] != 0;
}

/* Area of one column's pixels in rows y0..y1-1 between parallels. */
static long double area_of_column(const qfz_georef *g, int64_t y0, int64_t y1)
{
    const long double top = belt_area(g, latitude_of(g, 0, y0));
    const long double bottom = belt_area(g, latitude_of(g, 0, y1));
    return fabsl(top - bottom) * fabsl((long double)g->transform[1] * g->unit);
}

/* Mean area of the pixels of a row that crosses parallels. */
static long double mean_area_of_row(const qfz_source *source, int64_t y)
{
    const qfz_georef *const g = &source->georef;
    const long double middle = y + 0.5L, step = 1e-6L;
    const long double left = latitude_of(g, 0, middle),
                      right = latitude_of(g, source->info.w, middle);
    const long double lo = fminl(left, right) - step, hi = fmaxl(left, right) + step;
    return (belt_area(g, hi) - belt_area(g, lo)) / (hi - lo) * plane_area(g);
}

double qfz_source_area_unit(const qfz_source *source)
{
    const qfz_georef *const g = &source->georef;
    const long double equator = 1.02L * g->a * g->a, n = (long double)source->info.w;
    int exponent = 0;
    assert(source->is_located);
    if (!g->is_geographic) return (double)plane_area(g);
    const long double all = is_rotated(g) ? plane_area(g) * equator * n * source->info.h
                                          : area_of_column(g, 0, source->info.h) * n;
    (void)frexpl(all, &exponent);
    return ldexp(1, exponent - 62);
}

qfz_status qfz_source_row_areas(const qfz_source *source, int64_t y0, int64_t n, uint64_t *weights,
                                qfz_error *err)
{
    if (y0 < 0 || n < 0 || y0 + n > source->info.h)
        return qfz_fail(err, QFZ_EARG, "%s: areas of rows %lld..%lld of %lld", source->name,
                        (long long)y0, (long long)(y0 + n - 1), (long long)source->info.h);
    const qfz_georef *const g = &source->georef;
    const long double unit = qfz_source_area_unit(source);
    for (int64_t y = y0; y < y0 + n; y++) {
        long double area = unit;
        if (g->is_geographic)
            area = is_rotated(g) ? mean_area_of_row(source, y) : area_of_column(g, y, y + 1);
        weights[y - y0] = (uint64_t)llrintl(area / unit);
    }
    return QFZ_OK;
}
