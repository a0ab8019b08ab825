/* SPDX-License-Identifier: MIT */
/* test_level.c - levels equal those of the oracle's scalar arithmetic, for every type and distance,
 * at the ends of the types; and level of an alpha. */
#include "rasters.h"
#include "core/level.h"

enum { LONG = 700 }; /* pixels of a row: longer than any block of a vectorised loop */

static void keys_equal(const qfz_image *image, qfz_distance distance, int64_t p, int64_t q,
                       int64_t n)
{
    uint32_t levels[LONG];
    oracle *o = oracle_open(image, 4, distance);
    qfz_levels(image, distance, p, q, n, levels);
    for (int64_t i = 0; i < n; i++) {
        const double want = oracle_level(o, p + i, q + i);
        const double got = qfz_level_value(image->type, distance, levels[i]);
        if (!CHECK(got == want, "pair %d: %.17g, not %.17g", (int)i, got, want)) break;
    }
    oracle_close(o);
}

/* Levels of pairs of any offset, in rows of any length. */
static void random_rows(int64_t number)
{
    raster r;
    check_case(number, "a row");
    raster_make(&r, 3, -1, RASTER_BANDS);
    const qfz_type type = r.image.type;
    const int n_bands = check_chance(20) ? ORACLE_MAX_BANDS : r.image.n_bands;
    const int64_t w = 2 + check_pick(LONG - 2);
    r.image.h = 1;
    r.image.w = w;
    r.image.n_bands = n_bands;
    r.image.valid = NULL;
    free(r.pixels);
    r.image.pixels = r.pixels = calloc((size_t)(w * n_bands), 4);
    if (!r.pixels) abort();
    for (int b = 0; b < n_bands; b++)
        for (int64_t p = 0; p < w; p++)
            raster_set(&r, b, p,
                       r.colours[b % r.image.n_bands % RASTER_BANDS][check_pick(RASTER_COLOURS)]);
    for (int d = 0; d < 3; d++) {
        uint32_t level;
        qfz_error err = {0};
        const int64_t q = check_pick(w), p = check_pick(w);
        const int64_t n = w - (p > q ? p : q);
        check_describe("%d bands %s in %s, %s, %d pairs", n_bands, raster_types[type], r.palette,
                       raster_distances[d], (int)n);
        if (qfz_max_level(type, n_bands, (qfz_distance)d, &level, &err) == QFZ_OK)
            keys_equal(&r.image, (qfz_distance)d, p, q, n);
        else
            CHECK(raster_levels_overflow(&r.image, (qfz_distance)d), "refused: %s", err.message);
    }
    raster_free(&r);
}

/* Every pair of 16 special singles, one band and two. */
static void awkward_singles(void)
{
    static const float v[] = {
        0.0f,      -0.0f,     1.0f,        -1.0f,      0x1p-149f,       -0x1p-149f,
        0x1p-126f, 1e-30f,    1e30f,       -1e30f,     0x1.fffffep127f, -0x1.fffffep127f,
        INFINITY,  -INFINITY, 16777216.0f, 16777217.0f};
    enum { N = sizeof v / sizeof *v };
    float a[N * N * 2], b[N * N * 2];
    for (int i = 0; i < N * N; i++) {
        a[i] = v[i / N];
        a[N * N + i] = v[i % N];
        b[2 * i] = v[i / N];
        b[2 * i + 1] = v[i % N];
    }
    const qfz_image one = {.h = 2, .w = N * N, .n_bands = 1, .type = QFZ_F32, .pixels = a};
    const qfz_image two = {.h = 1, .w = N * N, .n_bands = 2, .type = QFZ_F32, .pixels = b};
    for (int d = 0; d < 3; d++) {
        check_case(d, "awkward singles, %s", raster_distances[d]);
        keys_equal(&one, (qfz_distance)d, 0, N * N, N * N);
        keys_equal(&two, (qfz_distance)d, 0, N, N * N - N);
        keys_equal(&two, (qfz_distance)d, 1, 0, N * N - 1);
    }
}

