/* SPDX-License-Identifier: MIT */
/* test_level.c - levels equal those of the oracle's scalar arithmetic, for every type and distance,
 * at the ends of the types, with and without weights; and level of an alpha. */
#include "rasters.h"
#include "core/criterion.h"
#include "core/level.h"

enum { LONG = 700 }; /* pixels of a row: longer than any block of a vectorised loop */

static void weighted_keys_equal(const qfz_image *image, qfz_distance distance,
                                const double *weights, int64_t p, int64_t q, int64_t n)
{
    uint32_t levels[LONG];
    float singles[ORACLE_MAX_BANDS];
    qfz_rule rule = {.distance = distance, .type = image->type, .n_bands = image->n_bands};
    oracle *o = oracle_open_weighted(image, 4, distance, weights);
    for (int b = 0; weights && b < image->n_bands; b++)
        singles[b] = (float)weights[b];
    if (weights) rule.weights = singles;
    qfz_levels(image, &rule, p, q, n, levels);
    for (int64_t i = 0; i < n; i++) {
        const double want = oracle_level(o, p + i, q + i);
        const double got = qfz_level_value(&rule, levels[i]);
        if (!CHECK(got == want, "pair %d: %.17g, not %.17g", (int)i, got, want)) break;
    }
    oracle_close(o);
}

