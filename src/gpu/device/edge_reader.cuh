/* SPDX-License-Identifier: MIT */
/* edge_reader.cuh - which edges a tile has, and the level of one edge, from any form of edges
 * (image.cuh). */
#pragma once

#include <type_traits>

#include "core/host_device.h"
#include "gpu/device/image.cuh"

/* The step from the first pixel of an edge in direction d to the second. */
QFZ_HOST_AND_DEVICE int32_t qfz_step_y(int d)
{
    return d == QFZ_RIGHT ? 0 : 1;
}
QFZ_HOST_AND_DEVICE int32_t qfz_step_x(int d)
{
    return d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1;
}

/* The pixels of a tile; valid: NULL, or 0 where a pixel is invalid. */
struct qfz_pixel_grid {
    int32_t h, w;
    const uint8_t *valid;

    /* True if the edge from pixel p in direction d has both ends in the tile, and both valid. */
    __host__ __device__ bool has_edge(int64_t p, int d) const
    {
        const int64_t y = p / w + qfz_step_y(d), x = p % w + qfz_step_x(d);
        if (y >= h || x < 0 || x >= w) return false;
        return !valid || (valid[p] && valid[y * w + x]);
    }
};

/* T: uint8_t or uint16_t for a band of pixels, uint32_t for planes of levels. */
template <typename T> struct qfz_edge_reader {
    typedef T type;
    int32_t h, w;
    uint32_t bias, alpha_level;
    const T *from;
    const uint8_t *valid;

    /* The pixel index of the second pixel of an edge in direction d, less that of the first. */
    QFZ_DEVICE int32_t beyond(int d) const
    {
        return qfz_step_y(d) * w + qfz_step_x(d);
    }

    /* The level of the edge of pixel p in direction d; any value if there is no such edge. */
    QFZ_DEVICE uint32_t level_of(int64_t p, int d) const
    {
        if (sizeof(T) == sizeof(uint32_t)) return (uint32_t)__ldg(from + (int64_t)d * h * w + p);
        const int64_t last = (int64_t)h * w - 1, q = min(p + beyond(d), last);
        const uint32_t a = (uint32_t)__ldg(from + p) ^ bias, b = (uint32_t)__ldg(from + q) ^ bias;
        return a > b ? a - b : b - a;
    }

    /* True if pixel (y, x) of the image has an edge in direction d and its level, in *level, is at
     * most alpha_level. */
    QFZ_DEVICE bool read(int32_t y, int32_t x, int d, uint32_t *level) const
    {
        const int32_t dy = qfz_step_y(d), dx = qfz_step_x(d);
        if (y + dy >= h || x + dx < 0 || x + dx >= w) return false;
        const int64_t p = (int64_t)y * w + x, q = p + (int64_t)dy * w + dx;
        if (valid && !(__ldg(valid + p) && __ldg(valid + q))) return false;
        *level = level_of(p, d);
        return *level <= alpha_level;
    }
};

template <typename T>
static inline qfz_edge_reader<T> qfz_read_edges(const qfz_gpu_edges *edges, uint32_t alpha_level)
{
    qfz_edge_reader<T> reader = {};
    reader.h = edges->h;
    reader.w = edges->w;
    reader.bias = edges->bias;
    reader.alpha_level = alpha_level;
    reader.from = (const T *)(edges->form == QFZ_EDGES_LEVELS ? (const void *)edges->d_levels
                                                              : edges->d_values);
    reader.valid = edges->d_valid;
    return reader;
}

/* Calls use() with the reader for this form of edges, and returns its result. */
template <typename USE>
static inline qfz_status qfz_with_reader(const qfz_gpu_edges *edges, uint32_t alpha_level,
                                         const USE &use)
{
    switch (edges->form) {
    case QFZ_EDGES_U8: return use(qfz_read_edges<uint8_t>(edges, alpha_level));
    case QFZ_EDGES_U16: return use(qfz_read_edges<uint16_t>(edges, alpha_level));
    default: return use(qfz_read_edges<uint32_t>(edges, alpha_level));
    }
}
