/* SPDX-License-Identifier: MIT */
/* block_pairs.cuh - two pixels to a word: loads one band of 8 or 16 bits. */
#pragma once

#include "gpu/forest/block_around.cuh"
#include "gpu/forest/block_settle.cuh"

/* ---- Load ------------------------------------------------------------------------------------ */

template <typename T> struct band_image {
    const T *pixels;
    const uint8_t *valid; /* or NULL */
    uint32_t bias;        /* added by xor to a pixel, which makes signed values unsigned */
};

QFZ_DEVICE uint32_t two_pixels(const uint16_t *p)
{
    return __ldg(reinterpret_cast<const uint32_t *>(p));
}

QFZ_DEVICE uint32_t two_pixels(const uint8_t *p)
{
    return __byte_perm(__ldg(reinterpret_cast<const uint16_t *>(p)), 0, 0x4140);
}

/* True if the block and the pixels around it lie inside the tile and can be loaded in pairs. */
template <typename WORK, typename T>
QFZ_DEVICE bool is_even(const WORK &w, const band_image<T> &image)
{
    const uintptr_t pixels = reinterpret_cast<uintptr_t>(image.pixels);
    const uintptr_t valid = reinterpret_cast<uintptr_t>(image.valid);
    const bool even = pixels % (2 * sizeof(T)) == 0 && valid % 2 == 0;
    return is_inside(w) && even && image.bias == 0;
}

/* A pixel; sets bit `bit` of *valid if the pixel is valid. */
template <typename WORK, typename T>
QFZ_DEVICE uint32_t load_pixel(const WORK &w, const band_image<T> &image, int32_t y, int32_t x,
                               uint32_t *valid, int bit)
{
    if (!is_there(w, image.valid, y, x)) return 0;
    *valid |= 1u << bit;
    return (uint32_t)__ldg(image.pixels + ((int64_t)y * w.forest.w + x)) ^ image.bias;
}

/* The band as a source (block_launch.cuh); load() leaves the pixels of a block that is not FULL
 * to load_some(). The loads of pixels overlap with those of the mask. */
template <typename T, typename VALUES> struct pair_band {
    typedef VALUES values;
    band_image<T> image;

    static pair_band of(const qfz_gpu_edges *edges)
    {
        return {{static_cast<const T *>(edges->d_values), edges->d_valid, edges->bias}};
    }

    template <typename WORK> QFZ_DEVICE bool load(const WORK &w, values &in) const
    {
        bool full = is_even(w, image);
        if (full) load_full(w, image, in);
        if (full && image.valid) full = __syncthreads_and(all_valid(w, image.valid));
        return full;
    }
};

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Half C of a word of levels, above a code of 16 bits. */
template <int C> QFZ_DEVICE uint32_t key_of(uint32_t word, uint32_t code)
{
    return __byte_perm(word, code, C ? 0x3254 : 0x1054);
}
