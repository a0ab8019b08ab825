/* SPDX-License-Identifier: MIT */
/* four_collect.cuh - finds the edges that are dropped and the edges that leave the block, for
 * levels of 16 bits and four neighbours. */
#pragma once

#include "gpu/forest/block_steps.cuh"
#include "gpu/forest/four_pixels.cuh"

/* Masks of the edges to the right and down that are dropped: each is the heaviest edge of a square,
 * and thus not needed. Of the greatest of a square's four edges the last in the order top, left,
 * side (right), bottom is the heaviest, as in the order of edge ids. */
template <bool FULL>
QFZ_DEVICE void find_drops(const narrow_work &w, const narrow_levels &l, const narrow_there &there,
                           uint32_t *right, uint32_t *down)
{
    uint32_t not_bottom = 0, not_side = 0, not_left = 0, above = 0; /* squares in which this edge is
                                                                     * not the greatest */
    QFZ_EACH (i, OWN_ROWS + 1) {
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
    const uint32_t two = not_bottom & not_side;
    heaviest_edges heaviest = {two & not_left, two & ~not_left, not_bottom & ~not_side,
                               EVEN & ~not_bottom, above};
    if (!FULL) {
        heaviest.top &= there.square;
        heaviest.left &= there.square;
        heaviest.side &= there.square;
        heaviest.bottom &= there.square;
        heaviest.above &= there.square_above;
    }
    find_dropped(w, heaviest, right, down);
}

/* Stores the keys of the edges that leave the block. An edge that begins outside is not marked as
 * dropped here, but in the block where it begins. */
template <bool FULL>
QFZ_DEVICE void show_leaving(narrow_work &w, const narrow_levels &l, const narrow_there &there,
                             uint32_t drop_r, uint32_t drop_d)
{
    const bool left = w.lane == 0;
    if (left || w.lane == QFZ_WARP - 1) {
        uint32_t *const leave = w.m.leave + (left ? LEFT : RIGHT) + w.warp * OWN_ROWS;
        const uint32_t exists = left ? there.left : there.right >> 16;
        const uint32_t dropped = left ? 0 : drop_r >> 16;
        QFZ_EACH (j, OWN_ROWS) {
            const uint32_t level = (left ? l.left[j] : l.right[j + 1]) & 0xffff0000u;
            const uint32_t key = level | LEAVES | (dropped >> (2 * j) & DROPPED);
            leave[j] = FULL || (exists >> (2 * j) & 1) ? key : w.NO_KEY;
        }
    }
    if (w.warp == 0 || w.warp == narrow_work::WARPS - 1) {
        const bool top = w.warp == 0;
        const uint32_t level = top ? l.down[0] : l.down[OWN_ROWS];
        const uint32_t exists = top ? there.up : there.down >> 14;
        const uint32_t dropped = top ? 0 : drop_d >> 14;
        uint32_t *const leave = w.m.leave + (top ? TOP : BOTTOM) + 2 * w.lane;
        QFZ_EACH (c, 2) {
            const uint32_t key =
                (c ? level & 0xffff0000u : level << 16) | LEAVES | (dropped >> (16 * c) & DROPPED);
            leave[c] = FULL || (exists >> (16 * c) & 1) ? key : w.NO_KEY;
        }
    }
}

template <bool FULL>
QFZ_DEVICE void find_edges(narrow_work &w, const narrow_levels &l, const narrow_there &there,
                           four_edges<narrow_work> &edges)
{
    uint32_t drop_r, drop_d, inside_r, inside_d;
    find_drops<FULL>(w, l, there, &drop_r, &drop_d);
    show_leaving<FULL>(w, l, there, drop_r, drop_d);
    edges_inside(w, &inside_r, &inside_d);
    edges.needed_r = there.right & inside_r & ~drop_r;
    edges.needed_d = there.down & inside_d & ~drop_d;
    QFZ_EACH (j, OWN_ROWS) {
        edges.right[j] = {l.right[j + 1]};
        edges.down[j] = {l.down[j + 1]};
    }
}

/* ---- The variant ----------------------------------------------------------------------------- */

/* A thread's pixels after the first round, and those of the row below: components, and tops that
 * are not in shared memory. between: edges between two components. */
struct narrow_settled {
    enum { FIRST_OWN = narrow_shape::SHARED_TOPS };
    uint32_t comp[OWN_ROWS + 1], last_top[OWN_ROWS + 1 - FIRST_OWN];
    edge_masks between;

    QFZ_DEVICE void set_top(const narrow_work &w, int j, pair16 top)
    {
        if (j < FIRST_OWN)
            w.m.tops.two[j][w.thread] = top.two;
        else
            last_top[j - FIRST_OWN] = top.two;
    }
    QFZ_DEVICE pair16 top_at(const narrow_work &w, int j) const
    {
        return {j < FIRST_OWN ? w.m.tops.two[min(j, FIRST_OWN - 1)][w.thread]
                              : last_top[max(j, (int)FIRST_OWN) - FIRST_OWN]};
    }
};

/* The variant (block_launch.cuh). */
struct narrow_way {
    typedef narrow_work WORK;
    typedef narrow_settled SETTLED;
    typedef edge_masks THERE;
    typedef chosen_ways<WORK> CHOSEN;
    typedef four_edges<WORK> EDGES;
    template <typename T> using BAND = pair_band<T, narrow_values>;
    enum { BLOCKS = 4, SHOWS_TOPS = false };

    template <bool FULL, typename SOURCE>
    static QFZ_DEVICE void first_round(WORK &w, const SOURCE &source, typename SOURCE::values &in,
                                       CHOSEN &p, pair16 top[OWN_ROWS], EDGES &edges, THERE &there)
    {
        narrow_levels l;
        if (!FULL) load_some(w, source.image, in);
        find_levels(w, in, l);
        const narrow_there masks = FULL ? all_there() : find_there(w, in);
        choose<FULL>(w, l, masks, p, top);
        find_edges<FULL>(w, l, masks, edges);
        there = {masks.right, masks.down};
    }
};
