/* SPDX-License-Identifier: MIT */
/* saliency_close.cuh - closes the edges inside a block, for levels of 16 bits in registers, with
 * the tables of saliency_tables.cuh. */
#ifndef QFZ_GPU_SALIENCY_CLOSE_CUH
#define QFZ_GPU_SALIENCY_CLOSE_CUH

#include "gpu/forest/four_pixels.cuh"
#include "gpu/saliency/saliency_pair_tables.cuh"

/* Saliencies of a thread's edges, and masks of the edges that exist. */
struct narrow_closing {
    uint32_t right[OWN_ROWS], down[OWN_ROWS];
    edge_masks there;
};

static __device__ __forceinline__ void close_by_table(uint32_t *table, const narrow_settled &s,
                                                      narrow_closing &e)
{
    table_row now = look_up<true>(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const table_row under = j < OWN_ROWS - 1 ? look_up<true>(table, s.comp[j + 1])
                                                 : look_up<false>(table, s.comp[j + 1]);
        e.right[j] = chosen(now.comp ^ now.right, e.right[j], __vmaxu2(now.top, now.right_top));
        e.down[j] = chosen(now.comp ^ under.comp, e.down[j], __vmaxu2(now.top, under.top));
        now = under;
    }
}

/* An edge that the first round closed has the greater top of its two pixels as saliency. That level
 * is a lower bound for all other edges. */
static __device__ __forceinline__ void close_by_pixels(const narrow_work &w,
                                                       const narrow_settled &s, narrow_closing &e)
{
    uint32_t top = s.top_at(w, 0);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t under = s.top_at(w, j + 1), right_top = shifted(top, of_next_lane(top));
        e.right[j] &= (s.between.right >> (2 * j) & ONES) * 0xffffu;
        e.down[j] &= (s.between.down >> (2 * j) & ONES) * 0xffffu;
        e.right[j] = __vmaxu2(e.right[j], __vmaxu2(top, right_top));
        e.down[j] = __vmaxu2(e.down[j], __vmaxu2(top, under));
        top = under;
    }
}

/* With the last table: first saliencies of all edges, and the list of open edges. */
static __device__ __forceinline__ void begin_closing(narrow_work &w, uint32_t *table,
                                                     const narrow_settled &s, narrow_closing &e,
                                                     uint32_t *open)
{
    uint32_t vertex[OWN_ROWS + 1], level[OWN_ROWS + 1];
#pragma unroll
    for (int j = 0; j <= OWN_ROWS; j++) {
        const table_row now = look_up<false>(table, s.comp[j]);
        vertex[j] = now.comp;
        level[j] = now.top;
    }
    list_open(w, e.there.right, e.there.down, vertex);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        e.right[j] = __vmaxu2(level[j], shifted(level[j], of_next_lane(level[j])));
        e.down[j] = __vmaxu2(level[j], level[j + 1]);
    }
    store_open(w, table, s, open);
}

/* Stores the saliencies of all edges. Values of edges that are open or leave the block are not
 * final: the query overwrites them. */
template <bool FULL>
static __device__ __forceinline__ void store_levels(const narrow_work &w, const narrow_closing &e,
                                                    uint16_t *saliency)
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
            out[c] = (uint16_t)(e.there.right & bit ? e.right[j] >> (16 * c) : QFZ_NONE);
            out[n_px + c] = (uint16_t)(e.there.down & bit ? e.down[j] >> (16 * c) : QFZ_NONE);
        }
    }
}

#endif
