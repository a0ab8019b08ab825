/* SPDX-License-Identifier: MIT */
/* test_components.c - labels of components equal those of a breadth-first flood fill that tests one
 * edge at a time. */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "core/box.h"
#include "small.h"

/* ---- Flood fill ------------------------------------------------------------------------------ */

typedef struct answers {
    uint32_t *label, *first;
    uint32_t n;
} answers;

static answers answer_create(size_t n_px)
{
    return (answers){room(n_px, sizeof(uint32_t)), room(n_px, sizeof(uint32_t)), 0};
}

static void answer_destroy(answers *answer)
{
    free(answer->label);
    free(answer->first);
}

/* True if the edge from pixel p to pixel q joins them. */
static bool edge_joins(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q)
{
    if (!is_valid(image, p) || !is_valid(image, q)) return false;
    if (rule->edge_bits) return ((const uint8_t *)image->pixels)[p] >> dir & 1;
    uint32_t key;
    qfz_levels(image, rule, p, q, 1, &key);
    return key <= rule->alpha_level;
}

/* The neighbour of pixel p in direction dir (sign 1) or against it (-1); -1 if there is none or it
 * is not joined. */
static int64_t joined_neighbour(const qfz_image *image, const qfz_rule *rule, int64_t p, int dir,
                                int sign)
{
    const int64_t y = p / image->w + sign * qfz_dir_dy[dir];
    const int64_t x = p % image->w + sign * qfz_dir_dx[dir];
    if (y < 0 || y >= image->h || x < 0 || x >= image->w) return -1;
    const int64_t q = y * image->w + x;
    const bool joins =
        sign > 0 ? edge_joins(image, rule, dir, p, q) : edge_joins(image, rule, dir, q, p);
    return joins ? q : -1;
}

static void flood(const qfz_image *image, const qfz_rule *rule, int64_t seed, int64_t *queue,
                  answers *out)
{
    int64_t head = 0, tail = 0;
    out->first[out->n++] = (uint32_t)seed;
    out->label[seed] = out->n;
    queue[tail++] = seed;
    while (head < tail) {
        const int64_t p = queue[head++];
        for (int turn = 0; turn < 2 * qfz_n_dirs(rule); turn++) {
            const int64_t q = joined_neighbour(image, rule, p, turn / 2, turn % 2 ? -1 : 1);
            if (q < 0 || out->label[q]) continue;
            out->label[q] = out->n;
            queue[tail++] = q;
        }
    }
}

