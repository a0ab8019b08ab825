/* SPDX-License-Identifier: MIT */
/* flood.h - regions of equal values by flood fill, the reference for other methods. */
#ifndef QFZ_TEST_FLOOD_H
#define QFZ_TEST_FLOOD_H

#include <cstring>
#include <vector>

#include "core/level.h"

/* A raster on the host, with values of `type`, which are only tested for equality. */
struct scene {
    int64_t h, w;
    qfz_type type;
    std::vector<uint8_t> values; /* bytes; empty: all pixels have the same value */
    std::vector<uint8_t> valid;  /* empty: all are valid */
};

static inline bool joined(const scene &s, int64_t p, int64_t q)
{
    const size_t bytes = qfz_type_bytes(s.type);
    if (!s.valid.empty() && (!s.valid[(size_t)p] || !s.valid[(size_t)q])) return false;
    return s.values.empty() ||
           !memcmp(&s.values[(size_t)p * bytes], &s.values[(size_t)q * bytes], bytes);
}

/* The first pixel of each pixel's region, by a flood from each pixel that has none yet. */
static inline std::vector<uint32_t> flood(const scene &s, int connectivity)
{
    const size_t n_px = (size_t)(s.h * s.w);
    std::vector<uint32_t> root(n_px, QFZ_NONE);
    std::vector<int64_t> queue;
    for (int64_t first = 0; first < s.h * s.w; first++) {
        if (root[(size_t)first] != QFZ_NONE || !joined(s, first, first)) continue;
        root[(size_t)first] = (uint32_t)first;
        queue.assign(1, first);
        while (!queue.empty()) {
            const int64_t p = queue.back(), y = p / s.w, x = p % s.w;
            queue.pop_back();
            for (int d = 0; d < 9; d++) {
                const int64_t y2 = y + d / 3 - 1, x2 = x + d % 3 - 1, q = y2 * s.w + x2;
                if (connectivity == 4 && d % 2 == 0) continue;
                if (y2 < 0 || x2 < 0 || y2 >= s.h || x2 >= s.w || !joined(s, p, q)) continue;
                if (root[(size_t)q] != QFZ_NONE) continue;
                root[(size_t)q] = (uint32_t)first;
                queue.push_back(q);
            }
        }
    }
    return root;
}

#endif
