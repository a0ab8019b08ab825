/* SPDX-License-Identifier: MIT */
/* eight_collect.cuh - eight neighbours: the edges that leave the block, the roots of the
 * first round, and the list of edges that this round leaves open. */
#pragma once

#include "gpu/forest/block_steps.cuh"
#include "gpu/forest/eight_pixels.cuh"

/* ---- Edges that leave the block -------------------------------------------------------------- */

/* Fills leave[] for the pixels of the first or the last row. An edge to the left of the first
 * column is handled with that column. */
template <bool FULL>
QFZ_DEVICE void show_leaving_row(eight_work &w, const eight_levels &l, const eight_there &there,
                                 bool top)
{
    const int i = top ? 0 : EIGHT_ROWS;
    const uint32_t straight = top ? l.down[0] : l.down[EIGHT_ROWS];
    const uint32_t left = top ? l.diagonal[0] : l.anti[EIGHT_ROWS];
    const uint32_t right = top ? l.anti[0] : l.diagonal[EIGHT_ROWS];
    const uint32_t left_exists = top ? there.diagonal : there.anti;
    const uint32_t right_exists = top ? there.anti : there.diagonal;
    const uint32_t of_left = top ? WAY_OUT : WAY_OUT | 2, of_straight = top ? WAY_OUT | 1 : WAY_OUT;
    const uint32_t of_right = top ? WAY_OUT | 2 : WAY_OUT | 1;
    const uint32_t next_left = key_if<FULL, 1>(left, of_left, left_exists, i);
    const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, next_left, 1);
    const uint32_t key0 = min(min(w.lane == 0 ? EIGHT_NONE : before,
                                  key_if<FULL, 0>(straight, of_straight, there.down, i)),
                              key_if<FULL, 0>(right, of_right, right_exists, i));
    const uint32_t key1 = min(min(key_if<FULL, 0>(left, of_left, left_exists, i),
                                  key_if<FULL, 1>(straight, of_straight, there.down, i)),
                              key_if<FULL, 1>(right, of_right, right_exists, i));
    uint32_t *const leave = w.m.leave + (top ? TOP : BOTTOM) + 2 * w.lane;
    leave[0] = key_to_leave(w, key0);
    leave[1] = key_to_leave(w, key1);
}

/* Stores the levels of the leaving edges that belong to this block (block_leaving.cuh). */
template <bool FULL>
QFZ_DEVICE void show_leaving(eight_work &w, const eight_levels &l, const eight_there &there)
{
    auto column = [&](int kind, const uint32_t level[EIGHT_ROWS]) {
        uint2 *const four = reinterpret_cast<uint2 *>(w.m.leaving.level[kind]) + w.warp;
        *four = make_uint2(high_halves(level[0], level[1]), high_halves(level[2], level[3]));
    };
    auto row = [&](int kind, uint32_t level) {
        reinterpret_cast<uint32_t *>(w.m.leaving.level[kind])[w.lane] = level;
    };
    if (w.lane == QFZ_WARP - 1) {
        column(QFZ_LEAVING_RIGHT, l.right);
        column(QFZ_LEAVING_RIGHT_DOWN, l.diagonal + 1);
        column(QFZ_LEAVING_RIGHT_UP, l.anti + 1);
    }
    if (w.warp == eight_work::WARPS - 1) {
        row(QFZ_LEAVING_DOWN, l.down[EIGHT_ROWS]);
        row(QFZ_LEAVING_DOWN_RIGHT, l.diagonal[EIGHT_ROWS]);
        row(QFZ_LEAVING_DOWN_LEFT, l.anti[EIGHT_ROWS]);
    }
    if (w.warp == 0 || w.warp == eight_work::WARPS - 1)
        show_leaving_row<FULL>(w, l, there, w.warp == 0);
    if (w.thread == QFZ_WARP - 1) {
        const uint32_t key = key_if<FULL, 1>(l.anti[0], 0, there.anti, 0);
        w.m.leaving.corner = key & WAY_NONE ? QFZ_NONE : key >> 16;
    }
}

/* is_leaving(): true if the thread's edge out of the block (block_leaving.cuh) exists and is
 * needed. leaving_level(): its level. */
