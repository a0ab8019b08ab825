/* SPDX-License-Identifier: MIT */
/* block_around.cuh - the surroundings of a thread's pixels: the rows above and below, the columns
 * beside the block, squares of 2 x 2 pixels. Lanes 0 .. OWN_ROWS + 1 hold the pixels of rows -1 ..
 * OWN_ROWS in the column left of the block, as many lanes after them those right of it. */
#pragma once

#include "gpu/forest/block.cuh"

template <typename WORK> QFZ_DEVICE int2 side_pixel(const WORK &w) /* x, y, in the tile */
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1;
    return w.lane < WORK::SEEN_ROWS ? make_int2(w.box.x - 1, y0 + w.lane)
                                    : make_int2(w.box.x + QFZ_SIDE, y0 + w.lane - WORK::SEEN_ROWS);
}

/* The value beside row i - 1: left of the block in the first lane, right of it in the last. */
template <typename WORK> QFZ_DEVICE uint32_t side_of(const WORK &w, uint32_t side, int i)
{
    return __shfl_sync(QFZ_ALL_LANES, side, (w.lane == 0 ? 0 : (int)WORK::SEEN_ROWS) + i);
}

/* The same for one bit a lane, all rows at once: bit i is of row i - 1. */
template <typename WORK> QFZ_DEVICE uint32_t side_bits(const WORK &w, uint32_t bit)
{
    const uint32_t both = __ballot_sync(QFZ_ALL_LANES, bit);
    return (w.lane == 0 ? both : both >> WORK::SEEN_ROWS) & ((1u << WORK::SEEN_ROWS) - 1);
}

/* True if (y, x) lies in the tile and the pixel is valid. */
template <typename WORK>
QFZ_DEVICE bool is_there(const WORK &w, const uint8_t *valid, int32_t y, int32_t x)
{
    if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return false;
    return !valid || valid[(int64_t)y * w.forest.w + x];
}

/* True if block and pixels around it lie inside the tile, and pairs of pixels are aligned. */
template <typename WORK> QFZ_DEVICE bool is_inside(const WORK &w)
{
    const qfz_gpu_forest &f = w.forest;
    return w.box.y > 0 && w.box.x > 0 && w.box.y + QFZ_SIDE < f.h && w.box.x + QFZ_SIDE < f.w &&
           f.w % 2 == 0;
}

/* Not 0 if a byte of the word is 0. */
QFZ_DEVICE uint32_t has_zero(uint32_t word)
{
    return (word - 0x01010101u) & ~word & 0x80808080u;
}

QFZ_DEVICE uint32_t has_zero(uint4 four)
{
    return has_zero(four.x) | has_zero(four.y) | has_zero(four.z) | has_zero(four.w);
}

QFZ_DEVICE uint32_t has_zero(uint16_t two)
{
    return has_zero(two | 0xffff0000u);
}

/* True if all pixels are valid in a thread's words of the block's rows and the rows around them. */
template <typename WORD, typename WORK>
QFZ_DEVICE bool words_valid(const WORK &w, const uint8_t *first)
{
    enum { IN_ROW = QFZ_SIDE / sizeof(WORD), ALL = (QFZ_SIDE + 2) * IN_ROW };
    uint32_t zero = 0;
#pragma unroll
    for (int i = w.thread; i < ALL; i += w.THREADS)
        zero |= has_zero(
            __ldg(reinterpret_cast<const WORD *>(first + (int64_t)(i / IN_ROW) * w.forest.w) +
                  i % IN_ROW));
    return zero == 0;
}

/* True if all are valid in a thread's share of a block inside the tile and the pixels around it. */
template <typename WORK> QFZ_DEVICE bool all_valid(const WORK &w, const uint8_t *valid)
{
    const int32_t width = w.forest.w;
    const uint8_t *const first = valid + (int64_t)(w.box.y - 1) * width + w.box.x;
    const bool even =
        width % (int)sizeof(uint4) == 0 && reinterpret_cast<uintptr_t>(valid) % sizeof(uint4) == 0;
    const bool inside = even ? words_valid<uint4>(w, first) : words_valid<uint16_t>(w, first);
    const int row = w.thread / 2; /* beside the block */
    if (row >= QFZ_SIDE + 2) return inside;
    return inside & (first[(int64_t)row * width + (w.thread % 2 ? QFZ_SIDE : -1)] != 0);
}

/* Squares, by their upper left pixel: masks of those whose heaviest edge is their top, left, side
 * (right) or bottom one. above: of the squares that begin in the row above the thread's, those
 * whose bottom edge is the heaviest. */
struct heaviest_edges {
    uint32_t top, left, side, bottom, above;
};

/* The masks of edges to the right and down that are dropped, each the heaviest of a square. */
template <typename WORK>
QFZ_DEVICE void find_dropped(const WORK &w, const heaviest_edges &heaviest, uint32_t *right,
                             uint32_t *down)
{
    uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, heaviest.side, 1);
    if (w.lane == 0) before = 0;
    *right = heaviest.top | (heaviest.bottom << 2 & WORK::SHAPE::EVEN & ~ONES) | heaviest.above;
    *down = heaviest.left | heaviest.side << 16 | before >> 16;
}