/* The ends of every integer type against each other, over 1 and 16 bands. */
static void ends_of_types(void)
{
    for (int t = 0; t < 6; t++)
        for (int bands = 1; bands <= 16; bands += 15) {
            raster r = {.image = {.h = 1, .w = 4, .n_bands = bands, .type = (qfz_type)t}};
            double lo, hi;
            raster_range((qfz_type)t, &lo, &hi);
            r.image.pixels = r.pixels = calloc((size_t)(4 * bands), 4);
            if (!r.pixels) abort();
            for (int b = 0; b < bands; b++) {
                raster_set(&r, b, 0, lo);
                raster_set(&r, b, 1, hi);
                raster_set(&r, b, 2, lo);
                raster_set(&r, b, 3, b % 2 ? lo : hi);
            }
            for (int d = 0; d < 3; d++) {
                check_case(t, "ends of %s, %d bands, %s", raster_types[t], bands,
                           raster_distances[d]);
                if (!raster_levels_overflow(&r.image, (qfz_distance)d))
                    keys_equal(&r.image, (qfz_distance)d, 0, 1, 3);
            }
            free(r.pixels);
        }
}

/* Squares next to the midpoint of two singles: a root that is rounded twice would be wrong. */
static void roots_next_to_middles(void)
{
    enum { N = 512 };
    uint32_t v[2 * 2 * N];
    for (int round = 0; round < 60; round++) {
        check_case(round, "roots next to the middle of two singles");
        for (int i = 0; i < N; i++) {
            const uint32_t m = (uint32_t)((1 << 24) + check_pick(1 << 24)) | 1; /* 25 bits, odd */
            v[i] = v[2 * N + i] = 0;
            v[N + i] = m << check_pick(8);
            v[3 * N + i] = (uint32_t)check_pick(2);
        }
        const qfz_image image = {.h = 2, .w = N, .n_bands = 2, .type = QFZ_U32, .pixels = v};
        keys_equal(&image, QFZ_L2, 0, N, N);
    }
}

/* The level of alpha is the largest level whose dissimilarity is <= alpha. */
static void alphas_at_boundaries(void)
{
    for (int t = 0; t < 7; t++)
        for (int d = 0; d < 3; d++) {
            const qfz_type type = (qfz_type)t;
            const qfz_distance distance = (qfz_distance)d;
            const bool single = qfz_levels_are_float(type, distance);
            const uint32_t top = single ? 0x7f800000u : UINT32_MAX;
            check_case(t, "alpha for %s, %s", raster_types[t], raster_distances[d]);
            CHECK(single == (t == QFZ_F32 || d == QFZ_L2), "kind of level");
            CHECK(qfz_level_of_alpha(type, distance, 0.0) == 0, "alpha 0");
            CHECK(qfz_level_of_alpha(type, distance, -0.0) == 0, "alpha -0 (equal to 0): level %u",
                  qfz_level_of_alpha(type, distance, -0.0));
            CHECK(qfz_level_of_alpha(type, distance, INFINITY) == top, "alpha infinite");
            CHECK(qfz_level_of_alpha(type, distance, 1e300) == top - (single ? 1 : 0),
                  "alpha 1e300");
            CHECK(qfz_level_of_alpha(type, distance, 5e-324) == 0, "least alpha");
            CHECK(qfz_level_value(type, distance, 0) == 0, "level 0");
            for (int i = 0; i < 3000; i++) {
                const uint32_t level = i < 40   ? (uint32_t)i + 1
                                       : i < 80 ? top - (uint32_t)(i - 40) - (single ? 1 : 0)
                                                : 1 + (uint32_t)check_pick((int64_t)top - 1);
                const double alpha = qfz_level_value(type, distance, level);
                if (!CHECK(qfz_level_of_alpha(type, distance, alpha) == level, "level %u", level) ||
                    !CHECK(qfz_level_of_alpha(type, distance, nextafter(alpha, 0)) == level - 1,
                           "just under level %u", level) ||
                    !CHECK(qfz_level_of_alpha(type, distance, nextafter(alpha, INFINITY)) == level,
                           "just over level %u", level) ||
                    !CHECK(alpha > qfz_level_value(type, distance, level - 1), "order at %u",
                           level))
                    break;
            }
        }
}

