/* SPDX-License-Identifier: MIT */
/* test_oracle.c - the oracle against results found by hand; the reasoning is beside each. */
#include "check.h"
#include "oracle.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

static qfz_image image_of(int64_t h, int64_t w, qfz_type type, const void *pixels)
{
    return (qfz_image){.h = h, .w = w, .n_bands = 1, .type = type, .pixels = pixels};
}

static void expect_labels(int line, const qfz_image *image, int connectivity, double alpha,
                          double omega, const uint32_t *want)
{
    uint32_t got[MOST];
    oracle *o = oracle_open(image, connectivity, QFZ_L1);
    if (alpha < 0)
        oracle_flat(o, got);
    else if (omega < 0)
        oracle_alpha(o, alpha, got);
    else
        oracle_alpha_omega(o, alpha, &omega, got);
    CHECK(!memcmp(got, want, (size_t)(image->h * image->w) * sizeof *got), "line %d", line);
    oracle_close(o);
}

static void expect_saliency(int line, const qfz_image *image, int connectivity, const double *want)
{
    double got[4 * MOST];
    const int64_t n = connectivity / 2 * image->h * image->w;
    oracle *o = oracle_open(image, connectivity, QFZ_L1);
    oracle_saliency(o, got);
    for (int64_t i = 0; i < n; i++)
        CHECK(got[i] == want[i], "line %d: plane value %d is %g, not %g", line, (int)i, got[i],
              want[i]);
    oracle_close(o);
}

#define LABELS(image, connectivity, alpha, omega, ...)                                             \
    expect_labels(__LINE__, image, connectivity, alpha, omega, (const uint32_t[]){__VA_ARGS__})
#define SALIENCY(image, connectivity, ...)                                                         \
    expect_saliency(__LINE__, image, connectivity, (const double[]){__VA_ARGS__})
#define U8(h, w, ...) image_of(h, w, QFZ_U8, (const uint8_t[]){__VA_ARGS__})

static void falls_back_along_a_line(void)
{
    qfz_image i = U8(1, 4, 0, 1, 3, 3); /* edges 1, 2, 0 */
    LABELS(&i, 4, -1, -1, 1, 2, 3, 3);
    LABELS(&i, 4, 0, -1, 1, 2, 3, 3);
    LABELS(&i, 4, 1, -1, 1, 1, 2, 2);
    LABELS(&i, 4, 1.5, -1, 1, 1, 2, 2);
    LABELS(&i, 4, 2, -1, 1, 1, 1, 1);
    LABELS(&i, 4, 2, 3, 1, 1, 1, 1);
    LABELS(&i, 4, 2, 2, 1, 1, 2, 2); /* range 3 > 2: back to alpha' = 1 */
    LABELS(&i, 4, 1, 99, 1, 1, 2, 2);
    LABELS(&i, 4, 9, 0, 1, 2, 3, 3);
    SALIENCY(&i, 4, 1, 2, 0, -1, -1, -1, -1, -1);

    /* A ramp: its 1-component has range 4; nothing lies between that and single pixels. */
    i = U8(1, 5, 0, 1, 2, 3, 4);
    LABELS(&i, 4, 1, 2, 1, 2, 3, 4, 5);
    LABELS(&i, 4, 1, 4, 1, 1, 1, 1, 1);

    /* alpha' 1: {0,0,1}; alpha' 3: {5,8} of range 3; alpha' 4: {0,0,1,5,8} of range 8. */
    i = U8(1, 6, 0, 0, 1, 5, 8, 20);
    LABELS(&i, 4, 4, 3, 1, 1, 1, 2, 2, 3);
}

static void joins_diagonals_only_when_8_connected(void)
{
    qfz_image i = U8(2, 2, 1, 0, 0, 1);
    LABELS(&i, 4, -1, -1, 1, 2, 3, 4);
    LABELS(&i, 8, -1, -1, 1, 2, 2, 1);
    SALIENCY(&i, 8, 1, -1, 1, -1, 1, 1, -1, -1, 0, -1, -1, -1, -1, 0, -1, -1);
}

