/* SPDX-License-Identifier: MIT */
/* test_coloring.c - colours against greedy colouring of the whole raster, with tiles of any size
 * and the least memory, where every record and page goes through a temporary file. */
#include "small.h"

#include <string.h>

#include "regions/regions.h"

enum { H = 37, W = 53, N = H * W, LABELS = 60, THREADS = 2 };

static int rank_of(const uint64_t *sorted, int n, uint64_t label)
{
    for (int i = 0; i < n; i++)
        if (sorted[i] == label) return i;
    return -1;
}

/* The labels of a raster in ascending order; returns their number. */
static int sort_labels(const uint64_t *labels, uint64_t sorted[LABELS])
{
    int n = 0;
    for (int p = 0; p < N; p++) {
        int at = n;
        if (labels[p] == 0 || rank_of(sorted, n, labels[p]) >= 0) continue;
        for (; at > 0 && sorted[at - 1] > labels[p]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = labels[p];
        n++;
    }
    return n;
}

static void color_by_hand(const uint64_t *labels, uint8_t *colors)
{
    static bool touch[LABELS][LABELS];
    uint64_t sorted[LABELS];
    uint8_t of[LABELS];
    const int n = sort_labels(labels, sorted);
    memset(touch, 0, sizeof touch);
    for (int p = 0; p < N; p++)
        for (int q = 0; q < N; q++) {
            const int dy = p / W - q / W, dx = p % W - q % W;
            if (labels[p] == 0 || labels[q] == 0 || dy * dy > 1 || dx * dx > 1) continue;
            touch[rank_of(sorted, n, labels[p])][rank_of(sorted, n, labels[q])] = true;
        }
    for (int i = 0; i < n; i++) {
        bool taken[LABELS + 2] = {false};
        for (int j = 0; j < i; j++)
            if (touch[i][j]) taken[of[j]] = true;
        for (of[i] = 1; taken[of[i]];)
            of[i]++;
    }
    for (int p = 0; p < N; p++)
        colors[p] = labels[p] ? of[rank_of(sorted, n, labels[p])] : 0;
}

/* Calls fn for the tiles of side x side pixels; each has a copy of its labels. */
static void each_tile(const uint64_t *labels, int side, bool margin,
                      void (*fn)(void *arg, int i, const qfz_label_tile *tile), void *arg)
{
    static uint64_t copy[N];
    int i = 0;
    for (int y = 0; y < H; y += side)
        for (int x = 0; x < W; x += side, i++) {
            const int y1 = y + side < H ? y + side : H, x1 = x + side < W ? x + side : W;
            const int h = (margin && y1 < H ? y1 + 1 : y1) - y;
            const int w = (margin && x1 < W ? x1 + 1 : x1) - x;
            for (int row = 0; row < h; row++)
                memcpy(copy + row * w, labels + (y + row) * W + x, (size_t)w * sizeof *copy);
            const qfz_label_tile tile = {
                .box = {.y0 = y, .x0 = x, .y1 = y1, .x1 = x1}, .h = h, .w = w, .labels = copy};
            fn(arg, i, &tile);
        }
}

static void add(void *arg, int i, const qfz_label_tile *tile)
{
    qfz_error err = {0};
    assert_int_equal(qfz_coloring_add(arg, i % THREADS, tile, &err), QFZ_OK);
}

typedef struct painting {
    qfz_coloring *coloring;
    uint8_t colors[N];
} painting;

static void paint(void *arg, int i, const qfz_label_tile *tile)
{
    painting *const p = arg;
    uint8_t part[N];
    qfz_error err = {0};
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    assert_int_equal(qfz_coloring_paint(p->coloring, i % THREADS, tile, part, &err), QFZ_OK);
    for (int64_t y = 0; y < h; y++)
        memcpy(p->colors + (tile->box.y0 + y) * W + tile->box.x0, part + y * w, (size_t)w);
}

static void compare(uint64_t seed, uint64_t spread, int side, int64_t bytes)
{
    static uint64_t labels[N];
    static uint8_t expected[N];
    static painting p;
    uint64_t state = seed;
    qfz_error err = {0};
    for (int i = 0; i < N; i++)
        labels[i] =
            i % W % 4 && i % 3 ? labels[i - 1] : spread * (uint64_t)random_below(&state, LABELS);
    color_by_hand(labels, expected);
    assert_int_equal(qfz_coloring_open(&p.coloring, N, THREADS, bytes, "/tmp", "the labels", &err),
                     QFZ_OK);
    each_tile(labels, side, true, add, p.coloring);
    assert_int_equal(qfz_coloring_solve(p.coloring, &err), QFZ_OK);
    each_tile(labels, side + 3, false, paint, &p);
    assert_memory_equal(p.colors, expected, N);
    int most = 0;
    for (int i = 0; i < N; i++)
        if (expected[i] > most) most = expected[i];
    assert_int_equal(qfz_coloring_n(p.coloring), most);
    qfz_coloring_close(p.coloring);
}

static void tiles_and_memory_change_nothing(void **state)
{
    (void)state;
    compare(1, 1, 8, 1 << 20);
    compare(2, 200, 5, 1); /* labels up to 8 N: three pages, of which one is in memory */
    compare(3, 250, 60, 1);
    compare(4, UINT64_C(1) << 56, 11, 1 << 20);
    compare(5, UINT64_MAX / LABELS, 7, 1 << 14);
}

static void a_list_that_does_not_fit_is_named(void **state)
{
    (void)state;
    static uint64_t labels[N];
    qfz_coloring *coloring = NULL;
    qfz_error err = {0};
    for (int i = 0; i < N; i++)
        labels[i] = (uint64_t)i << 40;
    assert_int_equal(qfz_coloring_open(&coloring, N, THREADS, 1 << 10, "/tmp", "the labels", &err),
                     QFZ_OK);
    each_tile(labels, 10, true, add, coloring);
    assert_int_equal(qfz_coloring_solve(coloring, &err), QFZ_ENOMEM);
    assert_non_null(strstr(err.message, "the labels"));
    qfz_coloring_close(coloring);
}

static void colors_of_the_palette_differ(void **state)
{
    (void)state;
    uint8_t palette[QFZ_COLORS + 1][4];
    qfz_coloring_palette(palette);
    for (int i = 1; i <= QFZ_COLORS; i++) {
        assert_int_equal(palette[i][3], 255);
        for (int j = 1; j < i; j++)
            assert_memory_not_equal(palette[i], palette[j], 3);
    }
    assert_int_equal(palette[0][3], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_and_memory_change_nothing),
        cmocka_unit_test(a_list_that_does_not_fit_is_named),
        cmocka_unit_test(colors_of_the_palette_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
