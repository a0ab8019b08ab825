/* SPDX-License-Identifier: MIT */
/* saliency_close.cuh - closes the edges inside a block, with the tables of saliency_tables.cuh, and
 * stores their saliencies. The code is one for all variants of the block solver; what depends on
 * the width of levels is in the types pair16 and pair32 (block.cuh), a table_row and look_up().
 *
 * A row of a thread has two pixels, at the same columns in all rows. Edges are taken two at a time,
 * by direction (core/level.h): from the pixels of row j, or from those one place to the right, to
 * those of row j or j + 1, or those one place to the right. */
#pragma once

#include "gpu/forest/eight_pixels.cuh"
#include "gpu/saliency/saliency_tables.cuh"

/* Saliencies of a thread's edges, and masks of the edges that exist (FULL: all exist). Where
 * levels have 32 bits there are no masks: an edge that does not exist has the saliency QFZ_NONE. */
template <typename WAY, bool FULL> struct closing {
    typedef typename WAY::WORK WORK;
    enum { DIRECTIONS = WORK::SHAPE::STARTS };
    typename WORK::PAIR level[DIRECTIONS][WORK::OWN_ROWS];
    typename WAY::THERE there;
};

/* ---- Rows in a table ------------------------------------------------------------------------- */

/* Two pixels in a table: components, or in the last table vertices, and levels. */
template <typename PAIR> struct table_px {
    PAIR comp, top;
};

/* The two pixels of a row, and those one place to the right, which add_right() sets. */
template <typename PAIR> struct table_row;
template <> struct table_row<pair16> {
    table_px<pair16> own, right;
    uint32_t first; /* the first pixel's word in the table */
};
template <> struct table_row<pair32> {
    table_px<pair32> own, right;
};

QFZ_DEVICE table_row<pair16> look_up(uint32_t *table, uint32_t comp)
{
    const uint32_t a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    return {{{low_halves(a, b)}, {high_halves(a, b)}}, {}, a};
}

QFZ_DEVICE void add_right(table_row<pair16> &row)
{
    const uint32_t next = of_next_lane(row.first);
    row.right = {{shifted(row.own.comp.two, next)}, {high_halves(row.own.top.two, next)}};
}

QFZ_DEVICE table_row<pair32> look_up(unsigned long long *table, uint32_t comp)
{
    const unsigned long long a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    return {{{{(uint32_t)a, (uint32_t)b}}, {{(uint32_t)(a >> 32), (uint32_t)(b >> 32)}}}, {}};
}

QFZ_DEVICE void add_right(table_row<pair32> &row)
{
    row.right = {to_right(row.own.comp), to_right(row.own.top)};
}

/* Of a row and the next: the first and the second pixels of the two edges in a direction. */
template <typename ROW> QFZ_DEVICE auto first_of(int direction, const ROW &now)
{
    return direction == QFZ_BELOW_LEFT ? now.right : now.own;
}

template <typename ROW> QFZ_DEVICE auto second_of(int direction, const ROW &now, const ROW &under)
{
    if (direction == QFZ_RIGHT) return now.right;
    return direction == QFZ_BELOW_RIGHT ? under.right : under.own;
}

/* ---- Close ----------------------------------------------------------------------------------- */

template <typename WAY, bool FULL, typename SETTLED_PX>
QFZ_DEVICE void close_by_table(typename WAY::WORK::KEY *table, const SETTLED_PX &s,
                               closing<WAY, FULL> &e)
{
    typedef typename WAY::WORK WORK;
    const bool EIGHT = WORK::SHAPE::EIGHT;
    auto now = look_up(table, s.comp[0]);
    if (EIGHT) add_right(now);
    QFZ_EACH (j, WORK::OWN_ROWS) {
        auto under = look_up(table, s.comp[j + 1]);
        add_right(EIGHT ? under : now);
        QFZ_EACH (d, (closing<WAY, FULL>::DIRECTIONS)) {
            const auto a = first_of(d, now), b = second_of(d, now, under);
            replace_where_equal(e.level[d][j], a.comp, b.comp, greater(a.top, b.top));
        }
        now = under;
    }
}

