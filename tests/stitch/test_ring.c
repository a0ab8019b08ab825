/* SPDX-License-Identifier: MIT */
/* test_ring.c - numbers of ring pixels: one for each, no gap, and back. */
#include "box.h"
#include "check.h"

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
        }
    boxes_are_half_open();
    return check_end();
}
