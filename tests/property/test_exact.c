/* SPDX-License-Identifier: MIT */
/* test_exact.c - sums without rounding equal exact sums of doubles, of 128-bit integers, and of
 * hand-made singles (subnormal, huge, cancelling), in any order of addition. */
#include "core/exact.h"
#include "core/wide.h"
#include "rasters.h"

enum { MOST = 400 };

typedef struct sums {
    uint64_t sum[QFZ_SUM_WORDS_MAX], square[QFZ_SQUARE_WORDS_MAX];
} sums;

static void add_all(sums *s, qfz_type type, const void *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        qfz_sum_add_pixel(s->sum, type, values, i);
        qfz_square_add_pixel(s->square, type, values, i);
    }
}

/* The library's sums equal the oracle's, in any order and in two halves. */
static void check_floats(const char *name, float *values, int64_t n)
{
    sums s = {0}, back = {0}, left = {0}, right = {0};
    double wide[MOST], squares[MOST];
    float mean;
    for (int64_t i = 0; i < n; i++) {
        wide[i] = (double)values[i];
        squares[i] = wide[i] * wide[i]; /* 48 bits: exact */
    }
    add_all(&s, QFZ_F32, values, n);
    const double sum = oracle_sum(wide, n), square = oracle_sum(squares, n);
    CHECK(qfz_sum_value(s.sum, QFZ_F32) == sum, "%s: sum %.17g, not %.17g", name,
          qfz_sum_value(s.sum, QFZ_F32), sum);
    CHECK(qfz_square_value(s.square, QFZ_F32) == square, "%s: squares %.17g, not %.17g", name,
          qfz_square_value(s.square, QFZ_F32), square);
    qfz_sum_mean(s.sum, (uint64_t)n, QFZ_F32, &mean);
    CHECK(mean == (float)(sum / (double)n), "%s: mean %.9g", name, (double)mean);

    for (int64_t i = n - 1; i >= 0; i--)
        add_all(&back, QFZ_F32, values + i, 1);
    CHECK(!memcmp(&s, &back, sizeof s), "%s: backwards", name);
    add_all(&left, QFZ_F32, values, n / 2);
    add_all(&right, QFZ_F32, values + n / 2, n - n / 2);
    qfz_words_add(left.sum, right.sum, qfz_sum_words(QFZ_F32));
    qfz_words_add(left.square, right.square, qfz_square_words(QFZ_F32));
    CHECK(!memcmp(&s, &left, sizeof s), "%s: in two halves", name);

    for (int64_t i = 0; i < n; i++)
        values[i] = -values[i];
    add_all(&s, QFZ_F32, values, n);
    for (int i = 0; i < qfz_sum_words(QFZ_F32); i++)
        CHECK(s.sum[i] == 0, "%s: with all signs turned, word %d is not 0", name, i);
}

#define FLOATS(name, ...)                                                                          \
    do {                                                                                           \
        float values_[] = {__VA_ARGS__};                                                           \
        check_floats(name, values_, (int64_t)(sizeof values_ / sizeof *values_));                  \
    } while (0)

static void adds_awkward_singles(void)
{
    FLOATS("zero", 0.0f);
    FLOATS("minus zero", -0.0f, -0.0f);
    FLOATS("one", 1.0f);
    FLOATS("least subnormal", 0x1p-149f);
    FLOATS("least subnormals cancel", 0x1p-149f, -0x1p-149f);
    FLOATS("around the least normal", 0x1p-126f, 0x1.fffffcp-127f, -0x1p-149f);
    FLOATS("largest", 0x1.fffffep127f, 0x1.fffffep127f, 0x1.fffffep127f);
    FLOATS("most negative", -0x1.fffffep127f, -0x1.fffffep127f);
    FLOATS("ends of the range", 0x1.fffffep127f, 0x1p-149f);
    FLOATS("ends that cancel", 0x1.fffffep127f, 0x1p-149f, -0x1.fffffep127f);
    FLOATS("1e38 and one", 1e38f, 1.0f, -1e38f);
    FLOATS("alternating", 3.0f, -5.0f, 7.0f, -11.0f, 0.1f, -0.3f);
    FLOATS("a tie of doubles, to even", 0x1p53f, 1.0f);
    FLOATS("a tie of doubles, to odd's neighbour", 0x1p53f, 2.0f, 1.0f);
    FLOATS("just above a tie", 0x1p53f, 1.0f, 0x1p-149f);
    FLOATS("just below a tie", 0x1p53f, 1.0f, -0x1p-149f);
    FLOATS("carries over every word", -0x1p-149f, 0x1p127f, -0x1p-149f);
    FLOATS("rounds up to a power", 0x1.fffffep60f, 0x1.fffffep36f, 0x1.fffffep12f);
}

static void infinities_win(void)
{
    FLOATS("infinite", INFINITY, 1.0f, 3e38f);
    FLOATS("minus infinite", -INFINITY, 3e38f, 3e38f);
    FLOATS("two to one", INFINITY, -INFINITY, INFINITY, -3e38f);
    FLOATS("they cancel", INFINITY, 2.5f, -INFINITY, -3e38f);
}

