/* SPDX-License-Identifier: MIT */
/* bench_generate.c - images made by a hash of (seed, band, x, y): whole numbers, no state. */
#include "bench_images.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 8, LOG_FLAT = 3, FLAT_STEPS = 16 };

typedef struct row {
    const bench_request *bench;
    uint64_t seed; /* of the band */
    uint64_t max;  /* largest value */
    int y, n;
    uint64_t *values; /* n of them, to be filled */
} row;

typedef void (*row_maker)(const row *row);

/* The mixing function of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t noise(uint64_t seed, int64_t x, int64_t y)
{
    return mix(mix(seed + (uint64_t)y * 0xd1342543de82ef95u) + (uint64_t)x);
}

static void make_binary(const row *r)
{
    const int g = r->bench->granularity_px;
    const uint64_t density = (uint64_t)r->bench->density_percent;
    for (int x = 0; x < r->n; x++)
        r->values[x] = noise(r->seed, x / g, r->y / g) % 100 < density;
}

static void make_white(const row *r)
{
    for (int x = 0; x < r->n; x++)
        r->values[x] = noise(r->seed, x, r->y) & r->max;
}

static void make_ramp(const row *r)
{
    for (int x = 0; x < r->n; x++)
        r->values[x] = (r->seed + (uint64_t)x + (uint64_t)r->y) & r->max;
}

/* Noise of 16 bits at column x of a lattice of side 2^log, between two of its rows, times 2^log. */
static int64_t between_rows(uint64_t seed, int log, int x, int y)
{
    const int64_t side = (int64_t)1 << log, below = y & (side - 1);
    return (int64_t)(noise(seed, x, y >> log) & 0xffff) * (side - below) +
           (int64_t)(noise(seed, x, (y >> log) + 1) & 0xffff) * below;
}

/* Adds noise on a lattice of side 2^log, bilinear between its points, times its side. */
static void add_octave(const row *r, int log)
{
    const int64_t side = (int64_t)1 << log;
    const uint64_t seed = mix(r->seed + (uint64_t)log);
    int64_t left = 0, right = between_rows(seed, log, 0, r->y);
    for (int x = 0; x < r->n; x++) {
        const int64_t along = x & (side - 1);
        if (along == 0) {
            left = right;
            right = between_rows(seed, log, (x >> log) + 1, r->y);
        }
        r->values[x] += (uint64_t)((left * (side - along) + right * along) >> log);
    }
}

/* Octaves of sides 2^low to 2^LOG_MAX, as high as they are wide, stretched to n_values values. */
static void add_octaves(const row *r, int low, uint64_t n_values)
{
    const uint64_t sides = ((uint64_t)2 << LOG_MAX) - ((uint64_t)1 << low);
    memset(r->values, 0, (size_t)r->n * sizeof *r->values);
    for (int log = low; log <= LOG_MAX; log++)
        add_octave(r, log);
    for (int x = 0; x < r->n; x++)
        r->values[x] = r->values[x] * n_values / (sides * 0x10000);
}

static void make_fractal(const row *r)
{
    add_octaves(r, 0, r->max + 1);
}

static void make_flat(const row *r)
{
    add_octaves(r, LOG_FLAT, FLAT_STEPS);
    for (int x = 0; x < r->n; x++)
        r->values[x] *= r->max / (FLAT_STEPS - 1);
}

static row_maker maker_of(const char *kind)
{
    static const struct {
        const char *kind;
        row_maker make;
    } makers[] = {
        {"binary", make_binary}, {"white", make_white}, {"fractal", make_fractal},
        {"flat", make_flat},     {"ramp", make_ramp},
    };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(makers[i].kind, kind) == 0) return makers[i].make;
    return NULL;
}

static void store(const row *r, int bits, void *pixels, size_t at)
{
    if (bits == 8) {
        uint8_t *const to = (uint8_t *)pixels + at;
        for (int x = 0; x < r->n; x++)
            to[x] = (uint8_t)r->values[x];
    } else if (bits == 16) {
        uint16_t *const to = (uint16_t *)pixels + at;
        for (int x = 0; x < r->n; x++)
            to[x] = (uint16_t)r->values[x];
    } else {
        float *const to = (float *)pixels + at;
        for (int x = 0; x < r->n; x++)
            to[x] = (float)r->values[x];
    }
}

/* The largest value; of floating-point ones, that up to which all whole numbers are. */
static uint64_t max_of(int bits)
{
    return bits == 8 ? 0xff : bits == 16 ? 0xffff : 0xffffff;
}

/* Every row is its own; threads share them out. */
static bool make_band(const bench_request *bench, row_maker make, int band, void *pixels)
{
    const size_t n = (size_t)bench->size_px;
    bool good = true;
#pragma omp parallel reduction(&& : good)
    {
        row r = {.bench = bench,
                 .seed = mix((uint64_t)bench->seed) + (uint64_t)band,
                 .max = max_of(bench->bits),
                 .n = bench->size_px,
                 .values = malloc(n * sizeof *r.values)};
        good = r.values != NULL;
#pragma omp for schedule(static)
        for (int y = 0; y < bench->size_px; y++) {
            if (!good) continue;
            r.y = y;
            make(&r);
            store(&r, bench->bits, pixels, ((size_t)band * n + (size_t)y) * n);
        }
        free(r.values);
    }
    return good;
}

void *bench_generate(const bench_request *bench)
{
    const size_t n = (size_t)bench->size_px;
    const row_maker make = maker_of(bench->kind);
    void *const pixels = malloc(n * n * (size_t)bench->bands * (size_t)bench->bits / 8);
    bool good = pixels != NULL;
    for (int band = 0; good && band < bench->bands; band++)
        good = make_band(bench, make, band, pixels);
    if (good) return pixels;
    free(pixels);
    return NULL;
}