static void flood_all(const qfz_image *image, const qfz_rule *rule, answers *out)
{
    const int64_t n_px = image->h * image->w;
    int64_t *const queue = room((size_t)n_px, sizeof *queue);
    for (int64_t p = 0; p < n_px; p++)
        if (is_valid(image, p) && !out->label[p]) flood(image, rule, p, queue, out);
    free(queue);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

/* Every array has exactly the documented size, and arbitrary contents. */
static void *filled_room(size_t n, size_t size)
{
    void *const got = room(n, size);
    memset(got, 0xa5, n * size);
    return got;
}

static void check_labels(const qfz_runs *runs, const answers *want, size_t n_px)
{
    uint32_t *const narrow = filled_room(n_px, sizeof *narrow);
    uint64_t *const wide = filled_room(n_px, sizeof *wide);
    qfz_components_labels(runs, NULL, false, narrow);
    assert_memory_equal(narrow, want->label, n_px * sizeof *narrow);

    uint64_t *const name = room(want->n + 1u, sizeof *name);
    for (uint32_t r = 0; r < want->n; r++)
        name[r] = UINT64_C(0x9e3779b97f4a7c15) * (r + 1); /* all bits are in use */
    qfz_components_labels(runs, name, false, narrow);
    qfz_components_labels(runs, name, true, wide);
    for (size_t i = 0; i < n_px; i++) {
        const uint64_t label = want->label[i] ? name[want->label[i] - 1] : 0;
        assert_true(narrow[i] == (uint32_t)label && wide[i] == label);
    }
    free(name);
    free(narrow);
    free(wide);
}

static void check_rows_and_ring(const qfz_runs *runs, const answers *want, int64_t h, int64_t w)
{
    const int64_t n_ring = qfz_ring_size(h, w);
    uint32_t *const row = filled_room((size_t)w, sizeof *row);
    uint32_t *const ring = filled_room((size_t)n_ring, sizeof *ring);
    for (int64_t y = 0; y < h; y++) {
        qfz_components_row(runs, y, row);
        assert_memory_equal(row, want->label + y * w, (size_t)w * sizeof *row);
    }
    qfz_components_ring(runs, ring);
    for (int64_t i = 0; i < n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        assert_int_equal(ring[i], want->label[y * w + x]);
    }
    free(row);
    free(ring);
}

/* Checks the first pixel of every step-th region. */
static void check_first(const qfz_runs *runs, const uint32_t *row_before, const answers *want,
                        int64_t h, uint32_t step)
{
    qfz_components_seek seek = {0};
    for (int64_t y = 0; y < h; y++)
        for (uint32_t r = row_before[y]; r < row_before[y + 1]; r++)
            if (r % step == step - 1)
                assert_int_equal(qfz_components_first(runs, &seek, y, r + 1), want->first[r]);
}

static void check_threads(const qfz_image *image, const qfz_rule *rule, const answers *want,
                          int n_threads)
{
    const int64_t h = image->h, w = image->w;
    void *const scratch = filled_room(1, qfz_components_bytes(h, w, n_threads));
    uint32_t *const row_before = filled_room((size_t)h + 1, sizeof *row_before);
    const qfz_runs *const runs = qfz_components_find(image, rule, n_threads, scratch, row_before);
    assert_int_equal(row_before[h], want->n);
    for (int64_t y = 0, n = 0; y < h; y++) {
        while (n < want->n && want->first[n] < y * w)
            n++;
        assert_int_equal(row_before[y], n);
    }
    check_labels(runs, want, (size_t)(h * w));
    check_rows_and_ring(runs, want, h, w);
    for (uint32_t step = 1; step <= 3; step++)
        check_first(runs, row_before, want, h, step);
    free(row_before);
    free(scratch);
}

static void check(const qfz_image *image, qfz_rule rule)
{
    for (rule.connectivity = 4; rule.connectivity <= 8; rule.connectivity += 4) {
        answers want = answer_create((size_t)(image->h * image->w));
        flood_all(image, &rule, &want);
        for (int n_threads = 1; n_threads <= 5; n_threads++)
            check_threads(image, &rule, &want, n_threads);
        answer_destroy(&want);
    }
}

/* ---- Random rasters -------------------------------------------------------------------------- */

static const int sides[] = {1, 2, 3, 5, 8, 17, 31, 62, 63, 64, 65, 66, 70, 127, 128, 129, 130};
enum { N_SIDES = sizeof sides / sizeof *sides };

/* Value 0..n_values-1 of pixel i, spread over the type's range so that signs and wraps matter. */
static void put_value(void *pixels, qfz_type type, size_t i, int value, int step)
{
    switch (type) {
    case QFZ_U8: ((uint8_t *)pixels)[i] = (uint8_t)(value * step); break;
    case QFZ_I8: ((int8_t *)pixels)[i] = (int8_t)(value * step - 100); break;
    case QFZ_U16: ((uint16_t *)pixels)[i] = (uint16_t)(value * step * 250); break;
    case QFZ_I16: ((int16_t *)pixels)[i] = (int16_t)(value * step * 250 - 32000); break;
    case QFZ_U32: ((uint32_t *)pixels)[i] = (uint32_t)value * (uint32_t)step * 16000000u; break;
    case QFZ_I32: ((int32_t *)pixels)[i] = (value * step - 120) * 16000000; break;
    case QFZ_F32: ((float *)pixels)[i] = (float)(value * step - 100) / 16.0f; break;
    }
}

/* The difference of two values whose numbers differ by one. */
static double value_step(qfz_type type, int step)
{
    switch (type) {
    case QFZ_U8:
    case QFZ_I8: return step;
    case QFZ_U16:
    case QFZ_I16: return step * 250.0;
    case QFZ_U32:
    case QFZ_I32: return step * 16000000.0;
    default: return step / 16.0;
    }
}

static void check_random(uint64_t *state, qfz_type type, int n_bands, qfz_distance distance)
{
    const int64_t h = sides[random_below(state, N_SIDES - 4)];
    const int64_t w = sides[random_below(state, N_SIDES)];
    const int n_values = 2 + random_below(state, 4), step = 1 + random_below(state, 60);
    const size_t n_px = (size_t)(h * w);
    void *const pixels = room(n_px * (size_t)n_bands, qfz_type_bytes(type));
    uint8_t *const valid = room(n_px, 1);
    const int few = 1 + random_below(state, 4); /* percentage of pixels that get another value */
    int value = 0;
    for (size_t i = 0; i < n_px * (size_t)n_bands; i++) {
        if (random_below(state, 4) < few) value = random_below(state, n_values);
        put_value(pixels, type, i, value, step);
    }
    const int holes = 1 + random_below(state, 9);
    for (size_t i = 0; i < n_px; i++)
        valid[i] = (uint8_t)(random_below(state, 10) >= holes ? 1 + random_below(state, 255) : 0);

    static const double alphas[] = {0, 0.5, 1, 1.5, 2, INFINITY};
    const double alpha = value_step(type, step) * alphas[random_below(state, 6)];
    const bool all_valid = random_below(state, 3) == 0;
    const qfz_image image = {.h = h,
                             .w = w,
                             .n_bands = n_bands,
                             .type = type,
                             .pixels = pixels,
                             .valid = all_valid ? NULL : valid};
    qfz_rule rule = {.distance = distance, .type = type, .n_bands = n_bands};
    rule.alpha_level = qfz_level_of_alpha(&rule, alpha);
    check(&image, rule);
    free(valid);
    free(pixels);
}

static void labels_rasters_of_every_type_and_distance(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    for (int round = 0; round < 6; round++)
        for (qfz_type type = QFZ_U8; type <= QFZ_F32; type++)
            for (qfz_distance distance = QFZ_L1; distance <= QFZ_LINF; distance++)
                for (int n_bands = 1; n_bands <= 4; n_bands++)
                    check_random(&seed, type, n_bands, distance);
}

static void labels_stored_edges(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    for (int round = 0; round < 60; round++) {
        const int64_t h = sides[random_below(&seed, N_SIDES)];
        const int64_t w = sides[random_below(&seed, N_SIDES)];
        uint8_t *const pixels = room((size_t)(h * w), 1), *const valid = room((size_t)(h * w), 1);
        const int holes = random_below(&seed, 10);
        for (int64_t i = 0; i < h * w; i++) {
            pixels[i] = (uint8_t)(random_next(&seed) & random_next(&seed));
            valid[i] = random_below(&seed, 10) >= holes;
        }
        const qfz_image image = {.h = h,
                                 .w = w,
                                 .n_bands = 1,
                                 .type = QFZ_U8,
                                 .pixels = pixels,
                                 .valid = holes ? valid : NULL};
        check(&image, (qfz_rule){.type = QFZ_U8, .n_bands = 1, .edge_bits = true});
        free(pixels);
        free(valid);
    }
}

/* Each pixel is a run and is joined to all three pixels below: where rows meet, all runs of both
 * become one component. */
static void joins_all_runs_of_two_rows(void **state)
{
    (void)state;
    uint8_t pixels[3 * 260];
    memset(pixels, 1 << QFZ_BELOW | 1 << QFZ_BELOW_RIGHT | 1 << QFZ_BELOW_LEFT, sizeof pixels);
    const qfz_image image = {
        .h = 3, .w = 260, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = NULL};
    check(&image, (qfz_rule){.type = QFZ_U8, .n_bands = 1, .edge_bits = true});
}

/* ---- Levels at the limits of numbers --------------------------------------------------------- */

static void sums_more_bands_than_16_bits_hold(void **state)
{
    (void)state;
    enum { SIDE = 66, BANDS = 300 }; /* two rows; differences of up to 300 * 255 */
    const size_t n_px = 2 * SIDE;
    uint8_t *const pixels = room(n_px * BANDS, 1);
    for (size_t i = 0; i < n_px * BANDS; i++)
        pixels[i] = i % n_px % 3 == 1 ? 255 : (uint8_t)(i % n_px / 7);
    const qfz_image image = {
        .h = 2, .w = SIDE, .n_bands = BANDS, .type = QFZ_U8, .pixels = pixels, .valid = NULL};
    check(&image,
          (qfz_rule){.distance = QFZ_L1, .type = QFZ_U8, .n_bands = BANDS, .alpha_level = 20000});
    free(pixels);
}

/* Squares of such differences are 0. */
static void joins_floats_whose_level_vanishes(void **state)
{
    (void)state;
    float pixels[3 * 65];
    for (int i = 0; i < 3 * 65; i++)
        pixels[i] = (float)(i % 5) * (i % 2 ? 1e-30f : 1.0f);
    const qfz_image image = {
        .h = 3, .w = 65, .n_bands = 1, .type = QFZ_F32, .pixels = pixels, .valid = NULL};
    for (qfz_distance distance = QFZ_L1; distance <= QFZ_LINF; distance++)
        check(&image, (qfz_rule){.distance = distance, .type = QFZ_F32, .n_bands = 1});
}

static void joins_infinite_floats(void **state)
{
    (void)state;
    float pixels[3 * 65];
    for (int i = 0; i < 3 * 65; i++)
        pixels[i] = i % 7 < 3 ? INFINITY : i % 7 == 3 ? -INFINITY : (float)(i % 3);
    const qfz_image image = {
        .h = 3, .w = 65, .n_bands = 1, .type = QFZ_F32, .pixels = pixels, .valid = NULL};
    static const uint32_t limits[] = {0, 0x3f800000u, 0x7f7fffffu, 0x7f800000u, UINT32_MAX};
    for (qfz_distance distance = QFZ_L1; distance <= QFZ_LINF; distance++)
        for (int i = 0; i < 5; i++)
            check(&image, (qfz_rule){.distance = distance,
                                     .type = QFZ_F32,
                                     .n_bands = 1,
                                     .alpha_level = limits[i]});
}

/* ---- Hostile shapes -------------------------------------------------------------------------- */

typedef int shape_fn(int y, int x, int h, int w);

static int constant(int y, int x, int h, int w)
{
    (void)y, (void)x, (void)h, (void)w;
    return 1;
}

static int checkerboard(int y, int x, int h, int w)
{
    (void)h, (void)w;
    return (x + y) % 2;
}

static int falling_stripes(int y, int x, int h, int w)
{
    (void)h, (void)w;
    return (x - y + 1024) / 2 % 2;
}

static int rising_stripes(int y, int x, int h, int w)
{
    (void)h, (void)w;
    return (x + y) % 3 == 0;
}

/* The teeth of a comb, joined by the last row only: all unions come in one row, late. */
static int comb(int y, int x, int h, int w)
{
    (void)w;
    return x % 2 == 0 || y == h - 1;
}

static int hanging_comb(int y, int x, int h, int w)
{
    (void)h, (void)w;
    return x % 2 == 0 || y == 0;
}

/* Nested V shapes: chains of unions in the order that makes trees deep. */
static int chevrons(int y, int x, int h, int w)
{
    (void)h;
    return ((x < w / 2 ? x : w - 1 - x) - y + 1024) % 2 && x % 4 != 3;
}

/* Nested squares, each open at its upper left corner. */
static int spiral(int y, int x, int h, int w)
{
    const int right = w - 1 - x, low = h - 1 - y;
    int ring = y < low ? y : low;
    if (x < ring) ring = x;
    if (right < ring) ring = right;
    return (ring % 2 == 0) != (x == ring && y == ring + 1 && ring < h / 2 && ring < w / 2);
}

static int all_different(int y, int x, int h, int w)
{
    (void)h, (void)w;
    return (y % 16) * 16 + x % 16;
}

static void check_shape(shape_fn *shape, int h, int w)
{
    uint8_t *const pixels = room((size_t)(h * w), 1);
    for (int i = 0; i < h * w; i++)
        pixels[i] = (uint8_t)shape(i / w, i % w, h, w);
    const qfz_rule equal = {.distance = QFZ_L1, .type = QFZ_U8, .n_bands = 1};
    const qfz_image classes = {
        .h = h, .w = w, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = NULL};
    const qfz_image masked = {
        .h = h, .w = w, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = pixels};
    check(&classes, equal);
    check(&masked, equal);
    free(pixels);
}

static void labels_hostile_shapes(void **state)
{
    (void)state;
    static shape_fn *const shapes[] = {constant,       checkerboard, falling_stripes,
                                       rising_stripes, comb,         hanging_comb,
                                       chevrons,       spiral,       all_different};
    static const int sizes[][2] = {{1, 1},   {1, 130},  {70, 1},   {2, 2},    {3, 63},  {5, 64},
                                   {17, 65}, {40, 127}, {64, 128}, {70, 129}, {66, 200}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_shape(shapes[s], sizes[i][0], sizes[i][1]);
}

static void gives_no_label_where_nothing_is_valid(void **state)
{
    (void)state;
    static const uint8_t pixels[9 * 67], valid[9 * 67];
    const qfz_image image = {
        .h = 9, .w = 67, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = valid};
    check(&image, (qfz_rule){.type = QFZ_U8, .n_bands = 1});
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_rasters_of_every_type_and_distance),
        cmocka_unit_test(labels_stored_edges),
        cmocka_unit_test(joins_all_runs_of_two_rows),
        cmocka_unit_test(sums_more_bands_than_16_bits_hold),
        cmocka_unit_test(joins_floats_whose_level_vanishes),
        cmocka_unit_test(joins_infinite_floats),
        cmocka_unit_test(labels_hostile_shapes),
        cmocka_unit_test(gives_no_label_where_nothing_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
