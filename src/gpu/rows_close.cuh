/* SPDX-License-Identifier: MIT */
/* rows_close.cuh - the saliency of edges inside the block.
 *
 * Round by round a table tells what each component of the first round has become, and the greatest
 * level on its way there.  Edges that are open get the greater level of their two pixels, and are
 * closed where both are now in one component.  In the last table components are vertices: an edge
 * that is open still goes to the list of open edges. */
#ifndef QFZ_GPU_ROWS_CLOSE_CUH
#define QFZ_GPU_ROWS_CLOSE_CUH

#include "gpu/rows_block.cuh"

/* A thread's pixels after the first round, and those of the row below. */
struct rows_settled {
    uint32_t comp[OWN_ROWS + 1], top[OWN_ROWS + 1];
};

/* A thread's edges: levels, and which are open. */
struct rows_closing {
    uint32_t right[OWN_ROWS], down[OWN_ROWS], open_r, open_d;
};

/* One step of all components on their ways: round 0 begins them; the last ends with vertices. */
static __device__ __forceinline__ void advance(rows_work &w, uint32_t round, bool last)
{
    const uint32_t n = ACTIVE + (w.m.n_numbers >> 16);
    for (uint32_t c = (uint32_t)w.thread; c < n; c += THREADS) {
        uint32_t state = round == 0 ? c * 4 : w.m.state[c];
        uint32_t hook = of_comp(w.m.best, state & 0xffff);
        if ((hook >> QFZ_STEP_BITS & QFZ_STEP_ROOT) == round) {
            state = (max(state, hook) & 0xffff0000u) | (hook & QFZ_STEP_MASK) * 4;
            if (last) hook = of_comp(w.m.best, state & 0xffff);
        }
        if (last) state = (state & 0xffff0000u) | (hook & QFZ_STEP_MASK);
        w.m.state[c] = state;
    }
}

/* What the two pixels of row j belong to now, and the greatest levels up to there. */
static __device__ __forceinline__ void now(rows_work &w, const rows_settled &s, int j,
                                           uint32_t *comp, uint32_t *top)
{
    const uint32_t a = of_comp(w.m.state, s.comp[j] & 0xffff);
    const uint32_t b = of_comp(w.m.state, s.comp[j] >> 16);
    *comp = low_halves(a, b);
    *top = __vmaxu2(s.top[j], high_halves(a, b));
}

/* Those of two edges that are open get a new level. */
static __device__ __forceinline__ void raise(uint32_t *level, uint32_t open, uint32_t new_level)
{
    const uint32_t mask = open * 0xffffu;
    *level = (*level & ~mask) | (new_level & mask);
}

static __device__ __forceinline__ void close_round(rows_work &w, const rows_settled &s,
                                                   rows_closing &e)
{
    uint32_t comp, top, open_r = 0, open_d = 0;
    now(w, s, 0, &comp, &top);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        uint32_t under, under_top;
        now(w, s, j + 1, &under, &under_top);
        const uint32_t right = shifted(comp, of_next_lane(comp));
        const uint32_t right_top = shifted(top, of_next_lane(top));
        raise(&e.right[j], e.open_r >> (2 * j) & ONES, __vmaxu2(top, right_top));
        raise(&e.down[j], e.open_d >> (2 * j) & ONES, __vmaxu2(top, under_top));
        open_r += ones_of(comp ^ right) << (2 * j);
        open_d += ones_of(comp ^ under) << (2 * j);
        comp = under;
        top = under_top;
    }
    e.open_r &= open_r;
    e.open_d &= open_d;
}

/* The edges that the first round left open are in open_r and open_d. */
static __device__ __forceinline__ void begin_closing(const rows_settled &s, rows_closing &e)
{
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        e.right[j] = __vmaxu2(s.top[j], shifted(s.top[j], of_next_lane(s.top[j])));
        e.down[j] = __vmaxu2(s.top[j], s.top[j + 1]);
    }
}

/* ---- Out ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void store_two(uint16_t *out, uint32_t levels)
{
    *reinterpret_cast<uint32_t *>(out) = levels;
}

static __device__ __forceinline__ void store_two(uint32_t *out, uint32_t levels)
{
    *reinterpret_cast<uint2 *>(out) = make_uint2(levels & 0xffff, levels >> 16);
}

/* Levels of all edges; what is wrong, of edges that are open or leave the block, is written again
 * by the query. */
template <bool FULL, typename OUT_TYPE>
static __device__ __forceinline__ void store_levels(const rows_work &w, const rows_there &there,
                                                    const rows_closing &e, OUT_TYPE *saliency)
{
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int y = w.warp * OWN_ROWS, x = 2 * w.lane;
    OUT_TYPE *out = saliency + (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++, out += w.forest.w) {
        if (FULL) {
            store_two(out, e.right[j]);
            store_two(out + n_px, e.down[j]);
            continue;
        }
        if (y + j >= w.box.h) continue;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t bit = 1u << (2 * j + 16 * c);
            if (x + c >= w.box.w) continue;
            out[c] = (OUT_TYPE)(there.right & bit ? e.right[j] >> (16 * c) & 0xffff : QFZ_NONE);
            out[n_px + c] =
                (OUT_TYPE)(there.down & bit ? e.down[j] >> (16 * c) & 0xffff : QFZ_NONE);
        }
    }
}

/* A word a pixel where the list has no room. */
static __device__ __forceinline__ void store_words(rows_work &w, const rows_settled &s,
                                                   uint2 *words)
{
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        uint32_t comp, top;
        now(w, s, j, &comp, &top);
        words[(w.warp * OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane] =
            make_uint2(low_halves(comp, top), high_halves(comp, top));
    }
}

/* Open edges to the list from `place` on. */
static __device__ __forceinline__ void store_open(rows_work &w, const rows_settled &s,
                                                  const rows_closing &e, uint2 *item)
{
    const uint32_t first = (uint32_t)(w.warp * OWN_ROWS * QFZ_SIDE + 2 * w.lane) << 18;
    auto store = [&](bool open, uint32_t edge, uint32_t ends, uint32_t level) {
        if (open) *item++ = make_uint2(edge | (ends & 0xffff) << 9 | ends >> 16, level);
    };
    uint32_t comp, top;
    now(w, s, 0, &comp, &top);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        uint32_t under, under_top;
        now(w, s, j + 1, &under, &under_top);
        const uint32_t right = shifted(comp, of_next_lane(comp)), next = 1u << 18;
        const uint32_t edge_r = first + ((uint32_t)(j * QFZ_SIDE) << 18);
        const uint32_t edge_d = edge_r + ((uint32_t)QFZ_BLOCK_PX << 18);
        const uint32_t open_r = e.open_r >> (2 * j), open_d = e.open_d >> (2 * j);
        store(open_r & 1, edge_r, comp, e.right[j] & 0xffff);
        store(open_r >> 16 & 1, edge_r + next, right, e.right[j] >> 16);
        store(open_d & 1, edge_d, low_halves(comp, under), e.down[j] & 0xffff);
        store(open_d >> 16 & 1, edge_d + next, high_halves(comp, under), e.down[j] >> 16);
        comp = under;
    }
}

#endif
