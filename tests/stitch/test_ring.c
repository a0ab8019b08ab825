/* SPDX-License-Identifier: MIT */
/* test_ring.c - ring indices: one for each ring pixel, without a gap, and back to the pixel. */
#include "core/box.h"
#include "check.h"
#include "core/ring.h"

#include <string.h>

enum { SIDE = 9 };

static void numbers_are_a_bijection(int64_t h, int64_t w)
{
    bool seen[SIDE * SIDE] = {false};
    const int64_t n = qfz_ring_size(h, w);
    int64_t on = 0;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            int64_t back_y = -1, back_x = -1;
            const bool edge = y == 0 || x == 0 || y == h - 1 || x == w - 1;
            CHECK(qfz_on_ring(h, w, y, x) == edge, "(%d, %d) on the ring?", (int)y, (int)x);
            if (!edge) continue;
            on++;
            const int64_t i = qfz_ring_index(h, w, y, x);
            if (!CHECK(i >= 0 && i < n, "(%d, %d) has number %d of %d", (int)y, (int)x, (int)i,
                       (int)n))
                continue;
            CHECK(!seen[i], "number %d twice", (int)i);
            seen[i] = true;
            qfz_ring_place(h, w, i, &back_y, &back_x);
            CHECK(back_y == y && back_x == x, "number %d of (%d, %d) is at (%d, %d)", (int)i,
                  (int)y, (int)x, (int)back_y, (int)back_x);
        }
    CHECK(on == n, "%d pixels on the ring, not %d", (int)on, (int)n);
}

/* True if a pixel lies on one of the sides. */
static bool on_sides(int64_t h, int64_t w, int sides, int64_t y, int64_t x)
{
    return ((sides & QFZ_AT_TOP) && y == 0) || ((sides & QFZ_AT_BOTTOM) && y == h - 1) ||
           ((sides & QFZ_AT_LEFT) && x == 0) || ((sides & QFZ_AT_RIGHT) && x == w - 1);
}

static void some_sides_have_no_gap(int64_t h, int64_t w, int sides)
{
    const qfz_box box = {.y0 = 7, .x0 = 11, .y1 = 7 + h, .x1 = 11 + w};
    const qfz_ring ring = qfz_ring_of(box, sides);
    bool seen[SIDE * SIDE] = {false};
    int64_t on = 0;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            if (!on_sides(h, w, sides, y, x)) continue;
            const int64_t i = qfz_ring_at(&ring, box.y0 + y, box.x0 + x);
            on++;
            if (!CHECK(i >= 0 && i < ring.n, "sides %d: (%d, %d) has number %d of %d", sides,
                       (int)y, (int)x, (int)i, (int)ring.n))
                continue;
            CHECK(!seen[i], "sides %d: number %d twice", sides, (int)i);
            seen[i] = true;
            CHECK(sides != QFZ_ALL_SIDES || i == qfz_ring_index(h, w, y, x),
                  "all sides: (%d, %d) has number %d", (int)y, (int)x, (int)i);
        }
    CHECK(on == ring.n, "sides %d: %d pixels, not %d", sides, (int)on, (int)ring.n);
}

static void boxes_are_half_open(void)
{
    const qfz_box b = {.y0 = 2, .x0 = 3, .y1 = 5, .x1 = 10};
    CHECK(qfz_box_h(b) == 3 && qfz_box_w(b) == 7, "sides");
    CHECK(qfz_box_has(b, 2, 3) && qfz_box_has(b, 4, 9), "corners inside");
    CHECK(!qfz_box_has(b, 5, 3) && !qfz_box_has(b, 2, 10) && !qfz_box_has(b, 1, 5), "outside");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    for (int64_t h = 1; h <= SIDE; h++)
        for (int64_t w = 1; w <= SIDE; w++) {
            check_case(h * 10 + w, "a box of %d x %d", (int)h, (int)w);
            numbers_are_a_bijection(h, w);
            for (int sides = 0; sides <= QFZ_ALL_SIDES; sides++)
                some_sides_have_no_gap(h, w, sides);
        }
    boxes_are_half_open();
    return check_end();
}