static void max_level(qfz_type type, int n_bands, qfz_distance distance, int64_t want)
{
    uint32_t level = 12345;
    qfz_error err = {0};
    const qfz_status st = qfz_max_level(type, n_bands, distance, &level, &err);
    if (want < 0) {
        CHECK(st == QFZ_EARG && level == 12345, "%d bands of %s: status %d", n_bands,
              raster_types[type], (int)st);
        CHECK(strlen(err.message) > 20 && err.status == QFZ_EARG, "message: %s", err.message);
    } else {
        CHECK(st == QFZ_OK && level >= want, "%d bands of %s: status %d, level %u < %lld", n_bands,
              raster_types[type], (int)st, level, (long long)want);
    }
}

static void refuses_levels_beyond_32_bits(void)
{
    check_case(0, "the largest level");
    max_level(QFZ_U8, 1, QFZ_L1, 255);
    max_level(QFZ_I8, 1, QFZ_L1, 255);
    max_level(QFZ_U8, 1024, QFZ_L1, 1024 * 255);
    max_level(QFZ_U16, 16, QFZ_L1, 16 * 65535);
    max_level(QFZ_I16, 3, QFZ_LINF, 65535);
    max_level(QFZ_U16, 1024, QFZ_L1, 1024 * 65535);
    max_level(QFZ_U32, 1, QFZ_L1, UINT32_MAX);
    max_level(QFZ_I32, 1, QFZ_L1, UINT32_MAX);
    max_level(QFZ_U32, 2, QFZ_L1, -1);
    max_level(QFZ_I32, 16, QFZ_L1, -1);
    max_level(QFZ_U32, 16, QFZ_LINF, UINT32_MAX);
    max_level(QFZ_I32, 16, QFZ_L2, 0x53800000); /* 2^40 */
    max_level(QFZ_F32, 16, QFZ_L1, 0x7f800000);
}

static void widths_against_omega(void)
{
    const float omega_edge = 0.1f;
    const double omega[] = {(double)omega_edge, 5};
    const double below[] = {nextafter((double)omega_edge, 0), 5};
    const double none[] = {0, 0};
    qfz_rule rule = {.type = QFZ_F32, .n_bands = 2, .omega = omega};
    const float zero[] = {0, 0}, there[] = {0.1f, 5}, far[] = {0.1f, 0x1.400002p2f};
    const float infinite[] = {INFINITY, 1};
    check_case(0, "ranges against omega");
    CHECK(!qfz_too_wide(&rule, zero, there), "a range equal to omega holds");
    CHECK(qfz_too_wide(&rule, zero, far), "the second band breaks it");
    CHECK(qfz_too_wide(&rule, zero, infinite), "an infinite range breaks it");
    rule.omega = below;
    CHECK(qfz_too_wide(&rule, zero, there), "omega is compared as given, in double");
    rule.omega = none;
    CHECK(!qfz_too_wide(&rule, infinite, infinite), "equal infinities have a range of 0");
    rule.omega = NULL;
    CHECK(!qfz_too_wide(&rule, zero, infinite), "no omega, no limit");

    const double most[] = {4294967294.0};
    rule = (qfz_rule){.type = QFZ_I32, .n_bands = 1, .omega = most};
    const int32_t least = INT32_MIN, top = INT32_MAX, near = INT32_MAX - 1;
    CHECK(qfz_too_wide(&rule, &least, &top), "all of Int32 is 2^32 - 1 wide");
    CHECK(!qfz_too_wide(&rule, &least, &near), "one less is 2^32 - 2");

    int32_t lo = 3, hi = 5;
    const int32_t lo2 = -7, hi2 = 4;
    CHECK(qfz_widen(&rule, &lo, &hi, &lo2, &hi2) && lo == -7 && hi == 5, "grows downwards");
    CHECK(!qfz_widen(&rule, &lo, &hi, &lo2, &hi2), "holds it already");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 2000);
    awkward_singles();
    ends_of_types();
    roots_next_to_middles();
    alphas_at_boundaries();
    refuses_levels_beyond_32_bits();
    widths_against_omega();
    for (int64_t c = check_.first; c < check_.cases; c++)
        random_rows(c);
    return check_end();
}
