/* SPDX-License-Identifier: MIT */
/* rasters.h - small random and hostile rasters for the property tests.
 *
 * A shape gives each pixel a small number, a palette turns numbers into values of the type.  All
 * random numbers come from check_random(), so that its seed and number repeat a case. */
#ifndef QFZ_TESTS_RASTERS_H
#define QFZ_TESTS_RASTERS_H

#include "check.h"
#include "oracle.h"

#include <math.h>
#include <string.h>

enum { RASTER_BANDS = 4, RASTER_COLOURS = 64 };

typedef struct raster {
    qfz_image image;
    void *pixels;
    uint8_t *valid;
    const char *shape, *palette, *holes;
    double colours[RASTER_BANDS][RASTER_COLOURS];
} raster;

__attribute__((unused)) static const char *const raster_types[] = {
    "UInt8", "Int8", "UInt16", "Int16", "UInt32", "Int32", "Float32"};
__attribute__((unused)) static const char *const raster_distances[] = {"l1", "l2", "linf", "sam"};

/* Runs an expression that must not fail; and allocates memory filled with zeros. */
static inline void raster_must(qfz_status st)
{
    if (st != QFZ_OK) abort();
}

static inline void *raster_room(int64_t n, size_t size)
{
    void *const ptr = calloc((size_t)n + 1, size);
    if (!ptr) abort();
    return ptr;
}

static inline void raster_range(qfz_type type, double *lo, double *hi)
{
    static const double lows[] = {0, -128, 0, -32768, 0, -2147483648.0, -3.4e38};
    static const double highs[] = {255, 127, 65535, 32767, 4294967295.0, 2147483647.0, 3.4e38};
    *lo = lows[type];
    *hi = highs[type];
}

static inline void raster_set(raster *r, int band, int64_t p, double v)
{
    const int64_t i = band * r->image.h * r->image.w + p;
    switch (r->image.type) {
    case QFZ_U8: ((uint8_t *)r->pixels)[i] = (uint8_t)v; break;
    case QFZ_I8: ((int8_t *)r->pixels)[i] = (int8_t)v; break;
    case QFZ_U16: ((uint16_t *)r->pixels)[i] = (uint16_t)v; break;
    case QFZ_I16: ((int16_t *)r->pixels)[i] = (int16_t)v; break;
    case QFZ_U32: ((uint32_t *)r->pixels)[i] = (uint32_t)v; break;
    case QFZ_I32: ((int32_t *)r->pixels)[i] = (int32_t)v; break;
    case QFZ_F32: ((float *)r->pixels)[i] = (float)v; break;
    }
}

/* A value of the named palette, for the k-th of n colours. */
static inline double raster_colour(qfz_type type, const char *palette, int k, int n)
{
    double lo, hi;
    raster_range(type, &lo, &hi);
    const double share = (double)check_pick(1 << 30) / (1 << 30);
    if (!strcmp(palette, "steps")) return (type == QFZ_F32 ? 0.25 * k : k) + (lo < 0 ? -3 : 2);
    if (!strcmp(palette, "small")) return floor(share * 12) * (type == QFZ_F32 ? 0.1 : 1);
    if (!strcmp(palette, "ends")) return k % 3 == 0 ? lo : k % 3 == 1 ? hi : floor(lo / 2 + hi / 2);
    if (!strcmp(palette, "tiny")) /* subnormal singles, and squares that vanish */
        return type == QFZ_F32 ? ldexp(share - 0.5, check_chance(50) ? -140 : -90)
                               : floor(share * 3);
    if (!strcmp(palette, "exponents"))
        return type == QFZ_F32 ? ldexp(share - 0.5, (int)check_pick(250) - 125)
                               : fmin(hi, floor(ldexp(share, (int)check_pick(32))));
    if (!strcmp(palette, "infinite") && type == QFZ_F32)
        return k % 4 == 0 ? INFINITY : k % 4 == 1 ? -INFINITY : k % 4 == 2 ? -0.0 : 0.0;
    if (!strcmp(palette, "ramp")) return fmin(hi, lo + (hi - lo) / n * k);
    return type == QFZ_F32 ? (share - 0.5) * 1000
                           : lo + floor(share * (hi - lo + 1)); /* whole numbers */
}

static inline int raster_spiral(int64_t h, int64_t w, int64_t y, int64_t x)
{
    /* A spiral of value 1 on 0: odd rings, opened at the upper left. */
    const int64_t a = y < h - 1 - y ? y : h - 1 - y, b = x < w - 1 - x ? x : w - 1 - x;
    const int64_t ring = a < b ? a : b;
    const bool gate = x == ring && y == ring + 1;
    return (int)((ring % 2) ^ (gate ? 1 : 0));
}