template <typename KEY>
QFZ_DEVICE bool is_leaving(const block_work<block_shape<KEY, EIGHT_ROWS, true>> &w)
{
    const int kind = w.thread / QFZ_SIDE, place = w.thread % QFZ_SIDE, row = place % EIGHT_ROWS;
    const int at = kind == QFZ_LEAVING_RIGHT                                          ? AT_RIGHT
                   : kind == QFZ_LEAVING_DOWN                                         ? AT_DOWN
                   : kind == QFZ_LEAVING_RIGHT_DOWN || kind == QFZ_LEAVING_DOWN_RIGHT ? AT_DIAGONAL
                                                                                      : AT_ANTI;
    if (kind == QFZ_LEAVING_RIGHT_UP && place == QFZ_SIDE - 1)
        return w.m.leaving.corner != QFZ_NONE;
    if (kind != QFZ_LEAVING_DOWN && kind < QFZ_LEAVING_DOWN_RIGHT)
        return w.m.leaving.right[place / EIGHT_ROWS] >> (16 + at + row) & 1;
    const uint32_t needed = w.m.leaving.bottom[place / 2] >> (16 * (place % 2) + at);
    return qfz_leaving_at(w.thread).is && (needed >> (EIGHT_ROWS - 1) & 1);
}

template <typename KEY>
QFZ_DEVICE uint32_t leaving_level(const block_work<block_shape<KEY, EIGHT_ROWS, true>> &w)
{
    const int kind = w.thread / QFZ_SIDE, place = w.thread % QFZ_SIDE;
    if (kind == QFZ_LEAVING_RIGHT_UP && place == QFZ_SIDE - 1) return w.m.leaving.corner;
    return w.m.leaving.level[kind][place];
}

/* The edge in leave[] of the thread's pixel (block_graph.cuh). */
template <typename KEY>
QFZ_DEVICE first_edge first_edge_of(const block_work<block_shape<KEY, EIGHT_ROWS, true>> &w)
{
    const int at = w.thread % QFZ_SIDE, side = w.thread - at, beyond = (int)QFZ_SIDE;
    const int which = (int)(w.m.leave[w.thread] & 3), aside = which - 1; /* -1: up or left */
    if (side == TOP)
        return {-1, at + aside, -1, at + aside,
                which == 0   ? QFZ_BELOW_RIGHT
                : which == 1 ? QFZ_BELOW
                             : QFZ_BELOW_LEFT};
    if (side == BOTTOM)
        return {beyond, which == 2 ? at - 1 : at + which, beyond - 1, at, QFZ_BELOW + which};
    const bool left = side == LEFT, own = left ? which == 2 : which > 0; /* starts in the block */
    const int x = left ? -1 : beyond, own_x = left ? 0 : beyond - 1;
    const int to_below = left == (which == 0) ? QFZ_BELOW_RIGHT : QFZ_BELOW_LEFT;
    return {at + aside, x, own ? at : at + aside, own ? own_x : x,
            which == 1 ? QFZ_RIGHT : to_below};
}

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Stores the ways of a thread's pixels in shared memory, twice: roots are found in one copy while
 * words of the other are replaced by component numbers. */
template <typename WORK> QFZ_DEVICE void publish(WORK &w, const eight_chosen &p)
{
    QFZ_EACH (j, EIGHT_ROWS) {
        reinterpret_cast<uint32_t *>(w.m.pixel())[two_at(w, j)] = p.to[j];
        reinterpret_cast<uint32_t *>(w.m.further)[two_at(w, j)] = p.to[j];
    }
}

/* Of two pixels that chose each other the first is the root: the mask of a thread's roots. */
template <typename WORK> QFZ_DEVICE uint32_t roots_of(const WORK &w, const eight_chosen &p)
{
    const uint32_t self = own_pixels(w);
    uint32_t other = 0; /* pixels whose choice did not choose them back */
    QFZ_EACH (j, EIGHT_ROWS) {
        const uint32_t back =
            low_halves(at_byte(w.m.further, p.to[j] & 0xffff), at_byte(w.m.further, p.to[j] >> 16));
        other += ones_of(back ^ (self + (uint32_t)j * ROW_BELOW)) << (2 * j);
    }
    return p.later & ~p.waits & ~other;
}

/* ---- Collect --------------------------------------------------------------------------------- */

QFZ_DEVICE void copy_levels(const eight_levels &l, eight_edges<eight_work> &edges)
{
    QFZ_EACH (j, EIGHT_ROWS) {
        edges.right[j] = {l.right[j]};
        edges.down[j] = {l.down[j + 1]};
        edges.diagonal[j] = {l.diagonal[j + 1]};
        edges.anti[j] = {l.anti[j + 1]};
    }
}

/* Removes the edges that the warp above drops, once all warps have stored at_seam[], and stores the
 * needed edges of the last column and row. */
template <typename WORK> QFZ_DEVICE void show_needed(WORK &w, eight_edges<WORK> &edges)
{
    edges.needed &= ~drops_above(w);
    if (w.lane == QFZ_WARP - 1) w.m.leaving.right[w.warp] = edges.needed;
    if (w.warp == WORK::WARPS - 1) w.m.leaving.bottom[w.lane] = edges.needed;
}

