/* SPDX-License-Identifier: MIT */
/* rows_collect.cuh - the list of edges that the first round leaves open, and the keys of those that
 * leave the block. */
#ifndef QFZ_GPU_ROWS_COLLECT_CUH
#define QFZ_GPU_ROWS_COLLECT_CUH

#include "gpu/rows_pixels.cuh"

/* Edges to the right and down that are dropped: each is the heaviest of a square's cycle.  Of the
 * greatest of its four the last in the order top, left, side (right), bottom is the heaviest, as it
 * is in the order of ids. */
template <bool FULL>
static __device__ __forceinline__ void find_drops(const rows_work &w, const rows_levels &l,
                                                  const rows_there &there, uint32_t *right,
                                                  uint32_t *down)
{
    uint32_t not_bottom = 0, not_side = 0, not_left = 0, above = 0; /* not the greatest */
#pragma unroll
    for (int i = 0; i < OWN_ROWS + 1; i++) {
        const uint32_t side = shifted(l.down[i], l.next_down[i]);
        const uint32_t most =
            __vmaxu2(__vmaxu2(l.right[i], l.down[i]), __vmaxu2(side, l.right[i + 1]));
        const uint32_t bottom_less = ones_of(l.right[i + 1] ^ most);
        if (i == 0) {
            above = bottom_less ^ ONES;
            continue;
        }
        not_bottom += bottom_less << (2 * i - 2);
        not_side += ones_of(side ^ most) << (2 * i - 2);
        not_left += ones_of(l.down[i] ^ most) << (2 * i - 2);
    }
    uint32_t bottom = EVEN & ~not_bottom, side = not_bottom & ~not_side;
    uint32_t left = not_bottom & not_side & ~not_left, top = not_bottom & not_side & not_left;
    uint32_t bottom_above = (bottom << 2 & 0xfffcfffcu) | above;
    if (!FULL) {
        top &= there.square;
        left &= there.square;
        side &= there.square;
        bottom_above &= there.square_above;
    }
    uint32_t before = __shfl_up_sync(ALL_LANES, side, 1);
    if (w.lane == 0) before = 0;
    *right = top | bottom_above;
    *down = left | side << 16 | before >> 16;
}

/* Keys of the edges out of the block.  That one which begins outside is dropped need not be known:
 * it is found in the block where it begins. */
template <bool FULL>
static __device__ __forceinline__ void collect_leaving(rows_work &w, const rows_levels &l,
                                                       const rows_there &there, uint32_t drop_r,
                                                       uint32_t drop_d)
{
    const bool left = w.lane == 0;
    if (left || w.lane == QFZ_WARP - 1) {
        uint32_t *const leave = w.m.leave + (left ? LEFT : RIGHT) + w.warp * OWN_ROWS;
        const uint32_t exists = left ? there.left : there.right >> 16;
        const uint32_t dropped = left ? 0 : drop_r >> 16;
#pragma unroll
        for (int j = 0; j < OWN_ROWS; j++) {
            const uint32_t level = (left ? l.left[j] : l.right[j + 1]) & 0xffff0000u;
            const uint32_t key = level | LEAVES | (dropped >> (2 * j) & DROPPED);
            leave[j] = FULL || (exists >> (2 * j) & 1) ? key : NO_KEY;
        }
    }
    if (w.warp == 0 || w.warp == WARPS - 1) {
        const bool top = w.warp == 0;
        const uint32_t level = top ? l.down[0] : l.down[OWN_ROWS];
        const uint32_t exists = top ? there.up : there.down >> 14;
        const uint32_t dropped = top ? 0 : drop_d >> 14;
        uint32_t *const leave = w.m.leave + (top ? TOP : BOTTOM) + 2 * w.lane;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t key =
                (c ? level & 0xffff0000u : level << 16) | LEAVES | (dropped >> (16 * c) & DROPPED);
            leave[c] = FULL || (exists >> (16 * c) & 1) ? key : NO_KEY;
        }
    }
}

static __device__ __forceinline__ void append(rows_work &w, bool open, uint32_t &at, uint32_t ends,
                                              uint32_t level)
{
    if (!open) return;
    w.m.ends[at] = ends;
    w.m.level[at] = (uint16_t)level;
    at++;
}

/* Edges to the right and down between different components of the block: *open_r, *open_d. */
template <bool FULL>
static __device__ __forceinline__ void
collect(rows_work &w, const rows_levels &l, const rows_there &there,
        const uint32_t comp[OWN_ROWS + 1], uint32_t *open_r, uint32_t *open_d)
{
    uint32_t drop_r, drop_d, inside_r, inside_d, differ_r = 0, differ_d = 0;
    uint32_t right[OWN_ROWS];
    find_drops<FULL>(w, l, there, &drop_r, &drop_d);
    edges_inside(w, there, &inside_r, &inside_d);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        right[j] = shifted(comp[j], of_next_lane(comp[j]));
        differ_r += ones_of(comp[j] ^ right[j]) << (2 * j);
        differ_d += ones_of(comp[j] ^ comp[j + 1]) << (2 * j);
    }
    *open_r = differ_r &= inside_r;
    *open_d = differ_d &= inside_d;
    differ_r &= ~drop_r;
    differ_d &= ~drop_d;
    uint32_t at = qfz_take(&w.m.n_list, (uint32_t)(__popc(differ_r) + __popc(differ_d)));
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t level_r = l.right[j + 1], level_d = l.down[j + 1], under = comp[j + 1];
        append(w, differ_r >> (2 * j) & 1, at, comp[j], level_r & 0xffff);
        append(w, differ_r >> (2 * j + 16) & 1, at, right[j], level_r >> 16);
        append(w, differ_d >> (2 * j) & 1, at, low_halves(comp[j], under), level_d & 0xffff);
        append(w, differ_d >> (2 * j + 16) & 1, at, high_halves(comp[j], under), level_d >> 16);
    }
    collect_leaving<FULL>(w, l, there, drop_r, drop_d);
}

#endif
