/* SPDX-License-Identifier: MIT */
/* saliency_columns.cuh - what becomes of a block's vertices, and of those beside it, in the first
 * rounds of the graph of all blocks: most edges that blocks leave open are decided by that. */
#ifndef QFZ_GPU_SALIENCY_COLUMNS_CUH
#define QFZ_GPU_SALIENCY_COLUMNS_CUH

#include "gpu/forest/boruvka_climb.cuh"
#include "gpu/saliency/saliency.cuh"

enum { STATES = 8 };

/* Of a column, after rounds 0 to d of the graph: the vertex it belongs to, and the greatest level
 * up to there. */
template <typename T, int N> struct query_columns {
    uint32_t vertex[STATES][N];
    T level[STATES][N];
};

template <typename T, int N>
static __device__ __forceinline__ void make_column(query_columns<T, N> &columns,
                                                   const uint2 *__restrict__ up, uint32_t column,
                                                   uint32_t vertex)
{
    uint2 from = __ldg(&up[vertex]);
    uint32_t level = 0;
#pragma unroll
    for (int d = 0; d < STATES; d++) {
        if ((from.x & QFZ_UP_ROOT) == (uint32_t)d) {
            vertex = from.x >> QFZ_UP_BITS;
            level = max(level, from.y);
            from = __ldg(&up[vertex]);
        }
        columns.vertex[d][column] = vertex;
        columns.level[d][column] = (T)level;
    }
}

/* The greatest level up to the first state in which two columns are one vertex.  Where they are in
 * none it is that up to the last, and *open is true. */
template <typename T, int N>
static __device__ __forceinline__ uint32_t meet(const query_columns<T, N> &columns, uint32_t u,
                                                uint32_t v, bool *open)
{
    static_assert(STATES == 8, "gone through by halves");
    const uint32_t(*const vertex)[N] = columns.vertex;
    int d = vertex[3][u] != vertex[3][v] ? 4 : 0;
    d += vertex[d + 1][u] != vertex[d + 1][v] ? 2 : 0;
    d += vertex[d][u] != vertex[d][v] ? 1 : 0;
    *open = d == STATES - 1 && vertex[d][u] != vertex[d][v];
    return (uint32_t)max(columns.level[d][u], columns.level[d][v]);
}

/* What then follows, from `level` on. */
template <typename T, int N>
static __device__ __forceinline__ uint32_t climb_on(const query_columns<T, N> &columns,
                                                    const uint2 *__restrict__ up, uint32_t u,
                                                    uint32_t v, uint32_t level)
{
    const uint32_t *const last = columns.vertex[STATES - 1];
    return climb(up, last[u], last[v], level);
}

#endif