static void takes_the_lower_way_round(void)
{
    /* From 0 to 5 the minimax path goes 0-0-1-5, level 4. */
    const qfz_image i = U8(2, 3, 0, 5, 1, 0, 1, 1);
    SALIENCY(&i, 4, 4, 4, -1, 1, 0, -1, 0, 4, 0, -1, -1, -1);
}

static void leaves_invalid_pixels_out(void)
{
    qfz_image i = U8(1, 3, 7, 7, 7);
    const uint8_t valid[] = {1, 0, 1};
    i.valid = valid;
    LABELS(&i, 4, -1, -1, 1, 0, 2);
    LABELS(&i, 8, 255, 255, 1, 0, 2);
    SALIENCY(&i, 4, -1, -1, -1, -1, -1, -1);
}

static void numbers_by_first_pixel(void)
{
    qfz_image i = U8(2, 3, 1, 0, 1, 1, 1, 1);
    LABELS(&i, 4, -1, -1, 1, 2, 1, 1, 1, 1);
    i = U8(2, 3, 0, 0, 1, 1, 0, 1);
    LABELS(&i, 4, -1, -1, 1, 1, 2, 3, 1, 2);
}

static void keeps_integers_exact(void)
{
    const int32_t ends[] = {INT32_MIN, INT32_MAX};
    qfz_image i = image_of(1, 2, QFZ_I32, ends);
    oracle *o = oracle_open(&i, 4, QFZ_L1);
    CHECK(oracle_level(o, 0, 1) == 4294967295.0, "l1 of the ends of Int32");
    oracle_close(o);
    o = oracle_open(&i, 4, QFZ_L2);
    CHECK(oracle_level(o, 0, 1) == 4294967296.0, "l2 of them, as a single");
    oracle_close(o);

    /* Every square of a 24-bit whole number has that number as root; its neighbours round. */
    for (uint32_t v = 1; v < 1u << 24; v += 977) {
        const uint32_t two[] = {0, v};
        i = image_of(1, 2, QFZ_U32, two);
        o = oracle_open(&i, 4, QFZ_L2);
        CHECK(oracle_level(o, 0, 1) == (double)v, "root of %u squared", v);
        oracle_close(o);
    }
}

static void spans_all_singles(void)
{
    const float pairs[][2] = {{0, 1e-25f}, {0, 1e25f}, {0x1p-149f, 0}, {-1e38f, 2e38f}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const qfz_image i = image_of(1, 2, QFZ_F32, pairs[k]);
        oracle *o = oracle_open(&i, 4, QFZ_L2);
        CHECK(oracle_level(o, 0, 1) == (double)fabsf(pairs[k][1] - pairs[k][0]),
              "l2 of one band, pair %d", (int)k);
        oracle_close(o);
    }
    const float far[] = {-3e38f, 3e38f};
    const qfz_image i = image_of(1, 2, QFZ_F32, far);
    oracle *o = oracle_open(&i, 4, QFZ_L2);
    CHECK(isinf(oracle_level(o, 0, 1)), "beyond the largest single");
    oracle_close(o);
}

/* d^2 + 1 etc. as sums over bands: the double root is right to 53 bits, so rounding it once more
 * can only be wrong next to a middle; the middles (odd 25-bit numbers) are met head-on. */
static void rounds_roots_once(void)
{
    for (int64_t m = (1 << 24) + 1; m < 1 << 25; m += 2 * 7919) {
        const uint32_t two[] = {0, 0, (uint32_t)m, 0}; /* band 1: 0, m; band 2: 0, 0 */
        uint32_t pixels[] = {two[0], two[2], two[1], two[3]};
        qfz_image i = {.h = 1, .w = 2, .n_bands = 2, .type = QFZ_U32, .pixels = pixels};
        const double down = (double)(m - 1), up = (double)(m + 1);
        const bool down_is_even = (m - 1) % 4 == 0;
        oracle *o = oracle_open(&i, 4, QFZ_L2);
        CHECK(oracle_level(o, 0, 1) == (down_is_even ? down : up), "the middle %d", (int)m);
        oracle_close(o);
        pixels[3] = 1; /* m^2 + 1: just above the middle */
        o = oracle_open(&i, 4, QFZ_L2);
        CHECK(oracle_level(o, 0, 1) == up, "above the middle %d", (int)m);
        oracle_close(o);
    }
}

