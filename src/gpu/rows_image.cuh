/* SPDX-License-Identifier: MIT */
/* rows_image.cuh - pixels of one band of 8 or 16 bits, by twos, and their differences. */
#ifndef QFZ_GPU_ROWS_IMAGE_CUH
#define QFZ_GPU_ROWS_IMAGE_CUH

#include "gpu/rows_block.cuh"

template <typename T> struct rows_image {
    const T *pixels;
    const uint8_t *valid; /* or NULL */
    uint32_t bias;        /* of one pixel */
};

static __device__ __forceinline__ uint32_t difference2(uint32_t a, uint32_t b)
{
    return __vmaxu2(a, b) - __vminu2(a, b);
}

/* Half C of a word of levels above a code of 16 bits. */
template <int C> static __device__ __forceinline__ uint32_t key_of(uint32_t word, uint32_t code)
{
    return __byte_perm(word, code, C ? 0x3254 : 0x1054);
}

static __device__ __forceinline__ uint32_t two_pixels(const uint16_t *p)
{
    return __ldg(reinterpret_cast<const uint32_t *>(p));
}

static __device__ __forceinline__ uint32_t two_pixels(const uint8_t *p)
{
    return __byte_perm(__ldg(reinterpret_cast<const uint16_t *>(p)), 0, 0x4140);
}

/* A pixel; *valid gets that bit where there is one. */
template <typename WORK, typename T>
static __device__ __forceinline__ uint32_t load_pixel(const WORK &w, const rows_image<T> &image,
                                                      int32_t y, int32_t x, uint32_t *valid,
                                                      int bit)
{
    const int64_t p = (int64_t)y * w.forest.w + x;
    if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return 0;
    if (image.valid && !image.valid[p]) return 0;
    *valid |= 1u << bit;
    return (uint32_t)__ldg(image.pixels + p) ^ image.bias;
}

/* A lane's pixel, by x and y in the tile, of the columns beside a warp's rows, the row above and
 * the row below: the first lanes have those of the left column, the next ones of the right. */
template <typename WORK> static __device__ __forceinline__ int2 side_pixel(const WORK &w)
{
    enum { SEEN = WORK::OWN_ROWS + 2 };
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1;
    return w.lane < SEEN ? make_int2(w.box.x - 1, y0 + w.lane)
                         : make_int2(w.box.x + QFZ_SIDE, y0 + w.lane - SEEN);
}

/* Are a thread's pixels of a block inside the tile, and what is beside, valid? */
template <typename WORK, typename T>
static __device__ __forceinline__ bool all_valid(const WORK &w, const rows_image<T> &image)
{
    enum { SEEN = WORK::OWN_ROWS + 2 };
    const int32_t y0 = w.box.y + w.warp * WORK::OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const uint8_t *row = image.valid + (int64_t)y0 * w.forest.w + x0;
    const int2 side = side_pixel(w);
    uint32_t zero = 0; /* the highest bit of each byte: it was 0 in a row */
#pragma unroll
    for (int i = 0; i < SEEN; i++, row += w.forest.w) {
        const uint32_t two = __ldg(reinterpret_cast<const uint16_t *>(row));
        zero |= (two - 0x0101u) & ~two;
    }
    bool all = (zero & 0x8080u) == 0;
    if (w.lane < 2 * SEEN) all &= image.valid[(int64_t)side.y * w.forest.w + side.x] != 0;
    return all;
}

/* Is all that the block looks at valid, and can it be loaded by twos?  All threads ask. */
template <typename WORK, typename T>
static __device__ __forceinline__ bool is_full(const WORK &w, const rows_image<T> &image)
{
    const qfz_gpu_forest &f = w.forest;
    const bool inside =
        w.box.y > 0 && w.box.x > 0 && w.box.y + QFZ_SIDE < f.h && w.box.x + QFZ_SIDE < f.w;
    const uintptr_t pixels = reinterpret_cast<uintptr_t>(image.pixels);
    const uintptr_t valid = reinterpret_cast<uintptr_t>(image.valid);
    const bool even = f.w % 2 == 0 && pixels % (2 * sizeof(T)) == 0 && valid % 2 == 0;
    if (!inside || !even || image.bias != 0) return false;
    return !image.valid || __syncthreads_and(all_valid(w, image));
}

#endif
