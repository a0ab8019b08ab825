/* SPDX-License-Identifier: MIT */
/* eight_pixels.cuh - eight neighbours and levels of 16 bits: loads pixels, computes levels in
 * registers, and runs the first round, in which every pixel is a component and hooks itself by its
 * lightest edge.
 *
 * A thread owns the edges of the squares of 2 x 2 pixels that begin at its pixels. In a square with
 * a b in its first row and c d in its second, these are a - b (right), a - c (down), a - d
 * (diagonal) and b - c (anti). Masks of edges have bit row + 4 * direction + 16 * column, masks of
 * pixels bit 2 * row + 16 * column. Seen row i is row i - 1 of the thread; its masks have bit i +
 * 16 * column. */
#pragma once

#include "gpu/forest/block_pairs.cuh"

typedef block_work<eight_shape> eight_work;

/* The bits of directions in masks of edges. */
enum { AT_RIGHT = 0, AT_DOWN = EIGHT_ROWS, AT_DIAGONAL = 2 * EIGHT_ROWS, AT_ANTI = 3 * EIGHT_ROWS };
static const uint32_t FOUR_ROWS = 0xfu * ONES;

/* ---- Load ------------------------------------------------------------------------------------ */

/* Per seen row: the thread's two pixels (v) and those one place to the right (r). out: lanes 0 .. 3
 * hold the key of the lightest edge that leaves the block to the left from the first column's pixel
 * of row `lane`, lanes 4 .. 7 the same to the right from the last column. Bits 0 and 1 of the key:
 * which of the three edges it is, in the order of their start pixels, and of directions at one
 * start. left_valid: bit i, in lane 0: the pixel left of the first column is valid. */
struct eight_values {
    uint32_t v[EIGHT_SEEN], r[EIGHT_SEEN], valid, r_valid, out, left_valid;
};
enum { OUT_LANES = 2 * EIGHT_ROWS };

/* Masks of the edges that exist: right .. anti by seen row; edges: those inside the tile in the
 * thread's rows; to_left: the anti edges, at their pixel b. pixel, r_pixel: valid pixels. */
struct eight_there {
    uint32_t right, down, diagonal, anti, edges, to_left, pixel, r_pixel;
};

/* A way is the code of a neighbour: 256 + twice the difference of pixel numbers; bit 8 is set if
 * the neighbour has a greater number. See block_settle.cuh; among edges of one level of a pixel
 * the order is right, down left, down, down right. */
enum { WAY_WAITS = 0x8000, WAY_NONE = 0x4000 };
static const uint32_t WAY_SELF = 256, WAY_LATER = 256, WAY_OUT = WAY_WAITS | WAY_SELF;
static const uint32_t EIGHT_NONE = 0xffff0000u | WAY_NONE | WAY_OUT;

QFZ_DEVICE uint32_t way_to(int dy, int dx)
{
    return WAY_SELF + (uint32_t)(2 * (dy * QFZ_SIDE + dx));
}

/* A lane's pixel of the first or last column, in the tile; the step in x out of the block. */
struct out_place {
    int32_t y, x, step;
};

QFZ_DEVICE out_place out_of(const eight_work &w)
{
    const bool left = w.lane < EIGHT_ROWS;
    return {w.box.y + w.warp * EIGHT_ROWS + w.lane % EIGHT_ROWS,
            left ? w.box.x : w.box.x + QFZ_SIDE - 1, left ? -1 : 1};
}

template <typename T> QFZ_DEVICE uint32_t key_out(const eight_work &w, const band_image<T> &image)
{
    const out_place p = out_of(w);
    uint32_t key = EIGHT_NONE, valid = 0;
    const uint32_t own = load_pixel(w, image, p.y, p.x, &valid, 3);
    QFZ_EACH (k, 3) {
        const uint32_t other = load_pixel(w, image, p.y + k - 1, p.x + p.step, &valid, k);
        const uint32_t level = max(own, other) - min(own, other);
        if (valid >> k & valid >> 3 & 1) key = min(key, level << 16 | WAY_OUT | (uint32_t)k);
    }
    return key;
}