static inline int raster_shape(const char *shape, int64_t h, int64_t w, int64_t y, int64_t x,
                               const int64_t *seeds)
{
    if (!strcmp(shape, "constant")) return 0;
    if (!strcmp(shape, "checkerboard")) return (int)((y + x) % 2);
    if (!strcmp(shape, "spiral")) return raster_spiral(h, w, y, x);
    if (!strcmp(shape, "comb")) return y == 0 ? 1 : (int)(x % 2);
    if (!strcmp(shape, "lying comb")) return x == 0 ? 1 : (int)(y % 2);
    if (!strcmp(shape, "distinct")) return (int)((y * w + x) % RASTER_COLOURS);
    if (!strcmp(shape, "ramp")) return (int)((x + y) % RASTER_COLOURS);
    if (!strcmp(shape, "snake")) return (int)((y % 2 ? w - 1 - x : x) + y * w) % RASTER_COLOURS;
    if (!strcmp(shape, "stairs")) return x == y || x == y + 1 ? 1 : x + y == w - 1 ? 2 : 0;
    if (!strcmp(shape, "cross")) return (y == h / 2) | (x == w / 2);
    if (!strcmp(shape, "patches")) { /* nearest of six seeds */
        int best = 0;
        int64_t least = INT64_MAX;
        for (int s = 0; s < 6; s++) {
            const int64_t dy = y - seeds[2 * s] % h, dx = x - seeds[2 * s + 1] % w;
            const int64_t d = dy * dy + dx * dx;
            if (d < least) {
                least = d;
                best = s;
            }
        }
        return check_chance(8) ? (int)check_pick(8) : best;
    }
    if (!strcmp(shape, "binary")) return (int)check_pick(2);
    return (int)check_pick(seeds[0] % 2 ? RASTER_COLOURS : 5); /* noise */
}

static inline void raster_dig(raster *r)
{
    static const char *const kinds[] = {"none", "none",   "few",          "half",    "border",
                                        "all",  "column", "checkerboard", "isolated"};
    const int64_t h = r->image.h, w = r->image.w;
    r->holes = kinds[check_pick(sizeof kinds / sizeof *kinds)];
    if (!strcmp(r->holes, "all") && check_chance(80)) r->holes = "few";
    for (int64_t p = 0; p < h * w; p++) {
        const int64_t y = p / w, x = p % w;
        bool hole = false;
        if (!strcmp(r->holes, "few")) hole = check_chance(10);
        if (!strcmp(r->holes, "half")) hole = check_chance(50);
        if (!strcmp(r->holes, "border")) hole = y == 0 || x == 0 || y == h - 1 || x == w - 1;
        if (!strcmp(r->holes, "all")) hole = true;
        if (!strcmp(r->holes, "column")) hole = x == w / 2 && y != h / 3;
        if (!strcmp(r->holes, "checkerboard")) hole = (x + y) % 2;
        if (!strcmp(r->holes, "isolated")) hole = x % 3 || y % 2;
        r->valid[p] = !hole;
    }
}

/* Makes a raster of at most side x side pixels; type < 0: a random type. */
static inline void raster_make(raster *r, int64_t side, int type, int max_bands)
{
    static const char *const shapes[] = {
        "noise",    "noise",    "noise",        "patches", "patches", "patches",
        "binary",   "constant", "checkerboard", "spiral",  "comb",    "lying comb",
        "distinct", "ramp",     "snake",        "stairs",  "cross"};
    static const char *const palettes[] = {"steps", "steps", "small",     "small",    "whole",
                                           "ends",  "tiny",  "exponents", "infinite", "ramp"};
    int64_t seeds[12];
    int64_t h = 1 + check_pick(side), w = 1 + check_pick(side);
    if (check_chance(6)) h = 1;
    if (check_chance(6)) w = 1;
    r->image = (qfz_image){.struct_size = sizeof(qfz_image),
                           .h = h,
                           .w = w,
                           .n_bands = (int)(1 + check_pick(max_bands)),
                           .type = (qfz_type)(type < 0 ? check_pick(7) : type)};
    r->pixels = calloc((size_t)(h * w * r->image.n_bands), 4);
    r->valid = calloc((size_t)(h * w), 1);
    if (!r->pixels || !r->valid) abort();
    r->image.pixels = r->pixels;
    r->image.valid = r->valid;
    r->shape = shapes[check_pick(sizeof shapes / sizeof *shapes)];
    r->palette = palettes[check_pick(sizeof palettes / sizeof *palettes)];
    for (int i = 0; i < 12; i++)
        seeds[i] = check_pick(1000);
    for (int b = 0; b < r->image.n_bands; b++) {
        for (int k = 0; k < RASTER_COLOURS; k++)
            r->colours[b][k] = raster_colour(r->image.type, r->palette, k, RASTER_COLOURS);
        for (int64_t p = 0; p < h * w; p++)
            raster_set(r, b, p, r->colours[b][raster_shape(r->shape, h, w, p / w, p % w, seeds)]);
    }
    raster_dig(r);
}

