/* SPDX-License-Identifier: MIT */
/* rows_wide_pixels.cuh - the first round, and which edges are not needed or leave the block, where
 * levels have 32 bits. */
#ifndef QFZ_GPU_ROWS_WIDE_PIXELS_CUH
#define QFZ_GPU_ROWS_WIDE_PIXELS_CUH

#include "gpu/rows_settle.cuh"
#include "gpu/rows_wide.cuh"

/* ---- Choose ---------------------------------------------------------------------------------- */

struct wide_choice {
    uint32_t level, way;
};

/* Ways are looked at from the last in their order on; one out of the block comes after all. */
static __device__ __forceinline__ void consider(wide_choice &best, uint32_t level, uint32_t way,
                                                bool leaves)
{
    const bool wins = (level < best.level) | ((level == best.level) & !leaves);
    best.level = min(best.level, level);
    best.way = wins ? way : best.way;
}

/* Levels of a thread's pixels; QFZ_NONE where there is no edge, so that it is the level of all
 * edges that the pixel would have. */
static __device__ __forceinline__ void choose(const wide_work &w, const wide_levels &l,
                                              rows_chosen<wide_work> &p, uint32_t top[][2])
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1, upmost = w.warp == 0;
    const uint32_t left = first ? OUT : TO_LEFT, right = last ? OUT : TO_RIGHT;
    const uint32_t up = upmost ? OUT : TO_UP;
    const uint32_t down = w.warp == wide_work::WARPS - 1 ? OUT : TO_DOWN;
    const uint32_t self = own_pixels(w);
    p.waits = p.none = p.right = p.left = 0;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        uint32_t way[2];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t level_left = c ? l.right[j + 1][0] : l.left[j];
            wide_choice best = {l.down[j + 1][c], j == OWN_ROWS - 1 ? down : TO_DOWN};
            consider(best, l.right[j + 1][c], c ? right : TO_RIGHT, c && last);
            consider(best, level_left, c ? TO_LEFT : left, !c && first);
            consider(best, l.down[j][c], j ? TO_UP : up, !j && upmost);
            const bool none = best.level == QFZ_NONE;
            way[c] = none ? NO_WAY : best.way;
            top[j][c] = best.way == OUT && !none ? 0 : best.level;
        }
        go<false>(p, j, self, low_halves(way[0], way[1]));
    }
    if (w.forest.keeps_ring) {
        const uint32_t ring = keep_ring(w, rows_wide::EVEN, self, p);
#pragma unroll
        for (int k = 0; k < 2 * OWN_ROWS; k++)
            if (ring >> (k / 2 * 2 + k % 2 * 16) & 1) top[k / 2][k % 2] = 0;
    }
    end_choice(p);
}

/* ---- Edges that are not needed, or leave ----------------------------------------------------- */

/* Of the greatest of a square's edges the last in the order top, left, side (right), bottom is the
 * heaviest, as it is in the order of ids.  Where one is missing, one that is missing is dropped. */
static __device__ __forceinline__ void find_drops(const wide_work &w, const wide_levels &l,
                                                  uint32_t *right, uint32_t *down)
{
    uint32_t is_bottom = 0, is_side = 0, is_left = 0, above = 0; /* the greatest */
#pragma unroll
    for (int i = 0; i < OWN_ROWS + 1; i++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t top = l.right[i][c], left = l.down[i][c], bottom = l.right[i + 1][c];
            const uint32_t side = c ? l.next_down[i] : l.down[i][1];
            const uint32_t most = max(max(top, left), max(side, bottom));
            const uint32_t bit = 1u << (2 * max(i - 1, 0) + 16 * c);
            if (i == 0) {
                above |= bottom == most ? bit : 0;
                continue;
            }
            is_bottom |= bottom == most ? bit : 0;
            is_side |= side == most ? bit : 0;
            is_left |= left == most ? bit : 0;
        }
    const uint32_t others = is_bottom | is_side;
    const rows_squares heaviest = {rows_wide::EVEN & ~(others | is_left), is_left & ~others,
                                   is_side & ~is_bottom, is_bottom, above};
    find_dropped(w, heaviest, right, down);
}

static __device__ __forceinline__ wide_work::KEY leaving_key(uint32_t level, uint32_t dropped)
{
    if (level == QFZ_NONE) return wide_work::NO_KEY;
    return (wide_work::KEY)level << 16 | LEAVES | (dropped & DROPPED);
}

/* As in rows_collect.cuh. */
static __device__ __forceinline__ void show_leaving(wide_work &w, const wide_levels &l,
                                                    uint32_t drop_r, uint32_t drop_d)
{
    const bool left = w.lane == 0;
    if (left || w.lane == QFZ_WARP - 1) {
        wide_work::KEY *const leave = w.m.leave + (left ? LEFT : RIGHT) + w.warp * OWN_ROWS;
        const uint32_t dropped = left ? 0 : drop_r >> 16;
#pragma unroll
        for (int j = 0; j < OWN_ROWS; j++)
            leave[j] = leaving_key(left ? l.left[j] : l.right[j + 1][1], dropped >> (2 * j));
    }
    if (w.warp == 0 || w.warp == wide_work::WARPS - 1) {
        const bool top = w.warp == 0;
        wide_work::KEY *const leave = w.m.leave + (top ? TOP : BOTTOM) + 2 * w.lane;
        const uint32_t dropped = top ? 0 : drop_d >> (2 * OWN_ROWS - 2);
#pragma unroll
        for (int c = 0; c < 2; c++)
            leave[c] = leaving_key(top ? l.down[0][c] : l.down[OWN_ROWS][c], dropped >> (16 * c));
    }
}

/* As rows_edges. */
struct wide_edges {
    uint32_t right[OWN_ROWS][2], down[OWN_ROWS][2], needed_r, needed_d;

    __device__ __forceinline__ uint32_t right_at(int j, int c) const
    {
        return right[j][c];
    }
    __device__ __forceinline__ uint32_t down_at(int j, int c) const
    {
        return down[j][c];
    }
};

/* Bits of a thread's edges that are there. */
static __device__ __forceinline__ uint32_t there(const uint32_t level[OWN_ROWS][2])
{
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            bits |= level[j][c] != QFZ_NONE ? 1u << (2 * j + 16 * c) : 0;
    return bits;
}

/* all: they have levels. */
static __device__ __forceinline__ void find_edges(wide_work &w, const wide_levels &l, bool all,
                                                  wide_edges &edges)
{
    uint32_t drop_r, drop_d, inside_r, inside_d;
    find_drops(w, l, &drop_r, &drop_d);
    show_leaving(w, l, drop_r, drop_d);
    edges_inside(w, &inside_r, &inside_d);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            edges.right[j][c] = l.right[j + 1][c];
            edges.down[j][c] = l.down[j + 1][c];
        }
    edges.needed_r = inside_r & ~drop_r;
    edges.needed_d = inside_d & ~drop_d;
    if (all) return;
    edges.needed_r &= there(edges.right);
    edges.needed_d &= there(edges.down);
}

#endif