template <typename T>
QFZ_DEVICE void load_full(const eight_work &w, const band_image<T> &image, eight_values &in)
{
    const int32_t y0 = w.box.y + w.warp * EIGHT_ROWS, x0 = w.box.x + 2 * w.lane;
    const T *row = image.pixels + (int64_t)(y0 - 1) * w.forest.w + x0;
    in.valid = in.r_valid = in.out = in.left_valid = 0;
#pragma unroll
    for (int i = 0; i < EIGHT_SEEN; i++, row += w.forest.w) {
        in.v[i] = two_pixels(row);
        in.r[i] = shifted(in.v[i], two_pixels(row + 2));
    }
    if (w.lane >= OUT_LANES) return;
    const out_place place = out_of(w);
    const T *const p = image.pixels + (int64_t)place.y * w.forest.w + place.x;
    const T *const beside = p + place.step;
    const int own = __ldg(p);
    const uint32_t up = (uint32_t)abs(own - (int)__ldg(beside - w.forest.w));
    const uint32_t straight = (uint32_t)abs(own - (int)__ldg(beside));
    const uint32_t down = (uint32_t)abs(own - (int)__ldg(beside + w.forest.w));
    in.out = min(min(up << 16, straight << 16 | 1), down << 16 | 2) | WAY_OUT;
}

template <typename T>
QFZ_DEVICE void load_some(const eight_work &w, const band_image<T> &image, eight_values &in)
{
    const bool last = w.lane == QFZ_WARP - 1, beside = last || w.lane == 0;
    const int32_t y0 = w.box.y + w.warp * EIGHT_ROWS, x0 = w.box.x + 2 * w.lane;
    uint32_t side_valid = 0;
    in.valid = 0;
    QFZ_EACH (i, EIGHT_SEEN) {
        const int32_t y = y0 - 1 + i;
        uint32_t side = 0;
        in.v[i] = load_pixel(w, image, y, x0, &in.valid, i) |
                  load_pixel(w, image, y, x0 + 1, &in.valid, i + 16) << 16;
        if (beside) side = load_pixel(w, image, y, last ? x0 + 2 : x0 - 1, &side_valid, i);
        const uint32_t next = of_next_lane(in.v[i]);
        in.r[i] = shifted(in.v[i], last ? side : next);
    }
    const uint32_t next_valid = of_next_lane(in.valid);
    in.r_valid = shifted(in.valid, last ? side_valid : next_valid);
    in.left_valid = side_valid;
    in.out = w.lane < OUT_LANES ? key_out(w, image) : EIGHT_NONE;
}

/* The mask of edges between two pixels of the masks own and right; these have the thread's rows and
 * the row below, `right` is one place to the right. */
QFZ_DEVICE uint32_t edges_of(uint32_t own, uint32_t right)
{
    return (own & right & FOUR_ROWS) << AT_RIGHT | (own & own >> 1 & FOUR_ROWS) << AT_DOWN |
           (own & right >> 1 & FOUR_ROWS) << AT_DIAGONAL |
           (right & own >> 1 & FOUR_ROWS) << AT_ANTI;
}

QFZ_DEVICE eight_there find_there(const eight_work &w, const eight_values &in)
{
    const uint32_t v = in.valid, r = in.r_valid;
    eight_there there = {v & r, v & v >> 1, v & r >> 1, r & v >> 1, 0, 0, v, r};
    const uint32_t anti = there.anti >> 1 & FOUR_ROWS;
    there.edges = edges_of(v >> 1, r >> 1);
    const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, anti, 1);
    there.to_left = anti << 16 | (w.lane == 0 ? v >> 1 & in.left_valid >> 2 & 0xfu : before >> 16);
    return there;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Levels of the squares that begin in seen row i; right[j] is of row j of the thread. */
