/* SPDX-License-Identifier: MIT */
/* eight_wide.cuh - eight neighbours and levels of 32 bits, from one band of 32 bits or
 * from planes of levels; edges, squares and masks are named as in eight_pixels.cuh.
 *
 * A source has load(): loads what a thread needs; row(): one seen row; right(): the levels to the
 * right in a row; between(): those between a row and the next; look(): accumulates what drops()
 * needs of the squares between two rows; drops(): the edges that these squares drop; and
 * load_again(): the levels of the thread's edges once more. */
#pragma once

#include "gpu/forest/block_band.cuh"
#include "gpu/forest/eight_collect.cuh"

typedef block_work<eight_wide_shape> eight_wide_work;

/* Levels of edges between a row and the next, of the squares that begin at the thread's two
 * columns; diagonal[0] and anti[0] are of the column before. */
struct wide_between {
    uint32_t down[2], diagonal[3], anti[3];
};

typedef eight_edges<eight_wide_work> eight_wide_edges;

/* ---- One band -------------------------------------------------------------------------------- */

template <typename T> QFZ_DEVICE bool is_over(uint32_t a, uint32_t b)
{
    return (T)a > (T)b;
}
template <> QFZ_DEVICE bool is_over<float>(uint32_t a, uint32_t b)
{
    return __uint_as_float(a) > __uint_as_float(b);
}

template <typename T> struct eight_band {
    band_view<T> band;
    /* true: if all pixels are valid, every edge has a level below QFZ_NONE */
    static const bool HAS_LEVELS = std::is_same<T, float>::value;
    typedef band_values<eight_wide_work> values;

    static eight_band of(const qfz_gpu_edges *edges)
    {
        return {band_of<T>(edges)};
    }

    /* The thread's pixels of a row and those beside them. */
    struct row_values {
        uint32_t v[4];
        bool there[4];
    };

    /* Masks: the first pixel of an edge is the greater (find_drops()). */
    struct squares {
        uint32_t right, down, diagonal, anti, side;
    };

    QFZ_DEVICE bool load(const eight_wide_work &w, values &in) const
    {
        return load_band(w, band, in);
    }

    template <bool FAST>
    static QFZ_DEVICE row_values row(const eight_wide_work &w, const values &in, int i)
    {
        const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
        const uint32_t side = side_of(w, in.side, i);
        const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, in.v[i][1], 1);
        const uint32_t next = of_next_lane(in.v[i][0]);
        row_values r = {{first ? side : before, in.v[i][0], in.v[i][1], last ? side : next},
                        {true, true, true, true}};
        if (FAST) return r;
        const uint32_t own = in.valid >> i, beside = in.side_valid >> i;
        const uint32_t own_before = __shfl_up_sync(QFZ_ALL_LANES, own, 1) >> 16;
        const uint32_t own_next = of_next_lane(own);
        r.there[0] = (first ? beside : own_before) & 1;
        r.there[1] = own & 1;
        r.there[2] = own >> 16 & 1;
        r.there[3] = (last ? beside : own_next) & 1;
        return r;
    }

    /* The level between pixel k of one row and pixel l of another. */
    template <bool FAST>
    static QFZ_DEVICE uint32_t level(const row_values &a, int k, const row_values &b, int l)
    {
        const uint32_t level = level_between<T, FAST>(a.v[k], b.v[l]);
        return FAST || (a.there[k] && b.there[l]) ? level : QFZ_NONE;
    }

    template <bool FAST>
    QFZ_DEVICE void right(const eight_wide_work &, const row_values &row, int,
                          uint32_t level_of[3]) const
    {
        QFZ_EACH (k, 3)
            level_of[k] = level<FAST>(row, k, row, k + 1);
    }

    template <bool FAST>
    QFZ_DEVICE wide_between between(const eight_wide_work &, const row_values &row,
                                    const row_values &below, int) const
    {
        wide_between l;
        QFZ_EACH (k, 3) {
            if (k > 0) l.down[k - 1] = level<FAST>(row, k, below, k);
            l.diagonal[k] = level<FAST>(row, k, below, k + 1);
            l.anti[k] = level<FAST>(row, k + 1, below, k);
        }
        return l;
    }

    /* Compares the pixels of the squares that begin in row j of the thread. */
    QFZ_DEVICE void look(const eight_wide_work &, squares &s, int j, const row_values &row,
                         const row_values &below, const uint32_t[3], const wide_between &) const
    {
        auto bit = [](const row_values &a, int k, const row_values &b, int l, uint32_t mask) {
            return is_over<T>(a.v[k], b.v[l]) ? mask : 0u;
        };
        QFZ_EACH (c, 2) {
            const int k = c + 1;
            const uint32_t mask = 1u << (j + 16 * c);
            s.right |= bit(row, k, row, k + 1, mask);
            if (j == EIGHT_ROWS - 1) s.right |= bit(below, k, below, k + 1, mask << 1);
            s.down |= bit(row, k, below, k, mask);
            s.diagonal |= bit(row, k, below, k + 1, mask);
            s.anti |= bit(row, k + 1, below, k, mask);
            s.side |= bit(row, k + 1, below, k + 1, mask);
        }
    }

    template <bool FAST>
    static QFZ_DEVICE eight_drops drops(const eight_wide_work &w, const values &in,
                                        const squares &s)
    {
        eight_there there = {};
        if (!FAST) {
            const uint32_t next = of_next_lane(in.valid);
            there.pixel = in.valid;
            there.r_pixel = shifted(in.valid, w.lane == QFZ_WARP - 1 ? in.side_valid : next);
        }
        return find_drops<FAST>(there, s.right, s.down, s.diagonal, s.anti, s.side);
    }

    template <bool FINITE>
    static QFZ_DEVICE void find_inside(const uint32_t v[][2], eight_wide_edges &e)
    {
        uint32_t next = of_next_lane(v[0][0]);
        QFZ_EACH (j, EIGHT_ROWS) {
            const uint32_t next_below = of_next_lane(v[j + 1][0]);
            const uint32_t row[3] = {v[j][0], v[j][1], next};
            const uint32_t below[3] = {v[j + 1][0], v[j + 1][1], next_below};
            QFZ_EACH (c, 2) {
                e.right[j].level[c] = level_between<T, FINITE>(row[c], row[c + 1]);
                e.down[j].level[c] = level_between<T, FINITE>(row[c], below[c]);
                e.diagonal[j].level[c] = level_between<T, FINITE>(row[c], below[c + 1]);
                e.anti[j].level[c] = level_between<T, FINITE>(row[c + 1], below[c]);
            }
            next = next_below;
        }
    }

    template <bool FULL>
    QFZ_DEVICE void load_again(const eight_wide_work &w, eight_wide_edges &e) const
    {
        load_edges<FULL>(w, *this, e);
    }
};

