/* SPDX-License-Identifier: MIT */
/* rows_close.cuh - the saliency of edges inside the block.
 *
 * Tables tell what each component of the first round has become after each of the list's rounds,
 * and the greatest level on its way there.  The first table in which an edge's two pixels are in
 * one component has its level; so the last one to tell is the first, and tables are gone through
 * backwards.  In the last one components are vertices, and edges between two of them are open. */
#ifndef QFZ_GPU_ROWS_CLOSE_CUH
#define QFZ_GPU_ROWS_CLOSE_CUH

#include "gpu/rows_block.cuh"

/* A thread's pixels after the first round, and those of the row below. */
struct rows_settled {
    uint32_t comp[OWN_ROWS + 1], top[OWN_ROWS + 1];
};

/* Levels of a thread's edges. */
struct rows_closing {
    uint32_t right[OWN_ROWS], down[OWN_ROWS];
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The components on their ways; tables for the rounds from `first` on, before `end`. */
static __device__ __forceinline__ void make_tables(rows_work &w, uint32_t first, uint32_t end,
                                                   uint32_t n_rounds)
{
    const uint32_t n = ACTIVE + (w.m.n_numbers >> 16);
    for (uint32_t c = (uint32_t)w.thread; c < n; c += THREADS) {
        uint32_t state = c * 4, hook = w.m.best[c], *table = w.m.table + c;
        for (uint32_t round = 0; round < end; round++) {
            if ((hook >> QFZ_STEP_BITS & QFZ_STEP_ROOT) == round) {
                state = (max(state, hook) & 0xffff0000u) | (hook & QFZ_STEP_MASK) * 4;
                hook = of_comp(w.m.best, state & 0xffff);
            }
            if (round < first) continue;
            *table = round + 1 < n_rounds ? state : (state & 0xffff0000u) | (hook & QFZ_STEP_MASK);
            table += n;
        }
    }
}

/* A row of a thread in a table, and what is to the right of it: components, levels. */
struct rows_now {
    uint32_t comp, top, right, right_top;
};

template <bool WITH_RIGHT>
static __device__ __forceinline__ rows_now look_up(uint32_t *table, uint32_t comp)
{
    const uint32_t a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    rows_now now = {low_halves(a, b), high_halves(a, b), 0, 0};
    if (!WITH_RIGHT) return now;
    const uint32_t next = of_next_lane(a);
    now.right = low_halves(b, next);
    now.right_top = high_halves(b, next);
    return now;
}

/* 0xffff in each half that is not 0. */
static __device__ __forceinline__ uint32_t mask_of(uint32_t word)
{
    return ones_of(word) * 0xffffu;
}

/* The new level where both are in one component, else the old one. */
static __device__ __forceinline__ uint32_t chosen(uint32_t differ, uint32_t old_level,
                                                  uint32_t level)
{
    const uint32_t mask = mask_of(differ);
    return (old_level & mask) | (level & ~mask);
}

static __device__ __forceinline__ void close_by(uint32_t *table, const rows_settled &s,
                                                rows_closing &e)
{
    rows_now now = look_up<true>(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const rows_now under = j < OWN_ROWS - 1 ? look_up<true>(table, s.comp[j + 1])
                                                : look_up<false>(table, s.comp[j + 1]);
        e.right[j] = chosen(now.comp ^ now.right, e.right[j], __vmaxu2(now.top, now.right_top));
        e.down[j] = chosen(now.comp ^ under.comp, e.down[j], __vmaxu2(now.top, under.top));
        now = under;
    }
}

/* Edges that the first round closed have the level of their pixels, which is part of all others. */
static __device__ __forceinline__ void close_by_pixels(const rows_settled &s, rows_closing &e)
{
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t right = shifted(s.comp[j], of_next_lane(s.comp[j]));
        const uint32_t right_top = shifted(s.top[j], of_next_lane(s.top[j]));
        e.right[j] &= mask_of(s.comp[j] ^ right);
        e.down[j] &= mask_of(s.comp[j] ^ s.comp[j + 1]);
        e.right[j] = __vmaxu2(e.right[j], __vmaxu2(s.top[j], right_top));
        e.down[j] = __vmaxu2(e.down[j], __vmaxu2(s.top[j], s.top[j + 1]));
    }
}

/* ---- Open edges ------------------------------------------------------------------------------ */

