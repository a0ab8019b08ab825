/* SPDX-License-Identifier: MIT */
/* saliency_tables.cuh - tables that close the edges inside a block.
 *
 * A table holds, for each component of the first round, the component it has become after one of
 * the list's rounds, and the greatest level on the way there. An edge's saliency is in the first
 * table in which its two pixels are in one component. The tables are therefore applied from the
 * last round to the first, and each overwrites the edges that it closes. In the last table
 * components are vertices, and the edges between two vertices are open. */
#pragma once

#include "gpu/forest/block_rounds.cuh"
#include "gpu/saliency/saliency.cuh"

/* In the last table: flag of a component * 4 without an edge that leads on. */
enum { NO_VERTEX = 0x8000 };

/* A table's word, or state, is the greatest level | component * 4; the level is at the same bits as
 * in hooks (block_rounds.cuh). state_after(): the state after a hook. */
QFZ_DEVICE uint32_t state_after(uint32_t state, uint32_t hook)
{
    return level_part(max(state, hook)) | (hook & QFZ_STEP_MASK) * 4;
}

QFZ_DEVICE unsigned long long state_after(unsigned long long state, unsigned long long hook)
{
    const uint32_t level = max((uint32_t)(state >> 32), (uint32_t)(hook >> 32));
    return (unsigned long long)level << 32 | ((uint32_t)hook & QFZ_STEP_MASK) * 4;
}

/* The last state of a component. A component from which no edge leads on has the level of missing
 * edges: edges to pixels without an edge are missing, and edges inside the component are closed by
 * an earlier table, since it ended in a round in which nothing joined it. */
template <typename KEY> QFZ_DEVICE KEY last_state(KEY state, KEY hook)
{
    const uint32_t vertex = (uint32_t)hook & QFZ_STEP_MASK;
    if (vertex == QFZ_STEP_MASK) return level_part(~(KEY)0) | NO_VERTEX | (state & 0xffff);
    return level_part(state) | vertex;
}

/* The tables in shared memory: of n components, for the rounds first .. end - 1 of n_rounds. */
struct level_tables {
    uint32_t n, first, end, n_rounds;
};

/* Makes as many tables as fit, the last for round end - 1, by following components' hooks. */
template <typename WORK> QFZ_DEVICE void make_tables(WORK &w, level_tables &t, uint32_t end)
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

template <typename WORK> QFZ_DEVICE level_tables last_tables(WORK &w, uint32_t n_rounds)
{
    level_tables t = {ACTIVE + (w.m.n_numbers >> 16), 0, 0, n_rounds};
    make_tables(w, t, n_rounds);
    return t;
}

/* ---- Open edges ------------------------------------------------------------------------------ */

/* Appends the open edges among these to the block's list, as far as it has room. */
template <typename WORK>
QFZ_DEVICE void list_open(WORK &w, uint32_t right, uint32_t down,
                          const uint32_t vertex[WORK::OWN_ROWS + 1])
{
    uint32_t inside_r, inside_d, open_r = 0, open_d = 0;
    QFZ_EACH (j, WORK::OWN_ROWS) {
        open_r += ones_of(vertex[j] ^ shifted(vertex[j], of_next_lane(vertex[j]))) << (2 * j);
        open_d += ones_of(vertex[j] ^ vertex[j + 1]) << (2 * j);
    }
    edges_inside(w, &inside_r, &inside_d);
    open_r &= right & inside_r;
    open_d &= down & inside_d;
    const uint32_t n = (uint32_t)(__popc(open_r) + __popc(open_d));
    const uint32_t place = qfz_take(&w.m.n_open, n);
    if (__any_sync(QFZ_ALL_LANES, place + n > QFZ_OPEN_ROOM)) return;
    uint32_t at4 = 4 * place;
    auto append = [&](uint32_t is_open, uint32_t item) {
        if (!is_open) return;
        at_byte(w.m.open, at4) = item;
        at4 += 4;
    };
    const uint32_t first =
        (uint32_t)(2 * w.lane) << QFZ_OPEN_X | (uint32_t)(w.warp * WORK::OWN_ROWS) << QFZ_OPEN_Y;
    const uint32_t next = 1u << QFZ_OPEN_X;
    QFZ_EACH (j, WORK::OWN_ROWS) {
        const uint32_t r = first + ((uint32_t)j << QFZ_OPEN_Y), d = r | QFZ_OPEN_DOWN;
        const uint32_t own = vertex[j], under = vertex[j + 1];
        const uint32_t to_right = shifted(own, of_next_lane(own));
        append(open_r >> (2 * j) & 1, r + own);
        append(open_r >> (2 * j + 16) & 1, r + next + to_right);
        append(open_d >> (2 * j) & 1, d + low_halves(own, under));
        append(open_d >> (2 * j + 16) & 1, d + next + high_halves(own, under));
    }
}

/* Stores the open edges or, where too many, every pixel's vertex. Begins with a barrier. */
template <typename WORK, typename SETTLED_PX>
QFZ_DEVICE void store_open(const WORK &w, typename WORK::KEY *table, const SETTLED_PX &s,
                           uint32_t *open)
{
    __syncthreads();
    const uint32_t n = w.m.n_open;
    if (n <= QFZ_OPEN_ROOM) {
        for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS)
            open[i] = w.m.open[i];
        return;
    }
    table += threadIdx.y; /* 0; opaque to the compiler, which otherwise keeps addresses in registers
                           * for this rare case */
    QFZ_EACH (j, WORK::OWN_ROWS)
        open[(w.warp * WORK::OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane] = vertices_in(table, s, j);
}

/* ---- All edges ------------------------------------------------------------------------------- */

/* Closes all edges. Functions that depend on the width of levels: begin_closing() applies the last
 * table and stores the open edges, close_by_table() applies any other table, close_by_pixels() the
 * first round, and vertices_in() reads the last table. */
template <typename WORK, typename SETTLED_PX, typename CLOSING, typename OPEN>
QFZ_DEVICE void close(WORK &w, level_tables t, const SETTLED_PX &s, CLOSING &e, OPEN open)
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
