/* SPDX-License-Identifier: MIT */
/* saliency_tables.cuh - the order in which edges inside the block get their saliency.
 *
 * Tables tell what each component of the first round has become after each of the list's rounds,
 * and the greatest level on its way there.  The first table in which an edge's two pixels are in
 * one component has its level; so the last one to tell is the first, and tables are gone through
 * backwards.  In the last one components are vertices, and edges between two of them are open. */
#ifndef QFZ_GPU_SALIENCY_TABLES_CUH
#define QFZ_GPU_SALIENCY_TABLES_CUH

#include "gpu/saliency/saliency_rounds.cuh"

/* In the last table: a component * 4 that no edge leads on from. */
enum { NO_VERTEX = 0x8000 };

/* A table's word, or state: the greatest level | component * 4, the level being where components
 * that have hooked themselves have it, too (saliency_rounds.cuh).  The state after such a hook. */
static __device__ __forceinline__ uint32_t state_after(uint32_t state, uint32_t hook)
{
    return level_part(max(state, hook)) | (hook & QFZ_STEP_MASK) * 4;
}

static __device__ __forceinline__ unsigned long long state_after(unsigned long long state,
                                                                 unsigned long long hook)
{
    const uint32_t level = max((uint32_t)(state >> 32), (uint32_t)(hook >> 32));
    return (unsigned long long)level << 32 | ((uint32_t)hook & QFZ_STEP_MASK) * 4;
}

/* The level of what no edge leads on from is that of all edges that are not there.  Edges inside it
 * have got theirs by a table before: it ended in a round in which nothing joined it. */
template <typename KEY> static __device__ __forceinline__ KEY last_state(KEY state, KEY hook)
{
    const uint32_t vertex = (uint32_t)hook & QFZ_STEP_MASK;
    if (vertex == QFZ_STEP_MASK) return level_part(~(KEY)0) | NO_VERTEX | (state & 0xffff);
    return level_part(state) | vertex;
}

/* The tables at context: of n components, for the rounds from `first` on, before `end`. */
struct level_tables {
    uint32_t n, first, end, n_rounds;
};

/* As many tables as there is room for, the last for round end - 1: the components on their ways. */
template <typename WORK>
static __device__ __forceinline__ void make_tables(WORK &w, level_tables &t, uint32_t end)
{
    typedef typename WORK::KEY KEY;
    const uint32_t n = t.n, room = WORK::SHAPE::TABLES / n;
    const uint32_t first = end > room ? end - room : 0;
    t.first = first;
    t.end = end;
#pragma unroll 1
    for (uint32_t c = (uint32_t)w.thread; c < n; c += w.THREADS) {
        KEY state = c * 4, hook = w.m.best[c], *table = w.m.table + c;
#pragma unroll 1
        for (uint32_t round = 0; round < end; round++) {
            if (((uint32_t)hook & QFZ_STEP_ROOT << QFZ_STEP_BITS) == round << QFZ_STEP_BITS) {
                state = state_after(state, hook);
                hook = of_comp(w.m.best, (uint32_t)state & 0xffff);
            }
            if (round < first) continue;
            *table = state;
            table += n;
        }
        if (end == t.n_rounds) *(table - n) = last_state(state, hook);
    }
}

template <typename WORK>
static __device__ __forceinline__ level_tables last_tables(WORK &w, uint32_t n_rounds)
{
    level_tables t = {ACTIVE + (w.m.n_numbers >> 16), 0, 0, n_rounds};
    make_tables(w, t, n_rounds);
    return t;
}

/* ---- Open edges ------------------------------------------------------------------------------ */

/* Open edges, among these to the right and down, to the block's list, as far as it has room. */
template <typename WORK>
static __device__ __forceinline__ void list_open(WORK &w, uint32_t right, uint32_t down,
                                                 const uint32_t vertex[WORK::OWN_ROWS + 1])
{
    uint32_t inside_r, inside_d, open_r = 0, open_d = 0;
#pragma unroll
    for (int j = 0; j < WORK::OWN_ROWS; j++) {
        open_r += ones_of(vertex[j] ^ shifted(vertex[j], of_next_lane(vertex[j]))) << (2 * j);
        open_d += ones_of(vertex[j] ^ vertex[j + 1]) << (2 * j);
    }
    edges_inside(w, &inside_r, &inside_d);
    open_r &= right & inside_r;
    open_d &= down & inside_d;
    const uint32_t n = (uint32_t)(__popc(open_r) + __popc(open_d));
    const uint32_t place = qfz_take(&w.m.n_open, n);
    if (__any_sync(ALL_LANES, place + n > QFZ_OPEN_ROOM)) return;
    uint32_t at4 = 4 * place;
    auto append = [&](uint32_t is_open, uint32_t item) {
        if (!is_open) return;
        at_byte(w.m.open, at4) = item;
        at4 += 4;
    };
    const uint32_t first =
        (uint32_t)(2 * w.lane) << QFZ_OPEN_X | (uint32_t)(w.warp * WORK::OWN_ROWS) << QFZ_OPEN_Y;
    const uint32_t next = 1u << QFZ_OPEN_X;
#pragma unroll
    for (int j = 0; j < WORK::OWN_ROWS; j++) {
        const uint32_t r = first + ((uint32_t)j << QFZ_OPEN_Y), d = r | QFZ_OPEN_DOWN;
        const uint32_t own = vertex[j], under = vertex[j + 1];
        const uint32_t to_right = shifted(own, of_next_lane(own));
        append(open_r >> (2 * j) & 1, r + own);
        append(open_r >> (2 * j + 16) & 1, r + next + to_right);
        append(open_d >> (2 * j) & 1, d + low_halves(own, under));
        append(open_d >> (2 * j + 16) & 1, d + next + high_halves(own, under));
    }
}

/* The list, or, if that has no room, every pixel's vertex.  Synchronises first. */
template <typename WORK, typename SETTLED_PX>
static __device__ __forceinline__ void store_open(const WORK &w, typename WORK::KEY *table,
                                                  const SETTLED_PX &s, uint32_t *open)
{
    __syncthreads();
    const uint32_t n = w.m.n_open;
    if (n <= QFZ_OPEN_ROOM) {
        for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS)
            open[i] = w.m.open[i];
        return;
    }
    table += threadIdx.y; /* 0, which the compiler does not know: else it keeps places for this */
#pragma unroll
    for (int j = 0; j < WORK::OWN_ROWS; j++)
        open[(w.warp * WORK::OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane] = vertices_in(table, s, j);
}

/* ---- All edges ------------------------------------------------------------------------------- */

/* Closes all edges, from the last tables on.  What differs by the width of levels:
 * begin_closing(), by the last table, which also tells what is open; close_by_table() any table;
 * close_by_pixels(), which is the first round; vertices_in() the last table. */
template <typename WORK, typename SETTLED_PX, typename CLOSING, typename OPEN>
static __device__ __forceinline__ void close(WORK &w, level_tables t, const SETTLED_PX &s,
                                             CLOSING &e, OPEN open)
{
    uint32_t end = t.end - 1;
    typename WORK::KEY *const last = w.m.table + (end - t.first) * t.n;
    begin_closing(w, last, s, e, open);
#pragma unroll 1
    while (end > 0) {
        if (end == t.first) {
            __syncthreads();
            make_tables(w, t, end);
            __syncthreads();
        }
        end--;
        close_by_table(w.m.table + (end - t.first) * t.n, s, e);
    }
    close_by_pixels(w, s, e);
}

#endif