struct eight_levels {
    uint32_t right[EIGHT_ROWS], down[EIGHT_ROWS + 1], diagonal[EIGHT_ROWS + 1],
        anti[EIGHT_ROWS + 1];
};

/* The levels of two edges whose pixels are the halves of two words. Sets a bit in *over for each
 * edge whose first pixel is the greater. */
QFZ_DEVICE uint32_t level_of(uint32_t first, uint32_t second, int row, uint32_t *over)
{
    const uint32_t most = __vmaxu2(first, second);
    if (row >= 0) *over += ones_of(most ^ second) << row;
    return most - __vminu2(first, second);
}

/* Edges of a thread's squares that are dropped, by square: bit row + 16 * column. */
struct eight_drops {
    uint32_t top, left, diagonal, anti, side, bottom;
};

/* The edges that squares of one band drop. Order the tile's pixels on a line by value, equal values
 * by pixel number. An edge's length is the distance of its pixels on that line, where equal values
 * count as infinitesimally apart. An edge is dropped if another pixel of its square lies between
 * its two pixels, since two shorter edges then connect them. A whole square thus retains three
 * edges, and three pixels of a square retain two.
 *
 * Each mask has a bit where an edge's first pixel is the greater; the masks of edges to the right
 * include the row after the thread's last. */
template <bool FULL>
QFZ_DEVICE eight_drops find_drops(const eight_there &there, uint32_t right, uint32_t down,
                                  uint32_t diagonal, uint32_t anti, uint32_t side)
{
    uint32_t a = FOUR_ROWS, b = a, c = a, d = a;
    if (!FULL) {
        a = there.pixel >> 1;
        b = there.r_pixel >> 1;
        c = there.pixel >> 2;
        d = there.r_pixel >> 2;
    }
    const uint32_t bottom = right >> 1;
    return {((down ^ anti) & c) | ((diagonal ^ side) & d),
            (~(right ^ anti) & b) | ((diagonal ^ bottom) & d),
            (~(right ^ side) & b) | (~(down ^ bottom) & c),
            ((right ^ down) & a) | ((side ^ bottom) & d),
            ((right ^ diagonal) & a) | (~(anti ^ bottom) & c),
            ((down ^ diagonal) & a) | ((anti ^ side) & b)};
}

/* The mask of a thread's edges that its own and its left neighbour's squares drop. at_seam[]
 * receives what the warp's last squares drop of the next warp's first row. */
template <typename WORK> QFZ_DEVICE uint32_t dropped(WORK &w, const eight_drops &drops)
{
    const uint32_t side = drops.side & FOUR_ROWS, before = __shfl_up_sync(QFZ_ALL_LANES, side, 1);
    const uint32_t of_left = side << 16 | (w.lane == 0 ? 0 : before >> 16);
    const uint32_t bottom = drops.bottom & FOUR_ROWS, last = 1u << (EIGHT_ROWS - 1);
    const unsigned of_first = __ballot_sync(QFZ_ALL_LANES, bottom & last);
    const unsigned of_second = __ballot_sync(QFZ_ALL_LANES, bottom & last << 16);
    if (w.lane == 0) w.m.at_seam[w.warp] = make_uint2(of_first, of_second);
    return ((drops.top | bottom << 1) & FOUR_ROWS) << AT_RIGHT |
           ((drops.left | of_left) & FOUR_ROWS) << AT_DOWN |
           (drops.diagonal & FOUR_ROWS) << AT_DIAGONAL | (drops.anti & FOUR_ROWS) << AT_ANTI;
}