static void treats_equal_infinities_as_equal(void)
{
    const float values[] = {INFINITY, INFINITY, -INFINITY, 0.0f, -0.0f};
    const qfz_image i = image_of(1, 5, QFZ_F32, values);
    LABELS(&i, 4, -1, -1, 1, 1, 2, 3, 3);
    SALIENCY(&i, 4, 0, INFINITY, INFINITY, 0, -1, -1, -1, -1, -1, -1);
}

static void rounds_means_halves_up(void)
{
    const int16_t values[] = {-3, -2, 2, 3, -1, 0};
    const qfz_image i = image_of(1, 6, QFZ_I16, values);
    int16_t out[6];
    oracle_paint(&i, (const uint32_t[]){1, 1, 2, 2, 3, 3}, 3, out);
    CHECK(out[0] == -2 && out[1] == -2, "-2.5 is painted %d", out[0]);
    CHECK(out[2] == 3, "2.5 is painted %d", out[2]);
    CHECK(out[4] == 0, "-0.5 is painted %d", out[4]);
}

static void adds_floats_exactly(void)
{
    const float values[] = {1e30f, 1.0f, -1e30f, 1e-40f};
    const qfz_image i = image_of(1, 4, QFZ_F32, values);
    float out[4];
    oracle_paint(&i, (const uint32_t[]){1, 1, 1, 1}, 1, out);
    CHECK(out[3] == 0.25f, "mean %g", (double)out[3]);
}

static void measures_regions(void)
{
    oracle_region r[2];
    const qfz_image i = U8(2, 3, 4, 9, 9, 9, 1, 1);
    oracle_regions(&i, (const uint32_t[]){1, 2, 2, 2, 0, 0}, 2, r);
    CHECK(r[0].pixels == 1 && r[0].x == 0.5 && r[0].y == 0.5 && r[0].x1 == 1, "one pixel");
    CHECK(r[1].pixels == 3 && r[1].x0 == 0 && r[1].x1 == 3 && r[1].y1 == 2, "an angle");
    CHECK(r[1].x == 4.5 / 3 && r[1].y == 2.5 / 3, "its middle %g %g", r[1].x, r[1].y);
    CHECK(r[1].bands[0].mean == 9 && r[1].bands[0].stddev == 0, "its values");
}

static void draws_layouts(void)
{
    /* 0 5 | . : the edge of 5, a masked pixel, and a lone valid one below it. */
    qfz_image i = U8(2, 2, 0, 5, 0, 0);
    const uint8_t valid[] = {1, 1, 0, 0};
    double planes[16], out[16];
    i.valid = valid;
    oracle *o = oracle_open(&i, 4, QFZ_L1);
    oracle_saliency(o, planes);
    oracle_pixel_layout(o, planes, out);
    CHECK(out[0] == 5 && out[1] == 5 && out[2] == ORACLE_INVALID, "pixel layout");
    oracle_khalimsky_layout(o, planes, out);
    CHECK(out[0] == 0 && out[1] == 5 && out[2] == 0, "top row");
    CHECK(out[3] == ORACLE_INVALID && out[4] == 5 && out[5] == ORACLE_INVALID, "between");
    CHECK(out[6] == ORACLE_INVALID && out[7] == ORACLE_INVALID, "bottom row");
    oracle_close(o);

    const uint8_t diagonal[] = {1, 0, 0, 1};
    i.valid = diagonal;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        o = oracle_open(&i, connectivity, QFZ_L1);
        oracle_saliency(o, planes);
        oracle_khalimsky_layout(o, planes, out);
        CHECK(out[4] == (connectivity == 8 ? 0 : ORACLE_INVALID), "corner, %d", connectivity);
        oracle_close(o);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    falls_back_along_a_line();
    joins_diagonals_only_when_8_connected();
    takes_the_lower_way_round();
    leaves_invalid_pixels_out();
    numbers_by_first_pixel();
    keeps_integers_exact();
    spans_all_singles();
    rounds_roots_once();
    treats_equal_infinities_as_equal();
    rounds_means_halves_up();
    adds_floats_exactly();
    measures_regions();
    draws_layouts();
    return check_end();
}
