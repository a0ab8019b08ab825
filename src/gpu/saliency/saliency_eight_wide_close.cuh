/* SPDX-License-Identifier: MIT */
/* saliency_eight_wide_close.cuh - closes the edges inside a block with eight neighbours and levels
 * of 32 bits, as saliency_wide_close.cuh does for four. */
#ifndef QFZ_GPU_SALIENCY_EIGHT_WIDE_CLOSE_CUH
#define QFZ_GPU_SALIENCY_EIGHT_WIDE_CLOSE_CUH

#include "gpu/saliency/saliency_eight_close.cuh"
#include "gpu/forest/eight_wide.cuh"

/* Saliencies of a thread's edges. */
struct eight_wide_closing {
    uint32_t right[EIGHT_ROWS][2], down[EIGHT_ROWS][2], diagonal[EIGHT_ROWS][2],
        anti[EIGHT_ROWS][2];
    not_needed there;
};

/* A row of a thread in a table, and the pixel to its right: components and levels. */
struct eight_wide_now {
    uint32_t comp[3], top[3];
};

static __device__ __forceinline__ eight_wide_now look_up(eight_wide_work::KEY *table, uint32_t comp)
{
    const eight_wide_work::KEY a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    const uint32_t comp0 = (uint32_t)a, top0 = (uint32_t)(a >> 32);
    return {{comp0, (uint32_t)b, of_next_lane(comp0)},
            {top0, (uint32_t)(b >> 32), of_next_lane(top0)}};
}

static __device__ __forceinline__ void
close_by_table(eight_wide_work::KEY *table, const eight_wide_settled &s, eight_wide_closing &e)
{
    eight_wide_now now = look_up(table, s.comp[0]);
    auto close_one = [](uint32_t &level, const eight_wide_now &p, int k, const eight_wide_now &q,
                        int l) {
        if (p.comp[k] == q.comp[l]) level = max(p.top[k], q.top[l]);
    };
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const eight_wide_now under = look_up(table, s.comp[j + 1]);
#pragma unroll
        for (int c = 0; c < 2; c++) {
            close_one(e.right[j][c], now, c, now, c + 1);
            close_one(e.down[j][c], now, c, under, c);
            close_one(e.diagonal[j][c], now, c, under, c + 1);
            close_one(e.anti[j][c], now, c + 1, under, c);
        }
        now = under;
    }
}

/* An edge that the first round closed has the greater top of its two pixels as saliency. That level
 * is a lower bound for all other edges. */
static __device__ __forceinline__ void
close_by_pixels(const eight_wide_work &, const eight_wide_settled &s, eight_wide_closing &e)
{
    uint32_t next = of_next_lane(s.top[0][0]);
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const uint32_t next_under = of_next_lane(s.top[j + 1][0]);
        const uint32_t top[3] = {s.top[j][0], s.top[j][1], next};
        const uint32_t under[3] = {s.top[j + 1][0], s.top[j + 1][1], next_under};
        auto with_pixels = [&](uint32_t level, int bit, uint32_t a, uint32_t b) {
            return max(s.between >> bit & 1 ? level : 0, max(a, b));
        };
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const int bit = j + 16 * c;
            e.right[j][c] = with_pixels(e.right[j][c], AT_RIGHT + bit, top[c], top[c + 1]);
            e.down[j][c] = with_pixels(e.down[j][c], AT_DOWN + bit, top[c], under[c]);
            e.diagonal[j][c] =
                with_pixels(e.diagonal[j][c], AT_DIAGONAL + bit, top[c], under[c + 1]);
            e.anti[j][c] = with_pixels(e.anti[j][c], AT_ANTI + bit, top[c + 1], under[c]);
        }
        next = next_under;
    }
}

