/* SPDX-License-Identifier: MIT */
/* rows_wide.cuh - levels of 32 bits in registers, from one band of 32 bits or from planes of keys.
 *
 * A level is QFZ_NONE where there is no edge.  A real one may be as great: what only such edges
 * join has that saliency, whether they are there or not, so they are left out. */
#ifndef QFZ_GPU_ROWS_WIDE_CUH
#define QFZ_GPU_ROWS_WIDE_CUH

#include <type_traits>

#include "gpu/level.cuh"
#include "gpu/rows_around.cuh"

typedef rows_shape<unsigned long long, 4> rows_wide;
typedef rows_work<rows_wide> wide_work;
enum { OWN_ROWS = wide_work::OWN_ROWS, SEEN_ROWS = wide_work::SEEN_ROWS };

/* By column, right[i]: levels to the right in row i - 1; down[i]: between rows i - 1 and i.
 * left[i]: to the left in row i, of the lane before; next_down: of the lane after. */
struct wide_levels {
    uint32_t right[SEEN_ROWS][2], down[OWN_ROWS + 1][2], left[OWN_ROWS], next_down[OWN_ROWS + 1];
};

static __device__ __forceinline__ uint2 two_words(const uint32_t *p)
{
    return __ldg(reinterpret_cast<const uint2 *>(p));
}

static inline bool is_even(const void *plane, size_t px_bytes)
{
    return reinterpret_cast<uintptr_t>(plane) % (2 * px_bytes) == 0;
}

/* ---- One band -------------------------------------------------------------------------------- */

/* Only infinite values need to be compared.  FINITE: neither is. */
template <typename T, bool FINITE>
static __device__ __forceinline__ uint32_t level_between(uint32_t a, uint32_t b)
{
    if (!FINITE || !std::is_same<T, float>::value) return qfz_key_of_words<T>(a, b);
    return __float_as_uint(fabsf(__uint_as_float(a) - __uint_as_float(b)));
}

static __device__ __forceinline__ bool is_infinite(uint32_t a, float)
{
    return fabsf(__uint_as_float(a)) == INFINITY;
}

template <typename T> static __device__ __forceinline__ bool is_infinite(uint32_t, T)
{
    return false;
}

