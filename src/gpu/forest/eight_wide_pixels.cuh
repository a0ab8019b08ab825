/* SPDX-License-Identifier: MIT */
/* eight_wide_pixels.cuh - eight neighbours and levels of 32 bits: the first round, the
 * edges that are dropped and those that leave the block, row by row to save registers. */
#pragma once

#include "gpu/forest/eight_wide.cuh"

/* ---- Choose ---------------------------------------------------------------------------------- */

/* Levels around a row: to the row above, inside the row, to the row below. */
struct wide_around {
    wide_between above;
    uint32_t right[3];
    wide_between below;
};

/* Chooses the way of the pixel in row j and column C. Among edges of one level those to the
 * thread's own columns win in the order of their start pixels, then those to other threads'
 * columns, then those out of the block. Edges that leave the block in some lanes only are therefore
 * considered first. */
template <int C>
QFZ_DEVICE wide_choice choose_way(const eight_wide_work &w, int j, const wide_around &l)
{
    const bool upmost = j == 0 && w.warp == 0;
    const bool lowest = j == EIGHT_ROWS - 1 && w.warp == eight_wide_work::WARPS - 1;
    const bool out = w.lane == (C ? QFZ_WARP - 1 : 0);
    const eight_ways to = ways_of(w, j);
    if (C == 0) {
        wide_choice best = {l.below.anti[0], out ? WAY_OUT : to.down_left};
        consider(best, l.right[0], out ? WAY_OUT : to.left, false);
        consider(best, l.above.diagonal[0], out ? WAY_OUT : to.up_left, upmost);
        consider(best, l.below.diagonal[1], to.down_right, lowest);
        consider(best, l.below.down[0], to.down, lowest);
        consider(best, l.right[1], to.right, false);
        consider(best, l.above.anti[1], to.up_right, upmost);
        consider(best, l.above.down[0], to.up, upmost);
        return best;
    }
    wide_choice best = {l.below.diagonal[2], out ? WAY_OUT : to.down_right};
    consider(best, l.right[2], out ? WAY_OUT : to.right, false);
    consider(best, l.above.anti[2], out ? WAY_OUT : to.up_right, upmost);
    consider(best, l.below.down[1], to.down, lowest);
    consider(best, l.below.anti[1], to.down_left, lowest);
    consider(best, l.right[1], to.left, false);
    consider(best, l.above.down[1], to.up, upmost);
    consider(best, l.above.diagonal[1], to.up_left, upmost);
    return best;
}

/* Chooses the ways of row j. top: 0 for a pixel that waits, QFZ_NONE for one without edges, which
 * makes the saliency of all its edges QFZ_NONE. SURE: all edges have levels. */
template <bool SURE>
QFZ_DEVICE void choose(const eight_wide_work &w, int j, uint32_t self, const wide_around &l,
                       eight_chosen &p, pair32 &top)
{
    const wide_choice best[2] = {choose_way<0>(w, j, l), choose_way<1>(w, j, l)};
    QFZ_EACH (c, 2) {
        const bool none = !SURE && best[c].level == QFZ_NONE;
        const uint32_t way = none ? WAY_OUT : best[c].way, bit = 1u << (2 * j + 16 * c);
        p.later |= way & WAY_LATER ? bit : 0;
        p.waits |= way & WAY_WAITS ? bit : 0;
        p.none |= none ? bit : 0;
        top.level[c] = way & WAY_WAITS && !none ? 0 : best[c].level;
    }
    const uint32_t ways = low_halves(p.none >> (2 * j) & 1 ? WAY_OUT : best[0].way,
                                     p.none >> (2 * j + 16) & 1 ? WAY_OUT : best[1].way);
    /* the 16-bit halves may borrow from each other; the final sum cancels the borrow */
    p.to[j] = self - WAY_SELF * ONES + (uint32_t)j * ROW_BELOW + (ways & 0x01ff01ffu);
}

/* ---- Edges that leave ------------------------------------------------------------------------ */

/* The key of the lightest of three edges numbered of_first, of_second, of_third. */
QFZ_DEVICE eight_wide_work::KEY leaving_key(uint32_t first, uint32_t of_first, uint32_t second,
                                            uint32_t of_second, uint32_t third, uint32_t of_third)
{
    const uint32_t level = min(min(first, second), third);
    uint32_t which = 3;
    if (first == level) which = of_first;
    if (second == level) which = min(which, of_second);
    if (third == level) which = min(which, of_third);
    if (level == QFZ_NONE) return eight_wide_work::NO_KEY;
    return (eight_wide_work::KEY)level << 16 | LEAVES | which;
}