/* The tops of a row's pixels, and those one place to the right. */
template <typename PAIR> struct top_row {
    PAIR own, right;
};

/* An edge that the first round closed has the greater top of its two pixels as saliency. That level
 * is a lower bound for all other edges. */
template <typename WAY, bool FULL, typename SETTLED_PX>
QFZ_DEVICE void close_by_pixels(const typename WAY::WORK &w, const SETTLED_PX &s,
                                closing<WAY, FULL> &e)
{
    typedef typename WAY::WORK WORK;
    typedef top_row<typename WORK::PAIR> row;
    row now = {s.top_at(w, 0), {}};
    if (WORK::SHAPE::EIGHT) now.right = to_right(now.own);
    QFZ_EACH (j, WORK::OWN_ROWS) {
        row under = {s.top_at(w, j + 1), {}};
        if (WORK::SHAPE::EIGHT)
            under.right = to_right(under.own);
        else
            now.right = to_right(now.own);
        QFZ_EACH (d, (closing<WAY, FULL>::DIRECTIONS)) {
            const auto so_far = only_where(e.level[d][j], ones_at(s.between, d, j));
            e.level[d][j] = greater(so_far, greater(first_of(d, now), second_of(d, now, under)));
        }
        now = under;
    }
}

/* ---- The last table -------------------------------------------------------------------------- */

/* The vertices of a thread's two pixels of row j. */
template <typename KEY, typename SETTLED_PX>
QFZ_DEVICE uint32_t vertices_in(KEY *table, const SETTLED_PX &s, int j)
{
    return halves_of(look_up(table, s.comp[j]).own.comp);
}

/* Lists the open edges; only edges between two pixels that have vertices can be open. */
template <typename WORK>
QFZ_DEVICE void list_open_of(WORK &w, const edge_masks &there,
                             const uint32_t vertex[WORK::OWN_ROWS + 1])
{
    list_open(w, there.right, there.down, vertex);
}

template <typename WORK>
QFZ_DEVICE void list_open_of(WORK &w, const not_needed &, const uint32_t vertex[WORK::OWN_ROWS + 1])
{
    uint32_t has_none = 0;
    QFZ_EACH (j, WORK::OWN_ROWS)
        has_none |= (vertex[j] >> 15 & ONES) << (2 * j);
    const uint32_t below = (vertex[WORK::OWN_ROWS] >> 15 & ONES) << (2 * WORK::OWN_ROWS - 2);
    const uint32_t next = has_none >> 16 | of_next_lane(has_none) << 16;
    const uint32_t under = (has_none >> 2 & WORK::SHAPE::NOT_LAST) | below;
    list_open(w, ~(has_none | next), ~(has_none | under), vertex);
}

/* Stores the vertices of a thread's two pixels of row j. FULL: both have one. */
template <bool FULL, typename WORK>
QFZ_DEVICE void store_vertices(const WORK &w, int j, uint32_t vertices, const vertex_map &open)
{
    const uint32_t none = (vertices >> 15 & ONES) * (uint32_t)QFZ_OPEN_INVALID;
    const uint32_t two = (vertices | none) & (uint32_t)QFZ_OPEN_VERTEX * ONES;
    const int y = w.warp * WORK::OWN_ROWS + j;
    if (y < open.h && w.lane < open.n_words)
        open.first[y * open.pitch + w.lane] = FULL ? vertices : two;
}

/* With the last table: first saliencies of all edges, and the open edges: with four neighbours a
 * list, with eight the vertex of each pixel. */
