/* SPDX-License-Identifier: MIT */
/* filter_edges.cuh - the edges of a pixel, by side, in the area filter. */
#pragma once

#include "gpu/filter/filter_parts.cuh"

/* The edges of a pixel: side 2 d is the edge that starts there in direction d, side 2 d + 1 the one
 * that ends there.  QFZ_FILTER_NO_SIDE: no edge. */
enum { QFZ_FILTER_NO_SIDE = 2 * QFZ_MAX_DIRS };

QFZ_DEVICE int32_t qfz_filter_down(int side)
{
    const int32_t down = side / 2 == QFZ_RIGHT ? 0 : 1;
    return side % 2 ? -down : down;
}

QFZ_DEVICE int32_t qfz_filter_right(int side)
{
    const int d = side / 2;
    const int32_t right = d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1;
    return side % 2 ? -right : right;
}

/* The pixel at the other end, which may be outside the tile; .x, .y. */
QFZ_DEVICE int2 qfz_filter_other(int2 at, int side)
{
    return make_int2(at.x + qfz_filter_right(side), at.y + qfz_filter_down(side));
}

/* The pixel from which the edge starts. */
QFZ_DEVICE int2 qfz_filter_start(int2 at, int side)
{
    return side % 2 ? qfz_filter_other(at, side) : at;
}

/* Edges of a tile by pixel and side. */
template <typename T> struct qfz_filter_edges {
    const qfz_gpu_filter &f;
    const qfz_edge_reader<T> &reader;
    int n_sides;

    /* False if there is no such edge. */
    QFZ_DEVICE bool read(int2 at, int side, uint32_t *level) const
    {
        const int2 start = qfz_filter_start(at, side);
        return start.y >= 0 && start.x >= 0 && start.x < f.w &&
               reader.read(start.y, start.x, side / 2, level);
    }
    QFZ_DEVICE uint32_t level(int2 at, int side) const
    {
        const int2 start = qfz_filter_start(at, side);
        return reader.level_of((int64_t)start.y * f.w + start.x, side / 2);
    }
    QFZ_DEVICE uint64_t position(int2 at, int side) const
    {
        const int2 start = qfz_filter_start(at, side);
        return qfz_position(f.y0 + start.y, f.x0 + start.x, side / 2);
    }
};

/* An edge of a pixel, with its level. */
struct qfz_filter_edge {
    int2 at;
    int side;
    uint32_t level;
};

template <typename EDGES>
QFZ_DEVICE bool qfz_filter_is_before(const EDGES &edges, const qfz_filter_edge &a,
                                     const qfz_filter_edge &b)
{
    if (a.level != b.level) return a.level < b.level;
    return edges.position(a.at, a.side) < edges.position(b.at, b.side);
}

/* The first edge of a pixel for which is_out(pixel at the other end) is true; its side is
 * QFZ_FILTER_NO_SIDE if there is none. */
template <typename EDGES, typename IS_OUT>
QFZ_DEVICE qfz_filter_edge qfz_filter_first_edge(const EDGES &edges, int2 at, const IS_OUT &is_out)
{
    qfz_filter_edge first = {at, QFZ_FILTER_NO_SIDE, 0};
    for (int side = 0; side < edges.n_sides; side++) {
        qfz_filter_edge edge = {at, side, 0};
        if (!edges.read(at, side, &edge.level)) continue;
        if (first.side != QFZ_FILTER_NO_SIDE && edge.level > first.level) continue;
        if (!is_out(qfz_filter_other(at, side))) continue;
        if (first.side == QFZ_FILTER_NO_SIDE || qfz_filter_is_before(edges, edge, first))
            first = edge;
    }
    return first;
}
