/* SPDX-License-Identifier: MIT */
/* four_pixels.cuh - four neighbours and levels of 16 bits: loads pixels, computes levels in
 * registers, and runs the first round, in which every pixel is a component and hooks itself by its
 * lightest edge. */
#pragma once

#include "gpu/forest/block_pairs.cuh"

typedef block_work<narrow_shape> narrow_work;
static const uint32_t EVEN = narrow_shape::EVEN;

/* Masks: which edges exist from a thread's pixels to their neighbours; which squares, beginning in
 * one of its rows or in the row above, are whole; and which pixels are valid. */
struct narrow_there {
    uint32_t right, down, up, left, square, square_above, pixel;
};

QFZ_DEVICE uint32_t difference2(uint32_t a, uint32_t b)
{
    return __vmaxu2(a, b) - __vminu2(a, b);
}

/* ---- Load ------------------------------------------------------------------------------------ */

/* Rows -1 .. OWN_ROWS of a thread's columns, and their valid pixels: bit row + 1 + 16 * column.
 * side: the same rows of the columns beside the block, in the first lanes (side_pixel());
 * side_valid: their valid pixels, in the first and the last lane. */
struct narrow_values {
    uint32_t v[SEEN_ROWS], side, valid, side_valid;
};

/* For blocks whose pixels, and those around them, are all inside the tile and aligned. */
template <typename T>
QFZ_DEVICE void load_full(const narrow_work &w, const band_image<T> &image, narrow_values &in)
{
    const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const T *row = image.pixels + (int64_t)y0 * w.forest.w + x0;
    const int2 side = side_pixel(w);
    in.valid = in.side_valid = in.side = 0;
#pragma unroll
    for (int i = 0; i < SEEN_ROWS; i++, row += w.forest.w)
        in.v[i] = two_pixels(row);
    if (w.lane < 2 * SEEN_ROWS)
        in.side = __ldg(image.pixels + (int64_t)side.y * w.forest.w + side.x);
}

template <typename T>
QFZ_DEVICE void load_some(const narrow_work &w, const band_image<T> &image, narrow_values &in)
{
    const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const int2 side = side_pixel(w);
    uint32_t beside = 0;
    in.valid = in.side = 0;
    QFZ_EACH (i, SEEN_ROWS)
        in.v[i] = load_pixel(w, image, y0 + i, x0, &in.valid, i) |
                  load_pixel(w, image, y0 + i, x0 + 1, &in.valid, i + 16) << 16;
    if (w.lane < 2 * SEEN_ROWS) in.side = load_pixel(w, image, side.y, side.x, &beside, 0);
    in.side_valid = side_bits(w, beside);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* right[i]: levels to the right in row i - 1; down[i]: between rows i - 1 and i; left[i]: to the
 * left in row i, from the lane before; next_down: down[] of the lane after. */
struct narrow_levels {
    uint32_t right[SEEN_ROWS], down[OWN_ROWS + 1], left[OWN_ROWS], next_down[OWN_ROWS + 1];
};

QFZ_DEVICE void find_levels(const narrow_work &w, const narrow_values &in, narrow_levels &l)
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
    uint32_t next_above = 0;
    QFZ_EACH (i, SEEN_ROWS) {
        const uint32_t side = side_of(w, in.side, i);
        uint32_t next = of_next_lane(in.v[i]);
        if (last) next = side;
        l.right[i] = difference2(in.v[i], shifted(in.v[i], next));
        if (i > 0 && i <= OWN_ROWS) {
            const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, l.right[i], 1);
            l.left[i - 1] = first ? difference2(in.v[i] & 0xffff, side) << 16 : left;
        }
        if (i > 0) {
            l.down[i - 1] = difference2(in.v[i - 1], in.v[i]);
            l.next_down[i - 1] = difference2(next_above, next);
        }
        next_above = next;
    }
}

/* Moves bits row + 1 + 16 * column to bits 2 * row + 16 * column, rows 0 .. 7. */
QFZ_DEVICE uint32_t spread(uint32_t bits)
{
    uint32_t x = bits >> 1 & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & EVEN;
}