/* ---- Squares
 * -----------------------------------------------------------------------------------*/

/* The edges of a square of 2 x 2 pixels, in the order of their ids. An edge that is the heaviest of
 * a cycle in the square does not change any minimax level, so that the rounds omit it: of six edges
 * a square retains at least three. */
enum {
    QFZ_TOP = 0,
    QFZ_LEFT,
    QFZ_DIAGONAL,
    QFZ_SIDE_RIGHT,
    QFZ_ANTIDIAGONAL,
    QFZ_BOTTOM,
    QFZ_SQUARE
};

/* The order of the edges of a square: by level, then by id. */
struct qfz_square_order {
    const uint32_t *level;

    template <int E, int A> QFZ_DEVICE bool over() const
    {
        return E > A ? level[E] >= level[A] : level[E] > level[A];
    }

    /* Bit E: edge E is the heaviest of a cycle.  Edges A and B connect the ends of E by the third
     * corner of the square, edges C and D by the fourth corner; edge M connects these corners. */
    template <int E, int A, int B, int C, int D, int M> QFZ_DEVICE unsigned heaviest() const
    {
        const bool a = over<E, A>(), b = over<E, B>(), c = over<E, C>(), d = over<E, D>(),
                   m = over<E, M>();
        return (unsigned)((a & b) | (c & d) | (m & ((a & d) | (c & b)))) << E;
    }
};

/* Bit e: edge e of the square is the heaviest of a cycle in the square. */
QFZ_DEVICE unsigned qfz_square_drops(const uint32_t level[QFZ_SQUARE])
{
    enum {
        T = QFZ_TOP,
        L = QFZ_LEFT,
        X = QFZ_DIAGONAL,
        R = QFZ_SIDE_RIGHT,
        A = QFZ_ANTIDIAGONAL,
        B = QFZ_BOTTOM
    };
    const qfz_square_order order = {level};
    return order.heaviest<T, L, A, X, R, B>() | order.heaviest<L, T, A, X, B, R>() |
           order.heaviest<X, T, R, L, B, A>() | order.heaviest<R, T, X, A, B, L>() |
           order.heaviest<A, T, L, R, B, X>() | order.heaviest<B, L, X, A, R, T>();
}