static inline void raster_free(raster *r)
{
    free(r->pixels);
    free(r->valid);
}

/* An alpha that matters for this raster: one of its levels, a number close to one, or any
 * number. */
static inline double raster_alpha(const oracle *o, const raster *r)
{
    const int64_t n = r->image.h * r->image.w;
    const int64_t p = check_pick(n), q = check_pick(n);
    double level = oracle_level(o, p, q);
    if (isnan(level)) level = 2; /* level of an edge of an invalid pixel */
    switch (check_pick(10)) {
    case 0: return 0;
    case 1: return INFINITY;
    case 2: return level > 0.5 ? level - 0.5 : 0.5;
    case 3: return nextafter(level, 0);
    case 4: return nextafter(level, INFINITY);
    case 5: return (double)check_pick(5);
    case 6: return 1e300;
    default: return isfinite(level) ? level : 3;
    }
}

static inline double raster_omega(const raster *r, int band)
{
    const int64_t n = r->image.h * r->image.w;
    const double width = fabs(oracle_value(&r->image, band, check_pick(n)) -
                              oracle_value(&r->image, band, check_pick(n)));
    switch (check_pick(8)) {
    case 0: return 0;
    case 1: return INFINITY;
    case 2: return (double)check_pick(8);
    case 3: return nextafter(width, 0) > 0 ? nextafter(width, 0) : 0;
    default: return isfinite(width) ? width : 1;
    }
}

/* True if l1 levels may pass 2^32 - 1, as those of U32 and I32 with several bands: l1 is refused
 * then. */
static inline bool raster_levels_overflow(const qfz_image *image, qfz_distance distance)
{
    const bool four_bytes = image->type == QFZ_U32 || image->type == QFZ_I32;
    return four_bytes && distance == QFZ_L1 && image->n_bands > 1;
}

/* Any distance that the image's type and bands allow. */
static inline qfz_distance raster_distance(const qfz_image *image)
{
    const qfz_distance distance = (qfz_distance)check_pick(4);
    if (distance == QFZ_SAM && image->n_bands < 2) return QFZ_LINF;
    return raster_levels_overflow(image, distance) ? QFZ_LINF : distance;
}

/* Levels of the edges of an image, as qfz_image.edges has them, and as the oracle has them. */
typedef struct raster_edges {
    uint32_t *levels;
    double *planes;
    bool are_float;
} raster_edges;

static inline raster_edges raster_edges_make(const qfz_image *image, int connectivity)
{
    const int64_t n = connectivity / 2 * image->h * image->w;
    raster_edges e = {.levels = raster_room(n, sizeof *e.levels),
                      .planes = raster_room(n, sizeof *e.planes),
                      .are_float = check_chance(50)};
    const int missing = (int)check_pick(40), n_levels = check_chance(50) ? 4 : 1000;
    for (int64_t i = 0; i < n; i++) {
        const int64_t whole = check_pick(n_levels);
        const float single = check_chance(3) ? INFINITY : (float)whole / 3;
        const bool is_top = !e.are_float && check_chance(3);
        e.planes[i] = e.are_float ? (double)single : is_top ? 4294967294.0 : (double)whole;
        e.levels[i] = (uint32_t)(is_top ? 4294967294u : whole);
        if (e.are_float) memcpy(&e.levels[i], &single, sizeof single);
        if (!check_chance(missing)) continue;
        e.planes[i] = ORACLE_NO_EDGE;
        e.levels[i] = QFZ_NO_EDGE;
    }
    return e;
}

static inline void raster_edges_free(raster_edges *e)
{
    free(e->levels);
    free(e->planes);
}

/* Weights of any size, some of them 0, not all. */
static inline void raster_weigh(double *weights, int n_bands)
{
    static const double usual[] = {0, 0, 1, 1, 0.5, 3, 1.0 / 3, 1e-30, 1e30, 0x1p-149, 3.4e38};
    for (int b = 0; b < n_bands; b++)
        weights[b] = usual[check_pick(check_chance(10) ? 11 : 7)];
    weights[check_pick(n_bands)] = check_chance(50) ? 1 : 0.1 * (double)(1 + check_pick(90));
}

#endif
