/* SPDX-License-Identifier: MIT */
/* four_wide_pixels.cuh - four neighbours and levels of 32 bits: the first round, the edges that
 * are dropped and those that leave the block, row by row to save registers. */
#pragma once

#include "gpu/forest/block_steps.cuh"
#include "gpu/forest/four_wide.cuh"

/* ---- Choose ---------------------------------------------------------------------------------- */

/* Chooses the ways of a thread's two pixels of row j, whose seen row is `row`, the next one
 * `below`. Candidates are considered from the last in their order to the first. top: the levels of
 * the chosen edges; QFZ_NONE for a pixel without edges, which makes the saliency of all its edges
 * QFZ_NONE. SURE: all edges have levels. */
template <bool SURE>
QFZ_DEVICE uint32_t choose(const wide_work &w, int j, const wide_row &row, const wide_row &below,
                           pair32 &top)
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
    const bool upmost = j == 0 && w.warp == 0;
    const bool lowest = j == OWN_ROWS - 1 && w.warp == wide_work::WARPS - 1;
    const uint32_t left = first ? OUT : TO_LEFT, right = last ? OUT : TO_RIGHT;
    uint32_t way[2];
    QFZ_EACH (c, 2) {
        wide_choice best = {below.down[c], lowest ? OUT : TO_DOWN};
        consider(best, row.right[c], c ? right : TO_RIGHT, c && last);
        consider(best, c ? row.right[0] : row.left, c ? TO_LEFT : left, !c && first);
        consider(best, row.down[c], upmost ? OUT : TO_UP, upmost);
        const bool none = !SURE && best.level == QFZ_NONE;
        way[c] = none ? NO_WAY : best.way;
        top.level[c] = best.way == OUT && !none ? 0 : best.level;
    }
    return low_halves(way[0], way[1]);
}

/* ---- Edges that are not needed --------------------------------------------------------------- */

/* Masks of squares, as in heaviest_edges, in which an edge is the greatest. */
struct wide_greatest {
    uint32_t bottom, side, left, above;
};

/* Compares the edges of the squares between two seen rows, the first of which is row j. */
QFZ_DEVICE void look_at_square(wide_greatest &greatest, int j, const wide_row &row,
                               const wide_row &below)
{
    QFZ_EACH (c, 2) {
        const uint32_t top = row.right[c], left = below.down[c], bottom = below.right[c];
        const uint32_t side = c ? below.next_down : below.down[1];
        const uint32_t most = max(max(top, left), max(side, bottom));
        const uint32_t bit = 1u << (2 * max(j, 0) + 16 * c);
        if (j < 0) {
            greatest.above |= bottom == most ? bit : 0;
            continue;
        }
        greatest.bottom |= bottom == most ? bit : 0;
        greatest.side |= side == most ? bit : 0;
        greatest.left |= left == most ? bit : 0;
    }
}

/* Of the greatest of a square's edges the last in the order top, left, side (right), bottom is the
 * heaviest, as in the order of edge ids. A square with missing edges drops a missing one. */
QFZ_DEVICE heaviest_edges heaviest_of(const wide_greatest &greatest)
{
    const uint32_t others = greatest.bottom | greatest.side;
    return {wide_shape::EVEN & ~(others | greatest.left), greatest.left & ~others,
            greatest.side & ~greatest.bottom, greatest.bottom, greatest.above};
}

/* ---- Edges that leave ------------------------------------------------------------------------ */

template <bool SURE> QFZ_DEVICE wide_work::KEY leaving_key(uint32_t level)
{
    if (!SURE && level == QFZ_NONE) return wide_work::NO_KEY;
    return (wide_work::KEY)level << 16 | LEAVES;
}

