/* SPDX-License-Identifier: MIT */
/* saliency_columns.cuh - the tables of a query: for each vertex of a block, and each vertex beside
 * it, the vertex to which it belongs after each of the first rounds of the graph of all blocks.
 * These tables decide most edges that the blocks leave open. */
#pragma once

#include "gpu/forest/boruvka_climb.cuh"
#include "gpu/saliency/saliency.cuh"

enum { STATES = 8 };

/* A column is one vertex. After rounds 0 .. d of the graph: the vertex that it has been joined to,
 * and the greatest level on the way there. */
template <typename T, int N> struct query_columns {
    uint32_t vertex[STATES][N];
    T level[STATES][N];
};

template <typename T, int N>
QFZ_DEVICE void make_column(query_columns<T, N> &columns, const uint2 *__restrict__ up,
                            uint32_t column, uint32_t vertex)
{
    uint2 from = __ldg(&up[vertex]);
    uint32_t level = 0;
    QFZ_EACH (d, STATES) {
        if ((from.x & QFZ_UP_ROOT) == (uint32_t)d) {
            vertex = from.x >> QFZ_UP_BITS;
            level = max(level, from.y);
            from = __ldg(&up[vertex]);
        }
        columns.vertex[d][column] = vertex;
        columns.level[d][column] = (T)level;
    }
}

/* The saliency of an edge between two columns: the greatest level up to the first state in which
 * both are one vertex. If there is no such state, *open is true, and the result is the greatest
 * level up to the last state. */
template <typename T, int N>
QFZ_DEVICE uint32_t meet(const query_columns<T, N> &columns, uint32_t u, uint32_t v, bool *open)
{
    static_assert(STATES == 8, "gone through by halves");
    const uint32_t(*const vertex)[N] = columns.vertex;
    int d = vertex[3][u] != vertex[3][v] ? 4 : 0;
    d += vertex[d + 1][u] != vertex[d + 1][v] ? 2 : 0;
    d += vertex[d][u] != vertex[d][v] ? 1 : 0;
    *open = d == STATES - 1 && vertex[d][u] != vertex[d][v];
    return (uint32_t)max(columns.level[d][u], columns.level[d][v]);
}

/* Climbs from the last state on; the greater of `level` and the greatest level on the way. */
template <typename T, int N>
QFZ_DEVICE uint32_t climb_on(const query_columns<T, N> &columns, const uint2 *__restrict__ up,
                             uint32_t u, uint32_t v, uint32_t level)
{
    const uint32_t *const last = columns.vertex[STATES - 1];
    return climb(up, last[u], last[v], level);
}
