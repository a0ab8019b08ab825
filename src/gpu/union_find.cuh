/* SPDX-License-Identifier: MIT */
/* union_find.cuh - lock-free union-find on an array of parents, in shared or global memory.
 *
 * Invariant: parent[a] <= a, and it only ever decreases; so every find ends.  A link that a lower
 * one replaces is joined again by the thread that replaced it (see qfz_unite()); so nothing joined
 * is lost, a stale read still names a member of the same final set, and the final roots are the
 * least members, whatever the schedule. */
#ifndef QFZ_GPU_UNION_FIND_CUH
#define QFZ_GPU_UNION_FIND_CUH

#include "gpu/peek.cuh"

/* How parents are read while others change them. */
struct qfz_in_global {
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return qfz_peek(word);
    }
};
struct qfz_in_cache { /* of this multiprocessor: a stale parent is an older one */
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return *word;
    }
};
struct qfz_in_shared {
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return *static_cast<const volatile uint32_t *>(word);
    }
};

template <typename WHERE>
static __device__ __forceinline__ uint32_t qfz_find(const uint32_t *parent, uint32_t a)
{
    for (uint32_t up; (up = WHERE::read(parent + a)) != a;)
        a = up;
    return a;
}

template <typename WHERE>
static __device__ __forceinline__ void qfz_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = qfz_find<WHERE>(parent, a);
        b = qfz_find<WHERE>(parent, b);
        if (a == b) return;
        const uint32_t low = min(a, b), high = max(a, b);
        const uint32_t was = atomicMin(parent + high, low);
        if (was == high) return; /* it was a root still: linked */
        a = was;                 /* another linked it first: join what it was linked to */
        b = low;
    }
}

#endif