/* Open edges to the block's list, as far as it has room. */
static __device__ __forceinline__ void list_open(rows_work &w, const rows_there &there,
                                                 const uint32_t vertex[OWN_ROWS + 1])
{
    uint32_t inside_r, inside_d, open_r = 0, open_d = 0;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        open_r += ones_of(vertex[j] ^ shifted(vertex[j], of_next_lane(vertex[j]))) << (2 * j);
        open_d += ones_of(vertex[j] ^ vertex[j + 1]) << (2 * j);
    }
    edges_inside(w, there, &inside_r, &inside_d);
    open_r &= inside_r;
    open_d &= inside_d;
    const uint32_t n = (uint32_t)(__popc(open_r) + __popc(open_d));
    const uint32_t place = qfz_take(&w.m.n_open, n);
    if (__any_sync(ALL_LANES, place + n > QFZ_OPEN_ROOM)) return;
    uint32_t at4 = 4 * place;
    auto append = [&](uint32_t is_open, uint32_t item) {
        if (!is_open) return;
        at_byte(w.m.open, at4) = item;
        at4 += 4;
    };
    const uint32_t first = (uint32_t)(2 * w.lane) << QFZ_OPEN_X | (uint32_t)(w.warp * OWN_ROWS)
                                                                      << QFZ_OPEN_Y;
    const uint32_t next = 1u << QFZ_OPEN_X;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t r = first + ((uint32_t)j << QFZ_OPEN_Y), d = r | QFZ_OPEN_DOWN;
        const uint32_t own = vertex[j], under = vertex[j + 1];
        const uint32_t right = shifted(own, of_next_lane(own));
        append(open_r >> (2 * j) & 1, r + own);
        append(open_r >> (2 * j + 16) & 1, r + next + right);
        append(open_d >> (2 * j) & 1, d + low_halves(own, under));
        append(open_d >> (2 * j + 16) & 1, d + next + high_halves(own, under));
    }
}

/* By the last table: levels of all edges, and those that are open. */
static __device__ __forceinline__ void begin_closing(rows_work &w, const rows_there &there,
                                                     uint32_t *table, const rows_settled &s,
                                                     rows_closing &e)
{
    uint32_t vertex[OWN_ROWS + 1], level[OWN_ROWS + 1];
#pragma unroll
    for (int j = 0; j <= OWN_ROWS; j++) {
        const rows_now now = look_up<false>(table, s.comp[j]);
        vertex[j] = now.comp;
        level[j] = now.top;
    }
    list_open(w, there, vertex);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        e.right[j] = __vmaxu2(level[j], shifted(level[j], of_next_lane(level[j])));
        e.down[j] = __vmaxu2(level[j], level[j + 1]);
    }
}

/* The list, or, if that has no room, every pixel's vertex. */
static __device__ __forceinline__ void store_open(const rows_work &w, uint32_t *table,
                                                  const rows_settled &s, uint32_t *open)
{
    const uint32_t n = w.m.n_open;
    if (n <= QFZ_OPEN_ROOM) {
        for (uint32_t i = (uint32_t)w.thread; i < n; i += THREADS)
            open[i] = w.m.open[i];
        return;
    }
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
        open[(w.warp * OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane] =
            look_up<false>(table, s.comp[j]).comp;
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Closes all edges; the rounds' tables, as many at a time as there is room for. */
static __device__ __forceinline__ void close(rows_work &w, const rows_there &there,
                                             uint32_t n_rounds, const rows_settled &s,
                                             rows_closing &e, uint32_t *open)
{
    const uint32_t n = ACTIVE + (w.m.n_numbers >> 16), room = TABLES / n;
    uint32_t end = n_rounds, first = end > room ? end - room : 0;
    make_tables(w, first, end, n_rounds);
    __syncthreads();
    end--;
    uint32_t *const last = w.m.table + (end - first) * n;
    begin_closing(w, there, last, s, e);
    __syncthreads();
    store_open(w, last, s, open);
#pragma unroll 1
    while (end > 0) {
        if (end == first) {
            first = end > room ? end - room : 0;
            __syncthreads();
            make_tables(w, first, end, n_rounds);
            __syncthreads();
        }
        end--;
        close_by(w.m.table + (end - first) * n, s, e);
    }
    close_by_pixels(s, e);
}

/* Levels of all edges; what is wrong, of edges that are open or leave the block, is written again
 * by the query. */
template <bool FULL>
static __device__ __forceinline__ void store_levels(const rows_work &w, const rows_there &there,
                                                    const rows_closing &e, uint16_t *saliency)
{
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int y = w.warp * OWN_ROWS, x = 2 * w.lane;
    uint16_t *out = saliency + (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++, out += w.forest.w) {
        if (FULL) {
            *reinterpret_cast<uint32_t *>(out) = e.right[j];
            *reinterpret_cast<uint32_t *>(out + n_px) = e.down[j];
            continue;
        }
        if (y + j >= w.box.h) continue;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t bit = 1u << (2 * j + 16 * c);
            if (x + c >= w.box.w) continue;
            out[c] = (uint16_t)(there.right & bit ? e.right[j] >> (16 * c) : QFZ_NONE);
            out[n_px + c] = (uint16_t)(there.down & bit ? e.down[j] >> (16 * c) : QFZ_NONE);
        }
    }
}

#endif
