/* SPDX-License-Identifier: MIT */
/* rows_around.cuh - what is around a thread's pixels: rows -1 to OWN_ROWS, the columns beside the
 * block, squares.  Lanes 0 to OWN_ROWS + 1 have those rows of the column left of the block, as many
 * lanes after them those of the one to the right. */
#ifndef QFZ_GPU_ROWS_AROUND_CUH
#define QFZ_GPU_ROWS_AROUND_CUH

#include "gpu/rows_block.cuh"

template <typename WORK>
static __device__ __forceinline__ int2 side_pixel(const WORK &w) /* x, y, in the tile */
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1;
    return w.lane < WORK::SEEN_ROWS ? make_int2(w.box.x - 1, y0 + w.lane)
                                    : make_int2(w.box.x + QFZ_SIDE, y0 + w.lane - WORK::SEEN_ROWS);
}

/* What is beside row i - 1 of the first and the last lane. */
template <typename WORK>
static __device__ __forceinline__ uint32_t side_of(const WORK &w, uint32_t side, int i)
{
    return __shfl_sync(ALL_LANES, side, (w.lane == 0 ? 0 : (int)WORK::SEEN_ROWS) + i);
}

/* The same of one bit a lane, all rows: bit i. */
template <typename WORK>
static __device__ __forceinline__ uint32_t side_bits(const WORK &w, uint32_t bit)
{
    const uint32_t both = __ballot_sync(ALL_LANES, bit);
    return (w.lane == 0 ? both : both >> WORK::SEEN_ROWS) & ((1u << WORK::SEEN_ROWS) - 1);
}

/* Is all that is looked at inside the tile, and do two pixels begin at even places? */
template <typename WORK> static __device__ __forceinline__ bool is_inside(const WORK &w)
{
    const qfz_gpu_forest &f = w.forest;
    return w.box.y > 0 && w.box.x > 0 && w.box.y + QFZ_SIDE < f.h && w.box.x + QFZ_SIDE < f.w &&
           f.w % 2 == 0;
}

/* Are a thread's pixels of a block inside the tile, and what is around, valid? */
template <typename WORK>
static __device__ __forceinline__ bool all_valid(const WORK &w, const uint8_t *valid)
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const uint8_t *row = valid + (int64_t)y0 * w.forest.w + x0;
    const int2 side = side_pixel(w);
    uint32_t zero = 0; /* the highest bit of each byte: it was 0 in a row */
#pragma unroll
    for (int i = 0; i < WORK::SEEN_ROWS; i++, row += w.forest.w) {
        const uint32_t two = __ldg(reinterpret_cast<const uint16_t *>(row));
        zero |= (two - 0x0101u) & ~two;
    }
    bool all = (zero & 0x8080u) == 0;
    if (w.lane < 2 * WORK::SEEN_ROWS) all &= valid[(int64_t)side.y * w.forest.w + side.x] != 0;
    return all;
}

/* Squares, named by their upper left pixel: of which edge is the heaviest of its cycle?  Masks; of
 * those whose first row is the one above the thread's only `above`, where it is the bottom. */
struct rows_squares {
    uint32_t top, left, side, bottom, above;
};

/* Edges to the right and down that are dropped. */
template <typename WORK>
static __device__ __forceinline__ void find_dropped(const WORK &w, const rows_squares &heaviest,
                                                    uint32_t *right, uint32_t *down)
{
    uint32_t before = __shfl_up_sync(ALL_LANES, heaviest.side, 1);
    if (w.lane == 0) before = 0;
    *right = heaviest.top | (heaviest.bottom << 2 & WORK::SHAPE::EVEN & ~ONES) | heaviest.above;
    *down = heaviest.left | heaviest.side << 16 | before >> 16;
}

#endif
