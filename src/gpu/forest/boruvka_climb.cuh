/* SPDX-License-Identifier: MIT */
/* boruvka_climb.cuh - the minimax level of two vertices of the graph of all blocks, found by
 * climbing from both.  Of the two, the vertex that hooked itself in the earlier round is not an
 * ancestor of the other; so each step climbs from that vertex. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"

template <typename N> QFZ_DEVICE void swap(N &a, N &b)
{
    const N was = a;
    a = b;
    b = was;
}

/* The greatest level on the path between two vertices, or `level` if that is greater; QFZ_NONE if
 * no path connects them. */
QFZ_DEVICE uint32_t climb(const uint2 *__restrict__ up, uint32_t u, uint32_t v, uint32_t level)
{
    if (u == v) return level;
    uint2 from_u = __ldg(&up[u]), from_v = __ldg(&up[v]);
    for (;;) {
        if ((from_v.x & QFZ_UP_ROOT) < (from_u.x & QFZ_UP_ROOT)) {
            swap(u, v);
            swap(from_u, from_v);
        }
        if ((from_u.x & QFZ_UP_ROOT) == QFZ_UP_ROOT) return QFZ_NONE;
        level = max(level, from_u.y);
        u = from_u.x >> QFZ_UP_BITS;
        if (u == v) return level;
        from_u = __ldg(&up[u]);
    }
}
