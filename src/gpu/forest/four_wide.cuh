/* SPDX-License-Identifier: MIT */
/* four_wide.cuh - four neighbours and levels of 32 bits, from one band of 32 bits or from
 * planes of levels, row by row.
 *
 * A source has load(): loads what a thread needs; row(): seen rows 0, 1 ... in turn, seen row i
 * being row i - 1 of the thread; and load_again(): the levels of the thread's edges once more. */
#pragma once

#include "gpu/forest/block_band.cuh"

typedef block_work<wide_shape> wide_work;

/* Levels of a seen row, by column: to the right, and down from the row before to this one; left: to
 * the left of the first column; next_down: down[0] of the lane after. */
struct wide_row {
    uint32_t right[2], down[2], left, next_down;
};

typedef four_edges<wide_work> wide_edges;

/* ---- One band -------------------------------------------------------------------------------- */

template <typename T> struct wide_band {
    band_view<T> band;
    /* true: if all pixels are valid, every edge has a level below QFZ_NONE */
    static const bool HAS_LEVELS = std::is_same<T, float>::value;

    static wide_band of(const qfz_gpu_edges *edges)
    {
        return {band_of<T>(edges)};
    }

    /* next_above: in the row before, the pixel of the lane after. */
    struct values {
        band_values<wide_work> px;
        uint32_t next_above;
    };

    QFZ_DEVICE bool load(const wide_work &w, values &in) const
    {
        in.next_above = 0;
        return load_band(w, band, in.px);
    }

    /* Sets the levels of edges with an invalid pixel to QFZ_NONE. */
    static QFZ_DEVICE void find_missing(const wide_work &w, const values &in, int i, wide_row &row)
    {
        const uint32_t own = in.px.valid;
        uint32_t next = of_next_lane(own), before = __shfl_up_sync(QFZ_ALL_LANES, own, 1) >> 16;
        if (w.lane == QFZ_WARP - 1) next = in.px.side_valid;
        if (w.lane == 0) before = in.px.side_valid;
        const uint32_t right = own & (own >> 16 | next << 16), down = own & own << 1;
        auto none_unless = [i](uint32_t bits, int c) { return (bits >> (i + 16 * c) & 1) - 1; };
        QFZ_EACH (c, 2) {
            row.right[c] |= none_unless(right, c);
            row.down[c] |= none_unless(down, c);
        }
        row.left |= none_unless(own & before, 0);
        row.next_down |= none_unless(next & next << 1, 0);
    }

    template <bool FAST> static QFZ_DEVICE wide_row row(const wide_work &w, values &in, int i)
    {
        auto between = [](uint32_t a, uint32_t b) { return level_between<T, FAST>(a, b); };
        const uint32_t side = side_of(w, in.px.side, i), *const v = in.px.v[i];
        const uint32_t *const above = in.px.v[max(i - 1, 0)];
        uint32_t next = of_next_lane(v[0]);
        if (w.lane == QFZ_WARP - 1) next = side;
        wide_row r = {{between(v[0], v[1]), between(v[1], next)},
                      {between(above[0], v[0]), between(above[1], v[1])},
                      0,
                      between(in.next_above, next)};
        const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, r.right[1], 1);
        r.left = w.lane == 0 ? between(side, v[0]) : left;
        in.next_above = next;
        if (!FAST) find_missing(w, in, i, r);
        return r;
    }

    template <bool FINITE> static QFZ_DEVICE void find_inside(const uint32_t v[][2], wide_edges &e)
    {
        QFZ_EACH (j, OWN_ROWS) {
            e.right[j].level[0] = level_between<T, FINITE>(v[j][0], v[j][1]);
            e.right[j].level[1] = level_between<T, FINITE>(v[j][1], of_next_lane(v[j][0]));
            QFZ_EACH (c, 2)
                e.down[j].level[c] = level_between<T, FINITE>(v[j][c], v[j + 1][c]);
        }
    }

    template <bool FULL> QFZ_DEVICE void load_again(const wide_work &w, wide_edges &e) const
    {
        load_edges<FULL>(w, *this, e);
    }
};

/* ---- Planes of levels ------------------------------------------------------------------------ */

struct wide_keys {
    const uint32_t *right, *down;
    bool even; /* planes are aligned to two pixels */
    static const bool HAS_LEVELS = false;

    static wide_keys of(const qfz_gpu_edges *edges)
    {
        const uint32_t *const right = edges->d_levels;
        return {right, right + (int64_t)edges->h * edges->w, is_even(right, sizeof *right)};
    }

    /* side: levels to the right from the pixels left of the block, and down from those right
     * of it. */
    struct values {
        uint32_t right[SEEN_ROWS][2], down[SEEN_ROWS][2], side;
    };

    static QFZ_DEVICE uint32_t at(const wide_work &w, const uint32_t *plane, int32_t y, int32_t x)
    {
        if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return QFZ_NONE;
        return __ldg(plane + (int64_t)y * w.forest.w + x);
    }

    static QFZ_DEVICE void two_at(const wide_work &w, bool full, const uint32_t *plane, int32_t y,
                                  int32_t x, uint32_t level[2])
    {
        uint2 two;
        if (full)
            two = two_words(plane + (int64_t)y * w.forest.w + x);
        else
            two = make_uint2(at(w, plane, y, x), at(w, plane, y, x + 1));
        level[0] = two.x;
        level[1] = two.y;
    }

    QFZ_DEVICE bool load(const wide_work &w, values &in) const
    {
        const bool full = even && is_inside(w);
        const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
        const int2 beside = side_pixel(w);
        in.side = QFZ_NONE;
        if (w.lane < 2 * SEEN_ROWS)
            in.side = at(w, w.lane < SEEN_ROWS ? right : down, beside.y, beside.x);
        QFZ_EACH (i, SEEN_ROWS) {
            two_at(w, full, right, y0 + i, x0, in.right[i]);
            two_at(w, full, down, y0 + max(i - 1, 0), x0, in.down[i]);
        }
        return full;
    }

    template <bool FAST> static QFZ_DEVICE wide_row row(const wide_work &w, values &in, int i)
    {
        const uint32_t *const r = in.right[i], *const d = in.down[i];
        const uint32_t side = side_of(w, in.side, i), above = side_of(w, in.side, max(i - 1, 0));
        const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, r[1], 1), next = of_next_lane(d[0]);
        return {{r[0], r[1]},
                {d[0], d[1]},
                w.lane == 0 ? side : left,
                w.lane == QFZ_WARP - 1 ? above : next};
    }

    template <bool FULL> QFZ_DEVICE void load_again(const wide_work &w, wide_edges &e) const
    {
        const int32_t y0 = w.box.y + w.warp * OWN_ROWS, x0 = w.box.x + 2 * w.lane;
        QFZ_EACH (j, OWN_ROWS) {
            two_at(w, FULL, right, y0 + j, x0, e.right[j].level);
            two_at(w, FULL, down, y0 + j, x0, e.down[j].level);
        }
    }
};