/* The band's words, of type T. */
template <typename T> struct wide_band {
    const uint32_t *pixels;
    const uint8_t *valid; /* or NULL */
    bool even;            /* planes begin at even places */
    /* Among pixels that are all there every edge has a level. */
    static const bool ALL_HAVE_LEVELS = std::is_same<T, float>::value;

    /* A thread's pixels and those around, as rows_values. */
    struct values {
        uint32_t v[SEEN_ROWS][2], side, valid, side_valid;
    };

    /* Of a warp's. */
    static __device__ __forceinline__ bool are_finite(const values &in)
    {
        bool infinite = is_infinite(in.side, T());
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++)
            infinite |= is_infinite(in.v[i][0], T()) | is_infinite(in.v[i][1], T());
        return !__any_sync(ALL_LANES, infinite);
    }

    __device__ __forceinline__ void load_full(const wide_work &w, values &in) const
    {
        const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
        const uint32_t *row = pixels + (int64_t)y0 * w.forest.w + x0;
        const int2 at = side_pixel(w);
        in.valid = in.side_valid = in.side = 0;
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++, row += w.forest.w) {
            const uint2 two = two_words(row);
            in.v[i][0] = two.x;
            in.v[i][1] = two.y;
        }
        if (w.lane < 2 * SEEN_ROWS) in.side = __ldg(pixels + (int64_t)at.y * w.forest.w + at.x);
    }

    /* A pixel; *there gets that bit where there is one. */
    __device__ __forceinline__ uint32_t load_pixel(const wide_work &w, int32_t y, int32_t x,
                                                   uint32_t *there, int bit) const
    {
        const int64_t p = (int64_t)y * w.forest.w + x;
        if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return 0;
        if (valid && !valid[p]) return 0;
        *there |= 1u << bit;
        return __ldg(pixels + p);
    }

    __device__ __forceinline__ void load_some(const wide_work &w, values &in) const
    {
        const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
        const int2 at = side_pixel(w);
        uint32_t beside = 0;
        in.valid = in.side = 0;
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                in.v[i][c] = load_pixel(w, y0 + i, x0 + c, &in.valid, i + 16 * c);
        if (w.lane < 2 * SEEN_ROWS) in.side = load_pixel(w, at.y, at.x, &beside, 0);
        in.side_valid = side_bits(w, beside);
    }

    template <bool FINITE>
    static __device__ __forceinline__ void find_levels(const wide_work &w, const values &in,
                                                       wide_levels &l)
    {
        auto between = [](uint32_t a, uint32_t b) { return level_between<T, FINITE>(a, b); };
        const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
        uint32_t next_above = 0;
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++) {
            const uint32_t side = side_of(w, in.side, i);
            uint32_t next = of_next_lane(in.v[i][0]);
            if (last) next = side;
            l.right[i][0] = between(in.v[i][0], in.v[i][1]);
            l.right[i][1] = between(in.v[i][1], next);
            if (i > 0 && i <= OWN_ROWS) {
                const uint32_t left = __shfl_up_sync(ALL_LANES, l.right[i][1], 1);
                l.left[i - 1] = first ? between(side, in.v[i][0]) : left;
            }
            if (i > 0) {
                l.down[i - 1][0] = between(in.v[i - 1][0], in.v[i][0]);
                l.down[i - 1][1] = between(in.v[i - 1][1], in.v[i][1]);
                l.next_down[i - 1] = between(next_above, next);
            }
            next_above = next;
        }
    }

    /* Where one of an edge's pixels is not there. */
    static __device__ __forceinline__ void find_missing(const wide_work &w, const values &in,
                                                        wide_levels &l)
    {
        const uint32_t own = in.valid;
        uint32_t next = of_next_lane(own), before = __shfl_up_sync(ALL_LANES, own, 1) >> 16;
        if (w.lane == QFZ_WARP - 1) next = in.side_valid;
        if (w.lane == 0) before = in.side_valid;
        const uint32_t right = own & (own >> 16 | next << 16), down = own & own >> 1;
        auto none_unless = [](uint32_t bits, int bit) { return (bits >> bit & 1) - 1; };
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++) {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                l.right[i][c] |= none_unless(right, i + 16 * c);
                if (i > 0) l.down[i - 1][c] |= none_unless(down, i - 1 + 16 * c);
            }
            if (i > 0) l.next_down[i - 1] |= none_unless(next & next >> 1, i - 1);
            if (i > 0 && i <= OWN_ROWS) l.left[i - 1] |= none_unless(own & before, i);
        }
    }

    /* Was all there, and could be loaded by twos?  All threads ask; pixels are on their way while
     * masks are looked at. */
    __device__ __forceinline__ bool load(const wide_work &w, wide_levels &l) const
    {
        values in;
        bool full = even && is_inside(w);
        if (full) {
            load_full(w, in);
            full = !valid || __syncthreads_and(all_valid(w, valid));
        }
        if (!full) load_some(w, in);
        if (are_finite(in))
            find_levels<true>(w, in, l);
        else
            find_levels<false>(w, in, l);
        if (!full) find_missing(w, in, l);
        return full;
    }
};

/* ---- Planes of keys -------------------------------------------------------------------------- */

struct wide_keys {
    const uint32_t *right, *down;
    bool even; /* planes begin at even places */
    static const bool ALL_HAVE_LEVELS = false;

    static __device__ __forceinline__ uint32_t at(const wide_work &w, const uint32_t *plane,
                                                  int32_t y, int32_t x)
    {
        if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return QFZ_NONE;
        return __ldg(plane + (int64_t)y * w.forest.w + x);
    }

    static __device__ __forceinline__ uint2 two_at(const wide_work &w, bool full,
                                                   const uint32_t *plane, int32_t y, int32_t x)
    {
        if (full) return two_words(plane + (int64_t)y * w.forest.w + x);
        return make_uint2(at(w, plane, y, x), at(w, plane, y, x + 1));
    }

    __device__ __forceinline__ bool load(const wide_work &w, wide_levels &l) const
    {
        const bool full = even && is_inside(w);
        const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
        const int2 beside = side_pixel(w);
        const uint32_t side = w.lane < 2 * SEEN_ROWS
                                  ? at(w, w.lane < SEEN_ROWS ? right : down, beside.y, beside.x)
                                  : QFZ_NONE;
#pragma unroll
        for (int i = 0; i < SEEN_ROWS; i++) {
            const uint2 to_right = two_at(w, full, right, y0 + i, x0);
            l.right[i][0] = to_right.x;
            l.right[i][1] = to_right.y;
            if (i > OWN_ROWS) continue;
            const uint2 to_below = two_at(w, full, down, y0 + i, x0);
            l.down[i][0] = to_below.x;
            l.down[i][1] = to_below.y;
        }
#pragma unroll
        for (int i = 0; i < OWN_ROWS + 1; i++) {
            const uint32_t outside = side_of(w, side, i), next = of_next_lane(l.down[i][0]);
            l.next_down[i] = w.lane == QFZ_WARP - 1 ? outside : next;
            if (i == 0) continue;
            const uint32_t left = __shfl_up_sync(ALL_LANES, l.right[i][1], 1);
            l.left[i - 1] = w.lane == 0 ? outside : left;
        }
        return full;
    }
};

#endif