/* ---- Planes of levels ------------------------------------------------------------------------ */

struct eight_keys {
    const uint32_t *keys;
    int64_t n_px;
    static const bool HAS_LEVELS = false;

    static eight_keys of(const qfz_gpu_edges *edges)
    {
        return {edges->d_levels, (int64_t)edges->h * edges->w};
    }

    struct values {
    };
    struct row_values {
    };
    typedef eight_drops squares;

    QFZ_DEVICE bool load(const eight_wide_work &w, values &) const
    {
        return is_inside(w);
    }

    template <bool FAST>
    static QFZ_DEVICE row_values row(const eight_wide_work &, const values &, int)
    {
        return {};
    }

    /* The level of the edge that starts in row j of the thread at column c. */
    QFZ_DEVICE uint32_t at(const eight_wide_work &w, int direction, int j, int c) const
    {
        const int32_t y = w.box.y + w.warp * EIGHT_ROWS + j, x = w.box.x + 2 * w.lane + c;
        if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return QFZ_NONE;
        return __ldg(keys + direction * n_px + (int64_t)y * w.forest.w + x);
    }

    template <bool FAST>
    QFZ_DEVICE void right(const eight_wide_work &w, const row_values &, int j,
                          uint32_t level_of[3]) const
    {
        QFZ_EACH (k, 3)
            level_of[k] = at(w, QFZ_RIGHT, j, k - 1);
    }

    template <bool FAST>
    QFZ_DEVICE wide_between between(const eight_wide_work &w, const row_values &,
                                    const row_values &, int j) const
    {
        wide_between l;
        QFZ_EACH (k, 3) {
            if (k > 0) l.down[k - 1] = at(w, QFZ_BELOW, j, k - 1);
            l.diagonal[k] = at(w, QFZ_BELOW_RIGHT, j, k - 1);
            l.anti[k] = at(w, QFZ_BELOW_LEFT, j, k);
        }
        return l;
    }

    QFZ_DEVICE void look(const eight_wide_work &w, squares &s, int j, const row_values &,
                         const row_values &, const uint32_t right_of[3],
                         const wide_between &l) const
    {
        QFZ_EACH (c, 2) {
            uint32_t level[QFZ_SQUARE];
            level[QFZ_TOP] = right_of[c + 1];
            level[QFZ_LEFT] = l.down[c];
            level[QFZ_DIAGONAL] = l.diagonal[c + 1];
            level[QFZ_SIDE_RIGHT] = at(w, QFZ_BELOW, j, c + 1);
            level[QFZ_ANTIDIAGONAL] = l.anti[c + 1];
            level[QFZ_BOTTOM] = at(w, QFZ_RIGHT, j + 1, c);
            const unsigned drops = qfz_square_drops(level);
            const int to = j + 16 * c;
            s.top |= (drops >> QFZ_TOP & 1) << to;
            s.left |= (drops >> QFZ_LEFT & 1) << to;
            s.diagonal |= (drops >> QFZ_DIAGONAL & 1) << to;
            s.anti |= (drops >> QFZ_ANTIDIAGONAL & 1) << to;
            s.side |= (drops >> QFZ_SIDE_RIGHT & 1) << to;
            s.bottom |= (drops >> QFZ_BOTTOM & 1) << to;
        }
    }

    template <bool FAST>
    static QFZ_DEVICE eight_drops drops(const eight_wide_work &, const values &, const squares &s)
    {
        return s;
    }

    template <bool FULL>
    QFZ_DEVICE void load_again(const eight_wide_work &w, eight_wide_edges &e) const
    {
        QFZ_EACH (j, EIGHT_ROWS)
            QFZ_EACH (c, 2) {
                e.right[j].level[c] = at(w, QFZ_RIGHT, j, c);
                e.down[j].level[c] = at(w, QFZ_BELOW, j, c);
                e.diagonal[j].level[c] = at(w, QFZ_BELOW_RIGHT, j, c);
                e.anti[j].level[c] = at(w, QFZ_BELOW_LEFT, j, c + 1);
            }
    }
};