QFZ_DEVICE narrow_there all_there(void)
{
    return {EVEN, EVEN, EVEN, EVEN, EVEN, EVEN, EVEN};
}

QFZ_DEVICE narrow_there find_there(const narrow_work &w, const narrow_values &in)
{
    const uint32_t own = in.valid;
    uint32_t next = of_next_lane(own), before = __shfl_up_sync(QFZ_ALL_LANES, own, 1);
    if (w.lane == QFZ_WARP - 1) next = in.side_valid;
    if (w.lane == 0) before = in.side_valid << 16;
    const uint32_t to_right = own & (own >> 16 | next << 16);
    const uint32_t to_left = own & (own << 16 | before >> 16);
    const uint32_t to_down = own & (own >> 1 & 0x01ff01ffu);
    const uint32_t square = to_right & (to_right >> 1 & 0x01ff01ffu);
    narrow_there there;
    there.right = spread(to_right);
    there.left = spread(to_left);
    there.down = spread(to_down);
    there.up = spread(own & own << 1);
    there.square = spread(square);
    there.square_above = spread(square << 1);
    there.pixel = spread(own);
    return there;
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* Keys of a pixel's edges: level << 16 | way. */
static const uint32_t KEY_OF_NONE = 0xffff0000u | NO_WAY;

/* The least key of the edges of the pixel in row j, column C; code: ways up, left, right, down. */
template <bool FULL, int C>
QFZ_DEVICE uint32_t least_key(const narrow_levels &l, const narrow_there &there, int j,
                              const uint32_t code[4])
{
    const uint32_t bit = 1u << (2 * j + 16 * C);
    uint32_t up = key_of<C>(l.down[j], code[0]);
    uint32_t left = C ? key_of<0>(l.right[j + 1], code[1]) : key_of<1>(l.left[j], code[1]);
    uint32_t right = key_of<C>(l.right[j + 1], code[2]);
    uint32_t down = key_of<C>(l.down[j + 1], code[3]);
    if (!FULL) {
        up = there.up & bit ? up : KEY_OF_NONE;
        left = there.left & bit ? left : KEY_OF_NONE;
        right = there.right & bit ? right : KEY_OF_NONE;
        down = there.down & bit ? down : KEY_OF_NONE;
    }
    return min(min(up, left), min(right, down));
}

/* Chooses a way for each pixel of a thread; top: the levels of the chosen edges, 0 for a pixel that
 * waits. */
template <bool FULL>
QFZ_DEVICE void choose(const narrow_work &w, const narrow_levels &l, const narrow_there &there,
                       chosen_ways<narrow_work> &p, pair16 top[OWN_ROWS])
{
    const uint32_t zero = threadIdx.y; /* 0, opaque to nvcc: codes stay in registers */
    const uint32_t to_left = TO_LEFT + zero, to_right = TO_RIGHT + zero, to_down = TO_DOWN + zero;
    const uint32_t left = w.lane == 0 ? OUT : to_left;
    const uint32_t right = w.lane == QFZ_WARP - 1 ? OUT : to_right;
    const uint32_t self = own_pixels(w);
    p.waits = p.none = p.right = p.left = 0;
    QFZ_EACH (j, OWN_ROWS) {
        const uint32_t up = j == 0 && w.warp == 0 ? OUT : TO_UP;
        const uint32_t down = j == OWN_ROWS - 1 && w.warp == narrow_work::WARPS - 1 ? OUT : to_down;
        const uint32_t code0[4] = {up, left, to_right, down}, code1[4] = {up, to_left, right, down};
        const uint32_t least0 = least_key<FULL, 0>(l, there, j, code0);
        const uint32_t least1 = least_key<FULL, 1>(l, there, j, code1);
        const uint32_t ways = low_halves(least0, least1);
        record_ways<FULL>(p, j, self, ways);
        top[j] = {high_halves(least0, least1) & ~((ways >> 14 & ONES) * 0xffffu)};
    }
    if (!FULL && w.forest.keeps_ring) clear_tops(w, top, keep_ring(w, there.pixel, self, p));
    end_choice(p);
}
