/* SPDX-License-Identifier: MIT */
/* test_tiling.c - tiles cover the raster once, stay below the limit of pixels, and follow blocks.
 */
#include "scene.h"

static qfz_source_info info_of(int64_t w, int64_t h, int64_t block_w, int64_t block_h)
{
    const qfz_source_info info = {.w = w, .h = h, .block_w = block_w, .block_h = block_h};
    return info;
}

static void covers_every_pixel_once_within_the_limit(void **state)
{
    (void)state;
    static const int64_t sides[] = {1, 2, 7, 255, 512, 1000, 4097, 100000, INT32_MAX};
    static const int64_t limits[] = {1, 10, 1000, 1 << 18, 1 << 24, (int64_t)1 << 30};
    for (int i = 0; i < 9 * 9 * 6 * 4; i++) {
        const int64_t w = sides[i % 9], h = sides[i / 9 % 9], limit = limits[i / 81 % 6];
        const int64_t blocks[4][2] = {{w, 1}, {512, 512}, {w, h}, {192, 100}};
        const qfz_source_info info = info_of(w, h, blocks[i / 486][0], blocks[i / 486][1]);
        qfz_tiling t;
        OK(qfz_tiling_choose(&t, &info, 0, limit, &err));
        assert_true(t.tile_w >= 1 && t.tile_h >= 1 && t.tile_w <= limit / t.tile_h);
        assert_true((t.n_x - 1) * t.tile_w < w && t.n_x * t.tile_w >= w);
        assert_true((t.n_y - 1) * t.tile_h < h && t.n_y * t.tile_h >= h);
        const qfz_box first = qfz_tiling_box(&t, 0, 0);
        assert_true(first.x0 == 0 && first.x1 == t.tile_w && first.y0 == 0 && first.y1 == t.tile_h);
        const qfz_box last = qfz_tiling_box(&t, t.n_y - 1, t.n_x - 1);
        assert_true(last.x1 == w && last.y1 == h && last.x0 < w && last.y0 < h);
    }
}

static void follows_blocks_and_strips(void **state)
{
    (void)state;
    qfz_tiling t;
    qfz_source_info info = info_of(100000, 100000, 256, 256);
    OK(qfz_tiling_choose(&t, &info, 0, 3000 * 3000, &err));
    assert_int_equal(t.tile_w, 2560);
    assert_int_equal(t.tile_h % 512, 0);
    info = info_of(10000, 100000, 10000, 8);
    OK(qfz_tiling_choose(&t, &info, 0, 16 << 20, &err));
    assert_int_equal(t.tile_w, 10000);
    assert_int_equal(t.tile_h, 1536);
    info = info_of(300, 200, 300, 8);
    OK(qfz_tiling_choose(&t, &info, 0, 16 << 20, &err));
    assert_int_equal(t.n_x * t.n_y, 1);
}

static void takes_the_side_asked_for(void **state)
{
    (void)state;
    qfz_tiling t;
    qfz_source_info info = info_of(INT32_MAX, INT32_MAX, 1, 1);
    OK(qfz_tiling_choose(&t, &info, 1, 0, &err));
    assert_true(t.n_x == INT32_MAX && t.n_y == INT32_MAX);
    info = info_of(10, 7, 10, 1);
    OK(qfz_tiling_choose(&t, &info, 4, 0, &err));
    const qfz_box box = qfz_tiling_box(&t, 1, 2);
    assert_true(box.y0 == 4 && box.y1 == 7 && box.x0 == 8 && box.x1 == 10);
    OK(qfz_tiling_choose(&t, &info, 99, 0, &err));
    assert_true(t.n_x == 1 && t.n_y == 1 && t.tile_w == 10 && t.tile_h == 7);
    FAILS(qfz_tiling_choose(&t, &info, -1, 0, &err), QFZ_EARG, "-1");
    FAILS(qfz_tiling_choose(&t, &info, 0, 0, &err), QFZ_EARG, "0 pixels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covers_every_pixel_once_within_the_limit),
        cmocka_unit_test(follows_blocks_and_strips),
        cmocka_unit_test(takes_the_side_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
