/* SPDX-License-Identifier: MIT */
/* saliency_eight_close.cuh - closes the edges inside a block with eight neighbours and levels of 16
 * bits, as saliency_close.cuh does for four. */
#ifndef QFZ_GPU_SALIENCY_EIGHT_CLOSE_CUH
#define QFZ_GPU_SALIENCY_EIGHT_CLOSE_CUH

#include "gpu/forest/eight_collect.cuh"
#include "gpu/saliency/saliency_pair_tables.cuh"

/* Saliencies of a thread's edges, and masks of the edges that exist; FULL: all exist. */
template <bool FULL> struct eight_closing {
    uint32_t right[EIGHT_ROWS], down[EIGHT_ROWS], diagonal[EIGHT_ROWS], anti[EIGHT_ROWS];
    eight_there there;
};

template <bool FULL>
static __device__ __forceinline__ void close_by_table(uint32_t *table, const eight_settled &s,
                                                      eight_closing<FULL> &e)
{
    table_row now = look_up<true>(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const table_row next = look_up<true>(table, s.comp[j + 1]);
        e.right[j] = chosen(now.comp ^ now.right, e.right[j], __vmaxu2(now.top, now.right_top));
        e.down[j] = chosen(now.comp ^ next.comp, e.down[j], __vmaxu2(now.top, next.top));
        e.diagonal[j] =
            chosen(now.comp ^ next.right, e.diagonal[j], __vmaxu2(now.top, next.right_top));
        e.anti[j] = chosen(now.right ^ next.comp, e.anti[j], __vmaxu2(now.right_top, next.top));
        now = next;
    }
}

/* The saliencies of two edges of row j. An edge that the first round closed has the greater top of
 * its pixels, which is a lower bound for all other edges. */
static __device__ __forceinline__ uint32_t with_pixels(uint32_t level, uint32_t between, int bit,
                                                       uint32_t top, uint32_t other_top)
{
    return __vmaxu2(level & (between >> bit & ONES) * 0xffffu, __vmaxu2(top, other_top));
}

template <bool FULL>
static __device__ __forceinline__ void close_by_pixels(const eight_work &, const eight_settled &s,
                                                       eight_closing<FULL> &e)
{
    const uint32_t between = s.between;
    uint32_t right[EIGHT_ROWS + 1];
    to_the_right(s.top, right);
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const uint32_t top = s.top[j], under = s.top[j + 1], across = right[j + 1];
        e.right[j] = with_pixels(e.right[j], between, AT_RIGHT + j, top, right[j]);
        e.down[j] = with_pixels(e.down[j], between, AT_DOWN + j, top, under);
        e.diagonal[j] = with_pixels(e.diagonal[j], between, AT_DIAGONAL + j, top, across);
        e.anti[j] = with_pixels(e.anti[j], between, AT_ANTI + j, right[j], under);
    }
}

/* Stores the vertices of a thread's two pixels of row j at the block's place in blocks.open. */
template <typename WORK>
static __device__ __forceinline__ void store_vertices(const WORK &w, int j, uint32_t two,
                                                      uint32_t *open)
{
    open[(w.warp * EIGHT_ROWS + j) * (QFZ_SIDE / 2) + w.lane] = two;
}

/* Two vertices of the last table in the form in which they are stored. */
template <bool FULL> static __device__ __forceinline__ uint32_t stored(uint32_t vertices)
{
    if (FULL) return vertices; /* every pixel has a vertex */
    const uint32_t none = (vertices >> 15 & ONES) * (uint32_t)QFZ_OPEN_INVALID;
    return (vertices | none) & (uint32_t)QFZ_OPEN_VERTEX * ONES;
}

/* With the last table: first saliencies of all edges, and the stored vertices. */
template <bool FULL>
static __device__ __forceinline__ void begin_closing(eight_work &w, uint32_t *table,
                                                     const eight_settled &s, eight_closing<FULL> &e,
                                                     uint32_t *open)
{
    uint32_t level[EIGHT_ROWS + 1], right[EIGHT_ROWS + 1];
#pragma unroll
    for (int j = 0; j <= EIGHT_ROWS; j++) {
        const table_row now = look_up<false>(table, s.comp[j]);
        level[j] = now.top;
        if (j < EIGHT_ROWS) store_vertices(w, j, stored<FULL>(now.comp), open);
    }
    to_the_right(level, right);
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        e.right[j] = __vmaxu2(level[j], right[j]);
        e.down[j] = __vmaxu2(level[j], level[j + 1]);
        e.diagonal[j] = __vmaxu2(level[j], right[j + 1]);
        e.anti[j] = __vmaxu2(right[j], level[j + 1]);
    }
}

/* Stores two levels of row j of a plane; bits j and j + 16 of `exists`: the edges exist. */
template <bool FULL>
static __device__ __forceinline__ void store_two(const eight_work &w, int j, uint16_t *out,
                                                 uint32_t levels, uint32_t exists)
{
    if (FULL) *reinterpret_cast<uint32_t *>(out) = levels;
#pragma unroll
    for (int c = 0; c < 2; c++)
        if (!FULL && w.warp * EIGHT_ROWS + j < w.box.h && 2 * w.lane + c < w.box.w)
            out[c] = (uint16_t)(exists >> (j + 16 * c) & 1 ? levels >> (16 * c) : QFZ_NONE);
}

/* Stores the saliencies of all edges. Values of edges that are open or leave the block are not
 * final: the query overwrites them. */
template <bool FULL>
static __device__ __forceinline__ void
store_levels(const eight_work &w, const eight_closing<FULL> &e, uint16_t *saliency)
{
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int64_t y = w.box.y + w.warp * EIGHT_ROWS, x = w.box.x + 2 * w.lane;
    uint16_t *out = saliency + y * w.forest.w + x;
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++, out += w.forest.w) {
        const uint32_t before = __shfl_up_sync(ALL_LANES, e.anti[j], 1);
        const uint32_t to_left = shifted(before, e.anti[j]);
        store_two<FULL>(w, j, out + QFZ_RIGHT * n_px, e.right[j], e.there.edges >> AT_RIGHT);
        store_two<FULL>(w, j, out + QFZ_BELOW * n_px, e.down[j], e.there.edges >> AT_DOWN);
        store_two<FULL>(w, j, out + QFZ_BELOW_RIGHT * n_px, e.diagonal[j],
                        e.there.edges >> AT_DIAGONAL);
        store_two<FULL>(w, j, out + QFZ_BELOW_LEFT * n_px, to_left, e.there.to_left);
    }
}

#endif