/* Fills leave[] for row j; arguments as in choose(). */
template <bool SURE>
QFZ_DEVICE void show_leaving(wide_work &w, int j, const wide_row &row, const wide_row &below)
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
    wide_work::KEY *const side = w.m.leave + (first ? LEFT : RIGHT) + w.warp * OWN_ROWS;
    if (first | last) side[j] = leaving_key<SURE>(first ? row.left : row.right[1]);
    const bool upmost = j == 0 && w.warp == 0;
    const bool lowest = j == OWN_ROWS - 1 && w.warp == wide_work::WARPS - 1;
    if (!upmost && !lowest) return;
    wide_work::KEY *const leave = w.m.leave + (upmost ? TOP : BOTTOM) + 2 * w.lane;
    QFZ_EACH (c, 2)
        leave[c] = leaving_key<SURE>(upmost ? row.down[c] : below.down[c]);
}

/* Marks the leaving edges that are dropped. An edge that begins outside is not marked here, but in
 * the block where it begins. */
QFZ_DEVICE void mark_leaving(wide_work &w, uint32_t drop_r, uint32_t drop_d)
{
    if (w.lane == QFZ_WARP - 1)
        for (uint32_t left = drop_r >> 16; left; left &= left - 1)
            w.m.leave[RIGHT + w.warp * OWN_ROWS + (__ffs((int)left) - 1) / 2] |= DROPPED;
    if (w.warp < wide_work::WARPS - 1) return;
    const uint32_t last_row = drop_d >> (2 * OWN_ROWS - 2);
    if (last_row & 1) w.m.leave[BOTTOM + 2 * w.lane] |= DROPPED;
    if (last_row >> 16 & 1) w.m.leave[BOTTOM + 2 * w.lane + 1] |= DROPPED;
}

/* ---- The first round ------------------------------------------------------------------------- */

/* The mask of the missing edges of row j. */
QFZ_DEVICE uint32_t missing(int j, const uint32_t level[2])
{
    return (level[0] == QFZ_NONE ? 1u << (2 * j) : 0) |
           (level[1] == QFZ_NONE ? 0x10000u << (2 * j) : 0);
}

/* The variant (block_launch.cuh). */
struct wide_way {
    typedef wide_work WORK;
    typedef settled_px<WORK, edge_masks> SETTLED;
    typedef not_needed THERE;
    typedef chosen_ways<WORK> CHOSEN;
    typedef four_edges<WORK> EDGES;
    template <typename T> using BAND = wide_band<T>;
    typedef wide_keys KEYS;
    enum { BLOCKS = 3, SHOWS_TOPS = true };

    template <bool FULL, typename SOURCE>
    static QFZ_DEVICE void first_round(WORK &w, const SOURCE &, typename SOURCE::values &in,
                                       CHOSEN &p, pair32 top[OWN_ROWS], EDGES &edges, THERE &)
    {
        const bool SURE = FULL && SOURCE::HAS_LEVELS;
        const uint32_t self = own_pixels(w);
        uint32_t drop_r, drop_d, inside_r, inside_d, missing_r = 0, missing_d = 0;
        wide_greatest greatest = {0, 0, 0, 0};
        p.waits = p.none = p.right = p.left = 0;
        wide_row row = SOURCE::template row<FULL>(w, in, 0);
#pragma unroll
        for (int i = 1; i < SEEN_ROWS; i++) {
            const int j = i - 2;
            const wide_row below = SOURCE::template row<FULL>(w, in, i);
            look_at_square(greatest, j, row, below);
            if (j >= 0) {
                record_ways<SURE>(p, j, self, choose<SURE>(w, j, row, below, top[j]));
                show_top(w, j, top[j]);
                show_leaving<SURE>(w, j, row, below);
                missing_r |= SURE ? 0 : missing(j, row.right);
                missing_d |= SURE ? 0 : missing(j, below.down);
            }
            row = below;
        }
        if (w.forest.keeps_ring) {
            const uint32_t ring = keep_ring(w, WORK::SHAPE::EVEN, self, p);
            QFZ_EACH (j, OWN_ROWS) {
                clear_where(top[j], ring, 2 * j);
                show_top(w, j, top[j]);
            }
        }
        end_choice(p);
        find_dropped(w, heaviest_of(greatest), &drop_r, &drop_d);
        mark_leaving(w, drop_r, drop_d);
        edges_inside(w, &inside_r, &inside_d);
        edges.needed_r = inside_r & ~drop_r & ~missing_r;
        edges.needed_d = inside_d & ~drop_d & ~missing_d;
    }
};