/* With the last table: first saliencies of all edges, and the stored vertices. */
static __device__ __forceinline__ void begin_closing(eight_wide_work &w,
                                                     eight_wide_work::KEY *table,
                                                     const eight_wide_settled &s,
                                                     eight_wide_closing &e, const vertex_map &open)
{
    eight_wide_now now = look_up(table, s.comp[0]);
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const int y = w.warp * EIGHT_ROWS + j;
        if (y < open.h && w.lane < open.n_words)
            open.first[y * open.pitch + w.lane] =
                stored<false>(low_halves(now.comp[0], now.comp[1]));
        const eight_wide_now under = look_up(table, s.comp[j + 1]);
#pragma unroll
        for (int c = 0; c < 2; c++) {
            e.right[j][c] = max(now.top[c], now.top[c + 1]);
            e.down[j][c] = max(now.top[c], under.top[c]);
            e.diagonal[j][c] = max(now.top[c], under.top[c + 1]);
            e.anti[j][c] = max(now.top[c + 1], under.top[c]);
        }
        now = under;
    }
}

/* ---- Out ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void store_words(uint32_t *out, uint32_t a, uint32_t b)
{
    *reinterpret_cast<uint2 *>(out) = make_uint2(a, b);
}

static __device__ __forceinline__ void store_words(uint16_t *out, uint32_t a, uint32_t b)
{
    *reinterpret_cast<uint32_t *>(out) = low_halves(a, b);
}

/* Moves the levels of the late planes to the places described in saliency.cuh (QFZ_MOVED_WORDS). */
static __device__ __forceinline__ void move_levels(const eight_wide_work &w, eight_wide_closing &e,
                                                   uint32_t *moved)
{
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++) {
        const int y = w.warp * EIGHT_ROWS + j;
        uint32_t moves[4];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const bool leaves = y == QFZ_SIDE - 1 || (c == 1 && w.lane == QFZ_WARP - 1);
            const bool diagonal = !leaves && e.diagonal[j][c] < e.right[j][c];
            const bool anti = !leaves && e.anti[j][c] < e.right[j][c];
            moves[c] = __ballot_sync(ALL_LANES, diagonal);
            moves[2 + c] = __ballot_sync(ALL_LANES, anti);
            if (diagonal) e.right[j][c] = e.diagonal[j][c];
            if (anti) e.down[j][c] = e.anti[j][c];
        }
        if (w.lane == 0)
            reinterpret_cast<uint4 *>(moved)[y] =
                make_uint4(moves[0], moves[1], moves[2], moves[3]);
    }
}

/* Stores the saliencies of all edges except those of planes that are made late. Values of edges
 * that are open or leave the block are not final: the query overwrites them, except those to the
 * left of the tile. FULL: all pixels are in the tile and aligned. */
template <bool FULL, typename T>
static __device__ __forceinline__ void store_levels(const eight_wide_work &w,
                                                    const eight_wide_closing &e, T *saliency)
{
    const int64_t n_px = (int64_t)w.forest.h * w.forest.w;
    const int y = w.warp * EIGHT_ROWS, x = 2 * w.lane;
    T *out = saliency + (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
#pragma unroll
    for (int j = 0; j < EIGHT_ROWS; j++, out += w.forest.w) {
        const uint32_t before = __shfl_up_sync(ALL_LANES, e.anti[j][1], 1);
        auto store_two = [&](int direction, uint32_t a, uint32_t b) {
            T *const to = out + direction * n_px;
            if (FULL) {
                store_words(to, a, b);
                return;
            }
            if (y + j >= w.box.h || x >= w.box.w) return;
            to[0] = (T)a;
            if (x + 1 < w.box.w) to[1] = (T)b;
        };
        store_two(QFZ_RIGHT, e.right[j][0], e.right[j][1]);
        store_two(QFZ_BELOW, e.down[j][0], e.down[j][1]);
        if (sizeof(T) == sizeof(uint32_t)) continue;
        store_two(QFZ_BELOW_RIGHT, e.diagonal[j][0], e.diagonal[j][1]);
        store_two(QFZ_BELOW_LEFT, w.lane == 0 ? QFZ_NONE : before, e.anti[j][0]);
    }
}

#endif
