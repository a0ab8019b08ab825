/* SPDX-License-Identifier: MIT */
/* saliency_wide_close.cuh - closes the edges inside a block, for four neighbours and levels of 32
 * bits, with the tables of saliency_tables.cuh. */
#ifndef QFZ_GPU_SALIENCY_WIDE_CLOSE_CUH
#define QFZ_GPU_SALIENCY_WIDE_CLOSE_CUH

#include "gpu/saliency/saliency_tables.cuh"
#include "gpu/forest/four_wide.cuh"

/* Saliencies of a thread's edges. */
struct wide_closing {
    uint32_t right[OWN_ROWS][2], down[OWN_ROWS][2];
    not_needed there;
};

/* A row of a thread in a table: components and levels. */
struct wide_now {
    uint32_t comp[2], top[2];
};

static __device__ __forceinline__ wide_now look_up(wide_work::KEY *table, uint32_t comp)
{
    const wide_work::KEY a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    return {{(uint32_t)a, (uint32_t)b}, {(uint32_t)(a >> 32), (uint32_t)(b >> 32)}};
}

static __device__ __forceinline__ void close_by_table(wide_work::KEY *table, const wide_settled &s,
                                                      wide_closing &e)
{
    wide_now now = look_up(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const wide_now under = look_up(table, s.comp[j + 1]);
        const uint32_t next = of_next_lane(now.comp[0]), next_top = of_next_lane(now.top[0]);
        if (now.comp[0] == now.comp[1]) e.right[j][0] = max(now.top[0], now.top[1]);
        if (now.comp[1] == next) e.right[j][1] = max(now.top[1], next_top);
#pragma unroll
        for (int c = 0; c < 2; c++)
            if (now.comp[c] == under.comp[c]) e.down[j][c] = max(now.top[c], under.top[c]);
        now = under;
    }
}

/* An edge that the first round closed has the greater top of its two pixels as saliency. That level
 * is a lower bound for all other edges. */
static __device__ __forceinline__ void close_by_pixels(const wide_work &, const wide_settled &s,
                                                       wide_closing &e)
{
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t next_top = of_next_lane(s.top[j][0]);
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t bit = 1u << (2 * j + 16 * c);
            const uint32_t so_far_r = s.between.right & bit ? e.right[j][c] : 0;
            const uint32_t so_far_d = s.between.down & bit ? e.down[j][c] : 0;
            e.right[j][c] = max(so_far_r, max(s.top[j][c], c ? next_top : s.top[j][1]));
            e.down[j][c] = max(so_far_d, max(s.top[j][c], s.top[j + 1][c]));
        }
    }
}

/* The vertices of a thread's two pixels of row j. */
static __device__ __forceinline__ uint32_t vertices_in(wide_work::KEY *table, const wide_settled &s,
                                                       int j)
{
    const wide_now now = look_up(table, s.comp[j]);
    return low_halves(now.comp[0], now.comp[1]);
}

/* Lists the open edges; only edges between two pixels that have vertices can be open. */
static __device__ __forceinline__ void list_open_of(wide_work &w,
                                                    const uint32_t vertex[OWN_ROWS + 1])
{
    uint32_t has_none = 0;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
        has_none |= (vertex[j] >> 15 & ONES) << (2 * j);
    const uint32_t below = (vertex[OWN_ROWS] >> 15 & ONES) << (2 * OWN_ROWS - 2);
    const uint32_t next = has_none >> 16 | of_next_lane(has_none) << 16;
    const uint32_t under = (has_none >> 2 & wide_shape::NOT_LAST) | below;
    list_open(w, ~(has_none | next), ~(has_none | under), vertex);
}

/* With the last table: first saliencies of all edges, and the list of open edges. */
static __device__ __forceinline__ void begin_closing(wide_work &w, wide_work::KEY *table,
                                                     const wide_settled &s, wide_closing &e,
                                                     uint32_t *open)
{
    uint32_t vertex[OWN_ROWS + 1];
    wide_now now = look_up(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const wide_now under = look_up(table, s.comp[j + 1]);
        vertex[j] = low_halves(now.comp[0], now.comp[1]);
        e.right[j][0] = max(now.top[0], now.top[1]);
        e.right[j][1] = max(now.top[1], of_next_lane(now.top[0]));
#pragma unroll
        for (int c = 0; c < 2; c++)
            e.down[j][c] = max(now.top[c], under.top[c]);
        now = under;
    }
    vertex[OWN_ROWS] = low_halves(now.comp[0], now.comp[1]);
    list_open_of(w, vertex);
    store_open(w, table, s, open);
}

/* ---- Out ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void store_two(uint32_t *out, const uint32_t level[2])
{
    *reinterpret_cast<uint2 *>(out) = make_uint2(level[0], level[1]);
}

static __device__ __forceinline__ void store_two(uint16_t *out, const uint32_t level[2])
{
    *reinterpret_cast<uint32_t *>(out) = low_halves(level[0], level[1]);
}

/* Stores the saliencies of all edges. Values of edges that are open or leave the block are not
 * final: the query overwrites them. FULL: all pixels are in the tile and aligned. */
template <bool FULL, typename T>
static __device__ __forceinline__ void store_levels(const wide_work &w, const wide_closing &e,
                                                    T *saliency)
{
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int y = w.warp * OWN_ROWS, x = 2 * w.lane;
    T *out = saliency + (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++, out += w.forest.w) {
        if constexpr (FULL) {
            store_two(out, e.right[j]);
            store_two(out + n_px, e.down[j]);
        } else {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                if (y + j >= w.box.h || x + c >= w.box.w) continue;
                out[c] = (T)e.right[j][c];
                out[n_px + c] = (T)e.down[j][c];
            }
        }
    }
}

#endif