template <typename WAY, bool FULL, typename SETTLED_PX, typename OPEN>
QFZ_DEVICE void begin_closing(typename WAY::WORK &w, typename WAY::WORK::KEY *table,
                              const SETTLED_PX &s, closing<WAY, FULL> &e, const OPEN &open)
{
    typedef typename WAY::WORK WORK;
    const bool EIGHT = WORK::SHAPE::EIGHT;
    const bool SURE = FULL && sizeof(typename WORK::LEVEL) == sizeof(uint16_t);
    uint32_t vertex[WORK::OWN_ROWS + 1];
    auto now = look_up(table, s.comp[0]);
    vertex[0] = halves_of(now.own.comp);
    if (EIGHT) add_right(now);
    QFZ_EACH (j, WORK::OWN_ROWS) {
        if constexpr (EIGHT) store_vertices<SURE>(w, j, halves_of(now.own.comp), open);
        auto under = look_up(table, s.comp[j + 1]);
        vertex[j + 1] = halves_of(under.own.comp);
        add_right(EIGHT ? under : now);
        QFZ_EACH (d, (closing<WAY, FULL>::DIRECTIONS))
            e.level[d][j] = greater(first_of(d, now).top, second_of(d, now, under).top);
        now = under;
    }
    if constexpr (!EIGHT) {
        list_open_of(w, e.there, vertex);
        store_open(w, table, s, open);
    }
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Moves the levels of the late planes to the places described in saliency.cuh (QFZ_MOVED_WORDS). */
template <typename WAY, bool FULL>
QFZ_DEVICE void move_levels(const typename WAY::WORK &w, closing<WAY, FULL> &e, uint32_t *moved)
{
    QFZ_EACH (j, WAY::WORK::OWN_ROWS) {
        const int y = w.warp * WAY::WORK::OWN_ROWS + j;
        uint32_t *const right = e.level[QFZ_RIGHT][j].level, *const down =
                                                                 e.level[QFZ_BELOW][j].level;
        const uint32_t *const diagonal = e.level[QFZ_BELOW_RIGHT][j].level;
        const uint32_t *const anti = e.level[QFZ_BELOW_LEFT][j].level;
        uint32_t moves[4];
        QFZ_EACH (c, 2) {
            const bool leaves = y == QFZ_SIDE - 1 || (c == 1 && w.lane == QFZ_WARP - 1);
            const bool of_diagonal = !leaves && diagonal[c] < right[c];
            const bool of_anti = !leaves && anti[c] < right[c];
            moves[c] = __ballot_sync(QFZ_ALL_LANES, of_diagonal);
            moves[2 + c] = __ballot_sync(QFZ_ALL_LANES, of_anti);
            if (of_diagonal) right[c] = diagonal[c];
            if (of_anti) down[c] = anti[c];
        }
        if (w.lane == 0)
            reinterpret_cast<uint4 *>(moved)[y] =
                make_uint4(moves[0], moves[1], moves[2], moves[3]);
    }
}

/* Bits c * 16: the two edges of row j in a direction exist; the plane of QFZ_BELOW_LEFT has an edge
 * at its upper right pixel. */
QFZ_DEVICE uint32_t exist_in_plane(const edge_masks &there, int d, int j)
{
    return ones_at(there, d, j);
}

QFZ_DEVICE uint32_t exist_in_plane(const eight_there &there, int d, int j)
{
    return (d == QFZ_BELOW_LEFT ? there.to_left >> j : there.edges >> (EIGHT_ROWS * d + j)) & ONES;
}

QFZ_DEVICE uint32_t exist_in_plane(const not_needed &, int, int)
{
    return ONES;
}

/* Stores the saliencies of all edges except those of planes that are made late. Values of edges
 * that are open or leave the block are not final: the query overwrites them, except those to the
 * left of the tile. FULL: all pixels are in the tile and aligned. */
template <typename WAY, bool FULL, typename T>
QFZ_DEVICE void store_levels(const typename WAY::WORK &w, const closing<WAY, FULL> &e, T *saliency)
{
    typedef typename WAY::WORK WORK;
    enum {
        LATE = WORK::SHAPE::EIGHT && sizeof(T) == sizeof(uint32_t),
        PLANES = LATE ? 2 : (int)WORK::SHAPE::STARTS
    };
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int y = w.warp * WORK::OWN_ROWS, x = 2 * w.lane;
    T *out = saliency + (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
#pragma unroll
    for (int j = 0; j < WORK::OWN_ROWS; j++, out += w.forest.w)
        QFZ_EACH (d, PLANES) {
            auto two = e.level[d][j];
            if (d == QFZ_BELOW_LEFT) two = to_left(w, two);
            if (!FULL) two = none_where_missing(two, exist_in_plane(e.there, d, j));
            store_two_px<FULL>(w, j, out + d * n_px, two);
        }
}