/* The mask of a thread's edges between two pixels of the block. */
template <typename WORK> QFZ_DEVICE uint32_t edges_inside(const WORK &w)
{
    const uint32_t in_last_row = (1u << AT_DOWN | 1u << AT_DIAGONAL | 1u << AT_ANTI)
                                 << (EIGHT_ROWS - 1);
    uint32_t inside = 0xffffffffu;
    if (w.lane == QFZ_WARP - 1) inside &= 0xffffu | 0xfu << (16 + AT_DOWN);
    if (w.warp == WORK::WARPS - 1) inside &= ~(in_last_row * ONES);
    return inside;
}

/* The mask of edges whose two pixels have different words. word: a thread's words and those of the
 * row below; right: one place to the right. */
QFZ_DEVICE uint32_t differing(const uint32_t word[EIGHT_ROWS + 1],
                              const uint32_t right[EIGHT_ROWS + 1])
{
    uint32_t bits = 0;
    QFZ_EACH (j, EIGHT_ROWS) {
        bits += ones_of(word[j] ^ right[j]) << (AT_RIGHT + j);
        bits += ones_of(word[j] ^ word[j + 1]) << (AT_DOWN + j);
        bits += ones_of(word[j] ^ right[j + 1]) << (AT_DIAGONAL + j);
        bits += ones_of(right[j] ^ word[j + 1]) << (AT_ANTI + j);
    }
    return bits;
}

QFZ_DEVICE void to_the_right(const uint32_t word[EIGHT_ROWS + 1], uint32_t right[EIGHT_ROWS + 1])
{
#pragma unroll
    for (int j = 0; j <= EIGHT_ROWS; j++)
        right[j] = shifted(word[j], of_next_lane(word[j]));
}

/* Appends the edges that are needed and join two components to the list; returns the mask of all
 * edges that join two components. */
template <typename WORK>
QFZ_DEVICE uint32_t collect(WORK &w, const eight_edges<WORK> &edges,
                            const uint32_t comp[EIGHT_ROWS + 1])
{
    typedef typename WORK::LEVEL LEVEL;
    enum { BYTES = sizeof(LEVEL), ENDS_TO_LEVEL = sizeof(uint32_t) / BYTES };
    uint32_t right[EIGHT_ROWS + 1];
    to_the_right(comp, right);
    const uint32_t between = differing(comp, right);
    const uint32_t open = between & edges.needed & edges_inside(w);
    uint32_t at = BYTES * qfz_take(&w.m.n_list, (uint32_t)__popc(open));
    auto append = [&](int bit, uint32_t ends, uint32_t level) {
        if (!(open >> bit & 1)) return;
        at_byte(w.m.ends, ENDS_TO_LEVEL * at) = ends;
        at_byte(w.m.level, at) = (LEVEL)level;
        at += BYTES;
    };
    auto both = [&](int bit, uint32_t first, uint32_t second, const auto &levels) {
        append(bit, low_halves(first, second), item_of(levels, 0));
        append(bit + 16, high_halves(first, second), item_of(levels, 1));
    };
    QFZ_EACH (j, EIGHT_ROWS) {
        both(AT_RIGHT + j, comp[j], right[j], edges.right[j]);
        both(AT_DOWN + j, comp[j], comp[j + 1], edges.down[j]);
        both(AT_DIAGONAL + j, comp[j], right[j + 1], edges.diagonal[j]);
        both(AT_ANTI + j, right[j], comp[j + 1], edges.anti[j]);
    }
    return between;
}

/* ---- The variant ----------------------------------------------------------------------------- */

/* The variant (block_launch.cuh). */
struct eight_way {
    typedef eight_work WORK;
    typedef settled_px<WORK, uint32_t> SETTLED;
    typedef eight_there THERE;
    typedef eight_chosen CHOSEN;
    typedef eight_edges<WORK> EDGES;
    template <typename T> using BAND = pair_band<T, eight_values>;
    enum { BLOCKS = 2, SHOWS_TOPS = false };

    template <bool FULL, typename SOURCE>
    static QFZ_DEVICE void first_round(WORK &w, const SOURCE &source, typename SOURCE::values &in,
                                       CHOSEN &p, pair16 top[EIGHT_ROWS], EDGES &edges,
                                       THERE &there)
    {
        eight_levels l;
        if (!FULL) load_some(w, source.image, in);
        there = FULL ? eight_there{} : find_there(w, in);
        edges.needed = find_levels<FULL>(w, in, there, l);
        choose<FULL>(w, in, l, there, p, top);
        show_leaving<FULL>(w, l, there);
        copy_levels(l, edges);
    }
};