static void random_singles(int64_t number)
{
    float values[MOST];
    check_case(number, "random singles");
    const int64_t n = 1 + check_pick(MOST);
    const int spread = (int)check_pick(270), base = (int)check_pick(277 - spread) - 149;
    for (int64_t i = 0; i < n; i++) {
        const double m = (double)(check_pick(1 << 25) - (1 << 24)) / (1 << 24);
        values[i] = check_chance(20) && i ? -values[i - 1]
                                          : (float)ldexp(m, base + (int)check_pick(spread + 1));
    }
    check_describe("%d singles from 2^%d to 2^%d", (int)n, base, base + spread);
    check_floats("random", values, n);
}

/* The mean of whole numbers by definition: the largest m with 2 n m <= 2 s + n. */
static int64_t mean_by_search(qfz_i128 sum, int64_t n)
{
    int64_t low = INT64_C(-3000000000), high = INT64_C(6000000000);
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if ((qfz_i128)2 * n * middle <= 2 * sum + n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void random_integers(int64_t number)
{
    raster r;
    check_case(number, "random integers");
    raster_make(&r, 20, (int)check_pick(6), 1);
    check_describe("%s of %s, %dx%d", raster_types[r.image.type], r.palette, (int)r.image.h,
                   (int)r.image.w);
    const int64_t n = r.image.h * r.image.w;
    sums s = {0};
    qfz_i128 sum = 0, square = 0;
    add_all(&s, r.image.type, r.pixels, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = (int64_t)oracle_value(&r.image, 0, i);
        sum += v;
        square += (qfz_i128)v * v;
    }
    CHECK(qfz_sum_value(s.sum, r.image.type) == (double)sum, "sum");
    CHECK(qfz_square_value(s.square, r.image.type) == (double)square, "squares");
    raster out = r;
    out.pixels = calloc(1, 8);
    if (!out.pixels) abort();
    out.image.pixels = out.pixels;
    out.image.h = out.image.w = 1;
    qfz_sum_mean(s.sum, (uint64_t)n, r.image.type, out.pixels);
    CHECK((int64_t)oracle_value(&out.image, 0, 0) == mean_by_search(sum, n), "mean %.0f, not %lld",
          oracle_value(&out.image, 0, 0), (long long)mean_by_search(sum, n));
    free(out.pixels);
    raster_free(&r);
}

/* 2^40 pixels of one value, by doubling a sum 40 times. */
static void long_sums_do_not_wrap(void)
{
    const uint32_t most = UINT32_MAX;
    const int32_t least = INT32_MIN;
    const float large = 0x1.fffffep127f;
    sums u = {0}, i = {0}, f = {0};
    add_all(&u, QFZ_U32, &most, 1);
    add_all(&i, QFZ_I32, &least, 1);
    add_all(&f, QFZ_F32, &large, 1);
    for (int k = 0; k < 40; k++) {
        qfz_words_add(u.sum, u.sum, qfz_sum_words(QFZ_U32));
        qfz_words_add(u.square, u.square, qfz_square_words(QFZ_U32));
        qfz_words_add(i.sum, i.sum, qfz_sum_words(QFZ_I32));
        qfz_words_add(i.square, i.square, qfz_square_words(QFZ_I32));
        qfz_words_add(f.sum, f.sum, qfz_sum_words(QFZ_F32));
        qfz_words_add(f.square, f.square, qfz_square_words(QFZ_F32));
    }
    const double n = 0x1p40;
    CHECK(qfz_sum_value(u.sum, QFZ_U32) == n * 4294967295.0, "UInt32");
    CHECK(qfz_square_value(u.square, QFZ_U32) == n * (4294967295.0 * 4294967295.0), "its squares");
    CHECK(qfz_sum_value(i.sum, QFZ_I32) == n * -2147483648.0, "Int32");
    CHECK(qfz_square_value(i.square, QFZ_I32) == n * 0x1p62, "its squares");
    CHECK(qfz_sum_value(f.sum, QFZ_F32) == n * (double)large, "Float32");
    CHECK(qfz_square_value(f.square, QFZ_F32) == n * ((double)large * (double)large),
          "its squares");
    uint32_t mean_u;
    int32_t mean_i;
    float mean_f;
    qfz_sum_mean(u.sum, UINT64_C(1) << 40, QFZ_U32, &mean_u);
    qfz_sum_mean(i.sum, UINT64_C(1) << 40, QFZ_I32, &mean_i);
    qfz_sum_mean(f.sum, UINT64_C(1) << 40, QFZ_F32, &mean_f);
    CHECK(mean_u == most && mean_i == least && mean_f == large, "means of equal values");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 3000);
    check_case(-1, "by context");
    adds_awkward_singles();
    infinities_win();
    long_sums_do_not_wrap();
    for (int64_t c = check_.first; c < check_.cases; c++)
        if (c % 3)
            random_singles(c);
        else
            random_integers(c);
    return check_end();
}
