/* SPDX-License-Identifier: MIT */
/* block_band.cuh - loads a band of 32 bits, computes levels, and compares a pixel's edges.
 *
 * A level is QFZ_NONE where there is no edge. An existing edge may have that level, too, and is
 * then left out like a missing one: pixels that only such edges join have that saliency anyway. */
#pragma once

#include <type_traits>

#include "gpu/device/level.cuh"
#include "gpu/forest/block_around.cuh"

QFZ_DEVICE uint2 two_words(const uint32_t *p)
{
    return __ldg(reinterpret_cast<const uint2 *>(p));
}

static inline bool is_even(const void *plane, size_t px_bytes)
{
    return reinterpret_cast<uintptr_t>(plane) % (2 * px_bytes) == 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* FINITE: both values are finite, and their difference needs no comparison. */
template <typename T, bool FINITE> QFZ_DEVICE uint32_t level_between(uint32_t a, uint32_t b)
{
    if (!FINITE || !std::is_same<T, float>::value) return qfz_level_of_words<T>(a, b);
    return __float_as_uint(fabsf(__uint_as_float(a) - __uint_as_float(b)));
}

QFZ_DEVICE bool is_finite(uint32_t a, float)
{
    return fabsf(__uint_as_float(a)) < INFINITY;
}

template <typename T> QFZ_DEVICE bool is_finite(uint32_t, T)
{
    return true;
}

/* True unless the value is a NaN; NaN pixels are invalid (image.cuh). */
QFZ_DEVICE bool is_number(uint32_t a, float)
{
    return fabsf(__uint_as_float(a)) <= INFINITY;
}

template <typename T> QFZ_DEVICE bool is_number(uint32_t, T)
{
    return true;
}

/* ---- Load ------------------------------------------------------------------------------------ */

/* The band, as words whose bits are of type T. */
template <typename T> struct band_view {
    const uint32_t *pixels;
    const uint8_t *valid; /* or NULL */
    bool even;            /* planes are aligned to two pixels */
};

template <typename T> static inline band_view<T> band_of(const qfz_gpu_edges *edges)
{
    return {static_cast<const uint32_t *>(edges->d_values), edges->d_valid,
            is_even(edges->d_values, sizeof(T)) && is_even(edges->d_valid, 1)};
}

/* A thread's pixels and those of the rows above and below: seen row i is row i - 1 of the thread.
 * side: a pixel of the columns beside the block (block_around.cuh). valid: bit i + 16 * column. */
template <typename WORK> struct band_values {
    uint32_t v[WORK::SEEN_ROWS][2], side, valid, side_valid;
};

/* A pixel; sets bit `bit` of *there if the pixel is valid. */
template <typename WORK, typename T>
QFZ_DEVICE uint32_t load_pixel(const WORK &w, const band_view<T> &band, int32_t y, int32_t x,
                               uint32_t *there, int bit)
{
    if (!is_there(w, band.valid, y, x)) return 0;
    const uint32_t pixel = __ldg(band.pixels + ((int64_t)y * w.forest.w + x));
    if (!is_number(pixel, T())) return 0;
    *there |= 1u << bit;
    return pixel;
}

template <typename WORK, typename T>
QFZ_DEVICE void load_full(const WORK &w, const band_view<T> &band, band_values<WORK> &in)
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const uint32_t *row = band.pixels + (int64_t)y0 * w.forest.w + x0;
    const int2 at = side_pixel(w);
    in.valid = in.side_valid = 0xffffffffu;
    in.side = 0;
#pragma unroll
    for (int i = 0; i < WORK::SEEN_ROWS; i++, row += w.forest.w) {
        const uint2 two = two_words(row);
        in.v[i][0] = two.x;
        in.v[i][1] = two.y;
    }
    if (w.lane < 2 * WORK::SEEN_ROWS)
        in.side = __ldg(band.pixels + (int64_t)at.y * w.forest.w + at.x);
}

template <typename WORK, typename T>
QFZ_DEVICE void load_some(const WORK &w, const band_view<T> &band, band_values<WORK> &in)
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const int2 at = side_pixel(w);
    uint32_t beside = 0;
    in.valid = in.side = 0;
    QFZ_EACH (i, WORK::SEEN_ROWS)
        QFZ_EACH (c, 2)
            in.v[i][c] = load_pixel(w, band, y0 + i, x0 + c, &in.valid, i + 16 * c);
    if (w.lane < 2 * WORK::SEEN_ROWS) in.side = load_pixel(w, band, at.y, at.x, &beside, 0);
    in.side_valid = side_bits(w, beside);
}

/* True if all values of a thread are finite. */
template <typename T, typename WORK> QFZ_DEVICE bool are_finite(const band_values<WORK> &in)
{
    bool finite = is_finite(in.side, T());
    QFZ_EACH (i, WORK::SEEN_ROWS)
        finite &= is_finite(in.v[i][0], T()) & is_finite(in.v[i][1], T());
    return finite;
}

/* Loads a thread's pixels. Returns the same to all threads of the block: true if the block and the
 * pixels around it are valid, finite, inside the tile and aligned. The loads of pixels overlap with
 * those of the mask. */
template <typename WORK, typename T>
QFZ_DEVICE bool load_band(const WORK &w, const band_view<T> &band, band_values<WORK> &in)
{
    bool full = band.even && is_inside(w);
    if (full) load_full(w, band, in);
    if (full && (band.valid || std::is_same<T, float>::value))
        full = __syncthreads_and((!band.valid || all_valid(w, band.valid)) && are_finite<T>(in));
    if (!full) load_some(w, band, in);
    return full;
}

/* Loads the thread's rows and the row below once more. */
template <bool FULL, typename WORK, typename T>
QFZ_DEVICE void load_inside(const WORK &w, const band_view<T> &band, uint32_t v[][2])
{
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS, x0 = w.box.x + 2 * w.lane;
    if constexpr (FULL) {
        const uint32_t *row = band.pixels + (int64_t)y0 * w.forest.w + x0;
#pragma unroll
        for (int j = 0; j <= WORK::OWN_ROWS; j++, row += w.forest.w) {
            const uint2 two = two_words(row);
            v[j][0] = two.x;
            v[j][1] = two.y;
        }
    } else {
        uint32_t there = 0;
        QFZ_EACH (k, 2 * WORK::OWN_ROWS + 2)
            v[k / 2][k % 2] = load_pixel(w, band, y0 + k / 2, x0 + k % 2, &there, 0);
    }
}

/* The levels of a thread's edges inside the block, from pixels that are loaded once more. */
template <bool FULL, typename WORK, typename SOURCE, typename EDGES>
QFZ_DEVICE void load_edges(const WORK &w, const SOURCE &source, EDGES &e)
{
    uint32_t v[WORK::OWN_ROWS + 1][2];
    load_inside<FULL>(w, source.band, v);
    source.template find_inside<FULL>(v, e);
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* The lightest edge of a pixel so far. */
struct wide_choice {
    uint32_t level, way;
};

/* Considers one more edge, which wins over those of its level unless it leaves the block. */
QFZ_DEVICE void consider(wide_choice &best, uint32_t level, uint32_t way, bool leaves)
{
    const bool wins = (level < best.level) | ((level == best.level) & !leaves);
    best.level = min(best.level, level);
    best.way = wins ? way : best.way;
}