/* Computes levels; returns the edges that exist and are needed, as far as the thread decides. */
template <bool FULL>
QFZ_DEVICE uint32_t find_levels(eight_work &w, const eight_values &in, const eight_there &there,
                                eight_levels &l)
{
    uint32_t right = 0, down = 0, diagonal = 0, anti = 0, side = 0;
#pragma unroll
    for (int i = 0; i <= EIGHT_ROWS; i++) {
        const int row = i - 1; /* row -1 needs no bits */
        const uint32_t v = in.v[i], r = in.r[i], v_next = in.v[i + 1], r_next = in.r[i + 1];
        const uint32_t level = level_of(v_next, r_next, i, &right);
        if (i < EIGHT_ROWS) l.right[i] = level;
        l.down[i] = level_of(v, v_next, row, &down);
        l.diagonal[i] = level_of(v, r_next, row, &diagonal);
        l.anti[i] = level_of(r, v_next, row, &anti);
        (void)level_of(r, r_next, row, &side);
    }
    const uint32_t drops = dropped(w, find_drops<FULL>(there, right, down, diagonal, anti, side));
    return (FULL ? 0xffffffffu : there.edges) & ~drops;
}

/* The edges to the right in the warp's first row that the warp above drops. */
template <typename WORK> QFZ_DEVICE uint32_t drops_above(const WORK &w)
{
    if (w.warp == 0) return 0;
    const uint2 above = w.m.at_seam[w.warp - 1];
    return (above.x >> w.lane & 1) << AT_RIGHT | (above.y >> w.lane & 1) << (16 + AT_RIGHT);
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* A thread's pixels after their choice: twice the number of the pixel to which each hooks itself;
 * masks of those that chose a pixel with a greater number or none, that wait, and that have no
 * edge. */
struct eight_chosen {
    uint32_t to[EIGHT_ROWS], later, waits, none;
};

/* The key of an edge, half C of a word of levels, if it exists (bit `bit` of `exists`), else
 * EIGHT_NONE. */
template <bool FULL, int C>
QFZ_DEVICE uint32_t key_if(uint32_t levels, uint32_t way, uint32_t exists, int bit)
{
    const uint32_t key = key_of<C>(levels, way);
    return FULL || (exists >> (bit + 16 * C) & 1) ? key : EIGHT_NONE;
}

/* The key in the form of leave[]. */
QFZ_DEVICE uint32_t key_to_leave(const eight_work &w, uint32_t key)
{
    return key & WAY_NONE ? w.NO_KEY : (key & 0xffff0003u) | LEAVES;
}

/* The codes of the ways from the pixels of a row. */
struct eight_ways {
    uint32_t up_left, up, up_right, left, right, down_left, down, down_right;
};

template <typename WORK> QFZ_DEVICE eight_ways ways_of(const WORK &w, int j)
{
    const uint32_t zero = threadIdx.y; /* 0, opaque to nvcc: codes stay in registers */
    const bool top = j == 0 && w.warp == 0;
    const bool bottom = j == EIGHT_ROWS - 1 && w.warp == WORK::WARPS - 1;
    eight_ways to;
    to.left = way_to(0, -1) + zero;
    to.right = way_to(0, 1) + zero;
    to.up_left = top ? WAY_OUT : way_to(-1, -1) + zero;
    to.up = top ? WAY_OUT : way_to(-1, 0) + zero;
    to.up_right = top ? WAY_OUT : way_to(-1, 1) + zero;
    to.down_left = bottom ? WAY_OUT : way_to(1, -1) + zero;
    to.down = bottom ? WAY_OUT : way_to(1, 0) + zero;
    to.down_right = bottom ? WAY_OUT : way_to(1, 1) + zero;
    return to;
}

/* The least key of the edges of row j from column C + 1 to column C, as ways to the left. */
template <bool FULL, int C>
QFZ_DEVICE uint32_t least_to_left(const eight_levels &l, const eight_there &there, int j,
                                  const eight_ways &to)
{
    const uint32_t up = key_if<FULL, C>(l.diagonal[j], to.up_left, there.diagonal, j);
    const uint32_t left = key_if<FULL, C>(l.right[j], to.left, there.right, j + 1);
    const uint32_t down = key_if<FULL, C>(l.anti[j + 1], to.down_left, there.anti, j + 1);
    return min(min(up, left), down);
}

/* The least key of the ways to the right from column C. */
template <bool FULL, int C>
QFZ_DEVICE uint32_t least_to_right(const eight_levels &l, const eight_there &there, int j,
                                   const eight_ways &to)
{
    const uint32_t up = key_if<FULL, C>(l.anti[j], to.up_right, there.anti, j);
    const uint32_t right = key_if<FULL, C>(l.right[j], to.right, there.right, j + 1);
    const uint32_t down = key_if<FULL, C>(l.diagonal[j + 1], to.down_right, there.diagonal, j + 1);
    return min(min(up, right), down);
}

/* The least key of the ways straight up and down. */
template <bool FULL, int C>
QFZ_DEVICE uint32_t least_straight(const eight_levels &l, const eight_there &there, int j,
                                   const eight_ways &to)
{
    return min(key_if<FULL, C>(l.down[j], to.up, there.down, j),
               key_if<FULL, C>(l.down[j + 1], to.down, there.down, j + 1));
}

/* Chooses a way for each pixel of a thread; top: the levels of the chosen edges, 0 for a pixel that
 * waits. */
template <bool FULL>
QFZ_DEVICE void choose(eight_work &w, const eight_values &in, const eight_levels &l,
                       const eight_there &there, eight_chosen &p, pair16 top[EIGHT_ROWS])
{
    const bool last = w.lane == QFZ_WARP - 1;
    const uint32_t self = own_pixels(w);
    const uint32_t keys_out = in.out & ~3u;
    uint32_t flags = 0; /* later: bit 2 * row; waits: bit 2 * row + 7 */
    p.none = 0;
    QFZ_EACH (j, EIGHT_ROWS) {
        const eight_ways to = ways_of(w, j);
        const uint32_t next_left = least_to_left<FULL, 1>(l, there, j, to);
        const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, next_left, 1);
        const uint32_t out = __shfl_sync(QFZ_ALL_LANES, keys_out, last ? j + EIGHT_ROWS : j);
        const uint32_t left0 = w.lane == 0 ? out : before;
        const uint32_t left1 = least_to_left<FULL, 0>(l, there, j, to);
        const uint32_t right1 = last ? out : least_to_right<FULL, 1>(l, there, j, to);
        const uint32_t least0 = min(min(left0, least_to_right<FULL, 0>(l, there, j, to)),
                                    least_straight<FULL, 0>(l, there, j, to));
        const uint32_t least1 = min(min(left1, right1), least_straight<FULL, 1>(l, there, j, to));
        const uint32_t ways = low_halves(least0, least1), waits = ways >> 15 & ONES;
        flags += (ways & (WAY_WAITS | WAY_LATER) * ONES) >> (8 - 2 * j);
        if (!FULL) p.none += (ways >> 14 & ONES) << (2 * j);
        /* the 16-bit halves may borrow from each other; the final sum cancels the borrow */
        p.to[j] = self - WAY_SELF * ONES + (uint32_t)j * ROW_BELOW + (ways & 0x01ff01ffu);
        top[j] = {high_halves(least0, least1) & ~(waits * 0xffffu)};
    }
    p.later = flags & 0x00550055u;
    p.waits = flags >> 7 & 0x00550055u;
    if (w.lane < OUT_LANES) {
        const int side = w.lane < EIGHT_ROWS ? LEFT : RIGHT;
        w.m.leave[side + w.warp * EIGHT_ROWS + w.lane % EIGHT_ROWS] = key_to_leave(w, in.out);
    }
    if (FULL || !w.forest.keeps_ring) return;
    uint32_t valid = 0;
    QFZ_EACH (j, EIGHT_ROWS)
        valid |= (there.pixel >> (j + 1) & ONES) << (2 * j);
    clear_tops(w, top, keep_ring(w, valid, self, p));
}