static void keys_equal(const qfz_image *image, qfz_distance distance, int64_t p, int64_t q,
                       int64_t n)
{
    weighted_keys_equal(image, distance, NULL, p, q, n);
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
    for (int d = 0; d < 4; d++) {
        uint32_t level;
        qfz_error err = {0};
        double weights[ORACLE_MAX_BANDS];
        const qfz_rule rule = {.distance = (qfz_distance)d, .type = type, .n_bands = n_bands};
        const int64_t q = check_pick(w), p = check_pick(w);
        const int64_t n = w - (p > q ? p : q);
        check_describe("%d bands %s in %s, %s, %d pairs", n_bands, raster_types[type], r.palette,
                       raster_distances[d], (int)n);
        if (qfz_max_level(&rule, &level, &err) == QFZ_OK)
            keys_equal(&r.image, rule.distance, p, q, n);
        else
            CHECK(raster_levels_overflow(&r.image, rule.distance) || (d == QFZ_SAM && n_bands == 1),
                  "refused: %s", err.message);
        raster_weigh(weights, n_bands);
        if (d != QFZ_SAM) weighted_keys_equal(&r.image, rule.distance, weights, p, q, n);
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
    for (int d = 0; d < 4; d++) {
        check_case(d, "awkward singles, %s", raster_distances[d]);
        const double weights[] = {0.1, 3e38};
        if (d != QFZ_SAM) weighted_keys_equal(&two, (qfz_distance)d, weights, 0, N, N * N - N);
        keys_equal(&one, (qfz_distance)d, 0, N * N, N * N);
        keys_equal(&two, (qfz_distance)d, 0, N, N * N - N);
        keys_equal(&two, (qfz_distance)d, 1, 0, N * N - 1);
    }
}

/* A single of any magnitude, denormals too. */
static float any_single(void)
{
    const uint32_t bits = (uint32_t)check_pick(0x7f800000) | (check_chance(50) ? 0x80000000u : 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* True if no single is nearer to `exact` than `got`, up to the error of sums in double. */
static bool is_nearest(float got, long double exact)
{
    const long double slack = 1e-14L * exact, most = 0x1.ffffffp127L; /* rounds to infinity */
    if (isinf(got)) return exact + slack >= most;
    const long double below = got > 0 ? (long double)nextafterf(got, 0) : 0;
    const long double above =
        got < 0x1.fffffep127f ? (long double)nextafterf(got, INFINITY) : 0x1p128L;
    return exact + slack >= ((long double)got + below) / 2 &&
           exact - slack <= ((long double)got + above) / 2;
}

/* l2 of floats of any magnitude, against long double: squares in single precision would vanish
 * below 2.6e-23 and be infinite above 1.8e19. */
static void roots_of_any_singles(void)
{
    enum { N = 600, BANDS = 3 };
    static float pixels[BANDS * 2 * N];
    uint32_t levels[N], sums[N];
    for (int round = 0; round < 60; round++) {
        const int n_bands = 1 + round % BANDS;
        const qfz_image image = {
            .h = 2, .w = N, .n_bands = n_bands, .type = QFZ_F32, .pixels = pixels};
        qfz_rule rule = {.distance = QFZ_L2, .type = QFZ_F32, .n_bands = n_bands};
        check_case(round, "l2 of singles of any magnitude, %d bands", n_bands);
        for (int i = 0; i < n_bands * 2 * N; i++)
            pixels[i] = i >= 2 * N && check_chance(50) ? pixels[i - 2 * N] : any_single();
        qfz_levels(&image, &rule, 0, N, N, levels);
        rule.distance = QFZ_L1;
        qfz_levels(&image, &rule, 0, N, N, sums);
        for (int i = 0; i < N; i++) {
            long double square = 0;
            for (int b = 0; b < n_bands; b++) {
                const float *const plane = pixels + b * 2 * N;
                const long double d = (long double)plane[i] - (long double)plane[N + i];
                square += d * d;
            }
            const float got = (float)qfz_level_value(&rule, levels[i]);
            if (!CHECK(is_nearest(got, sqrtl(square)), "pair %d: %.9g, not %.12Lg", i, (double)got,
                       sqrtl(square)) ||
                !CHECK((levels[i] == 0) == (square == 0), "pair %d: level 0", i) ||
                !CHECK(n_bands > 1 || levels[i] == sums[i], "pair %d: l1 and l2 differ", i))
                break;
        }
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
            for (int d = 0; d < 4; d++) {
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
static void alpha_at_boundaries(const qfz_rule *rule)
{
    const bool single = qfz_levels_are_float(rule);
    const uint32_t top = single ? 0x7f800000u : UINT32_MAX;
    CHECK(single == (rule->type == QFZ_F32 || rule->distance == QFZ_L2 ||
                     rule->distance == QFZ_SAM || rule->weights),
          "kind of level");
    CHECK(qfz_level_of_alpha(rule, 0.0) == 0, "alpha 0");
    CHECK(qfz_level_of_alpha(rule, -0.0) == 0, "alpha -0 (equal to 0): level %u",
          qfz_level_of_alpha(rule, -0.0));
    CHECK(qfz_level_of_alpha(rule, INFINITY) == top, "alpha infinite");
    CHECK(qfz_level_of_alpha(rule, 1e300) == top - (single ? 1 : 0), "alpha 1e300");
    CHECK(qfz_level_of_alpha(rule, 5e-324) == 0, "least alpha");
    CHECK(qfz_level_value(rule, 0) == 0, "level 0");
    for (int i = 0; i < 3000; i++) {
        const uint32_t level = i < 40   ? (uint32_t)i + 1
                               : i < 80 ? top - (uint32_t)(i - 40) - (single ? 1 : 0)
                                        : 1 + (uint32_t)check_pick((int64_t)top - 1);
        const double alpha = qfz_level_value(rule, level);
        if (!CHECK(qfz_level_of_alpha(rule, alpha) == level, "level %u", level) ||
            !CHECK(qfz_level_of_alpha(rule, nextafter(alpha, 0)) == level - 1,
                   "just under level %u", level) ||
            !CHECK(qfz_level_of_alpha(rule, nextafter(alpha, INFINITY)) == level,
                   "just over level %u", level) ||
            !CHECK(alpha > qfz_level_value(rule, level - 1), "order at %u", level))
            break;
    }
}

static void alphas_at_boundaries(void)
{
    const float weight = 2;
    for (int t = 0; t < 7; t++)
        for (int d = 0; d < 4; d++)
            for (int weighted = 0; weighted < 2; weighted++) {
                const qfz_rule rule = {.type = (qfz_type)t,
                                       .distance = (qfz_distance)d,
                                       .weights = weighted ? &weight : NULL,
                                       .n_bands = 1};
                check_case(t, "alpha for %s, %s", raster_types[t], raster_distances[d]);
                alpha_at_boundaries(&rule);
            }
}

static void max_level(qfz_type type, int n_bands, qfz_distance distance, int64_t want)
{
    uint32_t level = 12345;
    qfz_error err = {0};
    const qfz_rule rule = {.type = type, .n_bands = n_bands, .distance = distance};
    const qfz_status st = qfz_max_level(&rule, &level, &err);
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
    max_level(QFZ_U8, 1, QFZ_SAM, -1);
    max_level(QFZ_U8, 2, QFZ_SAM, 0x40490fdb); /* pi */
}

static float angle_of(const float *a, const float *b, int n_bands)
{
    float pixels[2 * ORACLE_MAX_BANDS], angle;
    uint32_t level;
    const qfz_rule rule = {.distance = QFZ_SAM, .type = QFZ_F32, .n_bands = n_bands};
    const qfz_image image = {.h = 1, .w = 2, .n_bands = n_bands, .type = QFZ_F32, .pixels = pixels};
    for (int k = 0; k < n_bands; k++) {
        pixels[2 * k] = a[k];
        pixels[2 * k + 1] = b[k];
    }
    qfz_levels(&image, &rule, 0, 1, 1, &level);
    memcpy(&angle, &level, sizeof angle);
    return angle;
}

/* Kahan's formula, 2 atan(|a |b| - b |a|| / |a |b| + b |a||), in long double. */
static long double angle_by_norms(const float *a, const float *b, int n)
{
    long double aa = 0, bb = 0, apart = 0, together = 0;
    for (int k = 0; k < n; k++) {
        aa += (long double)a[k] * (long double)a[k];
        bb += (long double)b[k] * (long double)b[k];
    }
    for (int k = 0; k < n; k++) {
        const long double u = (long double)a[k] * sqrtl(bb), v = (long double)b[k] * sqrtl(aa);
        apart += (u - v) * (u - v);
        together += (u + v) * (u + v);
    }
    return 2 * atan2l(sqrtl(apart), sqrtl(together));
}

/* Any vectors, and vectors that are nearly parallel or opposite. */
static void angles_are_angles(void)
{
    const long double bound = 3e-8L;
    check_case(0, "angles");
    for (int i = 0; i < 20000; i++) {
        float a[ORACLE_MAX_BANDS], b[ORACLE_MAX_BANDS];
        const int n = 2 + (int)check_pick(ORACLE_MAX_BANDS - 1);
        const int kind = (int)check_pick(3);
        const double apart = ldexp(1, -(int)check_pick(30));
        for (int k = 0; k < n; k++) {
            const double u = (double)check_pick(2001) - 1000, v = (double)check_pick(2001) - 1000;
            a[k] = (float)u;
            b[k] = (float)(kind == 0 ? v : (kind == 1 ? 1 : -1) * (u + apart * v));
        }
        const long double want = angle_by_norms(a, b, n);
        const float got = angle_of(a, b, n);
        if (!CHECK(fabsl((long double)got - want) <= bound + want * 0x1p-24L,
                   "%d bands: %.9g, not %.12Lg", n, (double)got, want))
            break;
    }
}

static void angles_without_direction(void)
{
    const float pi = 3.14159274f, half_pi = 1.57079637f;
    const float zero[] = {0, 0}, x[] = {1, 0}, y[] = {0, 7}, minus_x[] = {-5, 0}, xx[] = {3e38f, 0};
    const float infinite[] = {INFINITY, 1}, tiny[] = {0x1p-149f, 0}, xy[] = {1, 1};
    const float third[] = {11, 13}, thrice[] = {33, 39};
    check_case(0, "angles at their ends");
    CHECK(angle_of(zero, zero, 2) == 0, "two vectors of zeros");
    CHECK(angle_of(zero, x, 2) == half_pi && angle_of(x, zero, 2) == half_pi, "one of zeros");
    CHECK(angle_of(infinite, infinite, 2) == 0, "two infinite ones");
    CHECK(angle_of(infinite, zero, 2) == 0, "an infinite one and zeros");
    CHECK(angle_of(infinite, x, 2) == half_pi, "an infinite one");
    CHECK(angle_of(x, y, 2) == half_pi, "a right angle");
    CHECK(angle_of(x, minus_x, 2) == pi, "opposite vectors");
    CHECK(angle_of(x, xx, 2) == 0 && angle_of(tiny, xx, 2) == 0, "lengths do not matter");
    CHECK(angle_of(x, xy, 2) == half_pi / 2, "half a right angle");
    CHECK(angle_of(third, thrice, 2) == 0, "vectors in one direction");
}

/* The page on parameters promises an alpha per band: weights 1 / A of ten significant digits. */
static void reciprocals_are_alphas(void)
{
    check_case(0, "reciprocals");
    for (int alpha = 1; alpha <= UINT16_MAX; alpha++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%.10g", 1.0 / alpha);
        const float weight = (float)strtod(digits, NULL);
        const qfz_rule rule = {
            .distance = QFZ_LINF, .type = QFZ_U32, .n_bands = 1, .weights = &weight};
        const uint32_t values[] = {(uint32_t)alpha, 0, (uint32_t)alpha + 1};
        const qfz_image image = {.h = 1, .w = 3, .n_bands = 1, .type = QFZ_U32, .pixels = values};
        uint32_t levels[2];
        qfz_levels(&image, &rule, 0, 1, 2, levels);
        if (!CHECK(qfz_level_value(&rule, levels[0]) <= 1 && qfz_level_value(&rule, levels[1]) > 1,
                   "%d: levels %.9g and %.9g", alpha, qfz_level_value(&rule, levels[0]),
                   qfz_level_value(&rule, levels[1])))
            break;
    }
}

static void weights_are_checked(void)
{
    static const struct {
        double weights[3];
        const char *message; /* NULL: accepted */
    } cases[] = {{{1, 2, 3}, NULL},
                 {{0, 0, 0x1p-149}, NULL},
                 {{0, 0, 0}, "all weights are 0"},
                 {{1, -1, 1}, "weight -1 of band 2"},
                 {{1, 1, NAN}, "of band 3"},
                 {{INFINITY, 1, 1}, "weight inf of band 1"},
                 {{1, 1e39, 1}, "weight 1e+39 of band 2"},
                 {{1, 1, 1e-60}, "weight 1e-60 of band 3 is too small"}};
    check_case(0, "weights");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *made = NULL;
        qfz_error err = {0};
        const qfz_criterion criterion = {
            .connectivity = 4, .weights = cases[i].weights, .n_weights = 3};
        const qfz_status st = qfz_criterion_spread_weights(&criterion, 3, &made, &err);
        CHECK((st == QFZ_OK) == !cases[i].message && (made != NULL) == !cases[i].message, "case %d",
              (int)i);
        CHECK(!cases[i].message || strstr(err.message, cases[i].message), "%s", err.message);
        free(made);
        err = (qfz_error){0};
        CHECK(qfz_criterion_spread_weights(&criterion, 2, &made, &err) == QFZ_EARG &&
                  strstr(err.message, "3 weights for 2 bands"),
              "%s", err.message);
    }
    const qfz_criterion sam = {
        .connectivity = 4, .distance = QFZ_SAM, .weights = cases[0].weights, .n_weights = 3};
    qfz_error err = {0};
    CHECK(qfz_criterion_check(&sam, &err) == QFZ_EARG && strstr(err.message, "weights"), "%s",
          err.message);
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
    roots_of_any_singles();
    alphas_at_boundaries();
    refuses_levels_beyond_32_bits();
    widths_against_omega();
    angles_are_angles();
    angles_without_direction();
    weights_are_checked();
    reciprocals_are_alphas();
    for (int64_t c = check_.first; c < check_.cases; c++)
        random_rows(c);
    return check_end();
}