/* Fills leave[] for the first and the last column. */
QFZ_DEVICE void show_sides(eight_wide_work &w, int j, const wide_around &l)
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
    const int row = w.warp * EIGHT_ROWS + j;
    if (!(first | last)) return;
    const uint32_t up = first ? l.above.diagonal[0] : l.above.anti[2];
    const uint32_t straight = first ? l.right[0] : l.right[2];
    const uint32_t down = first ? l.below.anti[0] : l.below.diagonal[2];
    w.m.leave[(first ? LEFT : RIGHT) + row] = leaving_key(up, 0, straight, 1, down, 2);
    if (first) return;
    w.m.leaving.level[QFZ_LEAVING_RIGHT][row] = l.right[2];
    w.m.leaving.level[QFZ_LEAVING_RIGHT_DOWN][row] = l.below.diagonal[2];
    w.m.leaving.level[QFZ_LEAVING_RIGHT_UP][row] = l.below.anti[2];
}

/* The same for the first and the last row of the block. */
QFZ_DEVICE void show_ends(eight_wide_work &w, int j, const wide_around &l)
{
    const int x = 2 * w.lane;
    if (j == 0 && w.warp == 0) {
        QFZ_EACH (c, 2)
            w.m.leave[TOP + x + c] =
                leaving_key(l.above.diagonal[c], 0, l.above.down[c], 1, l.above.anti[c + 1], 2);
        if (w.lane == QFZ_WARP - 1) w.m.leaving.corner = l.above.anti[2];
    }
    if (j < EIGHT_ROWS - 1 || w.warp < eight_wide_work::WARPS - 1) return;
    QFZ_EACH (c, 2) {
        w.m.leave[BOTTOM + x + c] =
            leaving_key(l.below.down[c], 0, l.below.diagonal[c + 1], 1, l.below.anti[c], 2);
        w.m.leaving.level[QFZ_LEAVING_DOWN][x + c] = l.below.down[c];
        w.m.leaving.level[QFZ_LEAVING_DOWN_RIGHT][x + c] = l.below.diagonal[c + 1];
        w.m.leaving.level[QFZ_LEAVING_DOWN_LEFT][x + c] = l.below.anti[c + 1];
    }
}

/* ---- The first round ------------------------------------------------------------------------- */

/* Bits of the edges of row j that have a level. */
QFZ_DEVICE uint32_t existing(int j, const wide_around &l)
{
    uint32_t bits = 0;
    QFZ_EACH (c, 2) {
        const uint32_t bit = 1u << (j + 16 * c);
        bits |= l.right[c + 1] != QFZ_NONE ? bit << AT_RIGHT : 0;
        bits |= l.below.down[c] != QFZ_NONE ? bit << AT_DOWN : 0;
        bits |= l.below.diagonal[c + 1] != QFZ_NONE ? bit << AT_DIAGONAL : 0;
        bits |= l.below.anti[c + 1] != QFZ_NONE ? bit << AT_ANTI : 0;
    }
    return bits;
}

/* The variant (block_launch.cuh). */
struct eight_wide_way {
    typedef eight_wide_work WORK;
    typedef settled_px<WORK, uint32_t> SETTLED;
    typedef not_needed THERE;
    typedef eight_chosen CHOSEN;
    typedef eight_edges<WORK> EDGES;
    template <typename T> using BAND = eight_band<T>;
    typedef eight_keys KEYS;
    enum { BLOCKS = 2, SHOWS_TOPS = false };

    template <bool FULL, typename SOURCE>
    static QFZ_DEVICE void first_round(WORK &w, const SOURCE &source,
                                       const typename SOURCE::values &in, CHOSEN &p,
                                       pair32 top[EIGHT_ROWS], EDGES &edges, THERE &)
    {
        const bool SURE = FULL && SOURCE::HAS_LEVELS;
        const uint32_t self = own_pixels(w);
        uint32_t exist = 0;
        typename SOURCE::squares squares = {};
        typename SOURCE::row_values row = source.template row<FULL>(w, in, 1);
        wide_around l;
        l.above = source.template between<FULL>(w, source.template row<FULL>(w, in, 0), row, -1);
        p.later = p.waits = p.none = 0;
        QFZ_EACH (j, EIGHT_ROWS) {
            const typename SOURCE::row_values below = source.template row<FULL>(w, in, j + 2);
            source.template right<FULL>(w, row, j, l.right);
            l.below = source.template between<FULL>(w, row, below, j);
            source.look(w, squares, j, row, below, l.right, l.below);
            choose<SURE>(w, j, self, l, p, top[j]);
            show_sides(w, j, l);
            show_ends(w, j, l);
            if (!SURE) exist |= existing(j, l);
            l.above = l.below;
            row = below;
        }
        if (w.forest.keeps_ring) clear_tops(w, top, keep_ring(w, WORK::SHAPE::EVEN, self, p));
        const uint32_t drops = dropped(w, source.template drops<FULL>(w, in, squares));
        edges.needed = (SURE ? 0xffffffffu : exist) & ~drops;
    }
};
