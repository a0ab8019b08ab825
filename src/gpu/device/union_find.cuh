/* SPDX-License-Identifier: MIT */
/* union_find.cuh - lock-free union-find on an array of parents, in shared or global memory.
 *
 * Invariant: parent[a] <= a, and parents are of the same final set; so every find ends.  A link
 * that a lower one replaces is joined again by the thread that replaced it (see qfz_unite()); so
 * nothing joined is lost, a stale read still names a member of the same final set, and the final
 * roots are the least members, whatever the schedule.
 *
 * Finds shorten the paths they walk: they write an ancestor of a where a parent was.  Where that
 * undoes another thread's link of a to a lower root (it took a for a root), that thread has been
 * told a's parent, and goes on to join the two. */
#ifndef QFZ_GPU_UNION_FIND_CUH
#define QFZ_GPU_UNION_FIND_CUH

#include "gpu/device/peek.cuh"

/* How parents are read, and paths shortened, while others change them.  A root is its own parent;
 * or, where there is a MARK, a bit above all nodes, it has a word of any meaning with that bit. */
struct qfz_in_global {
    enum : uint32_t { MARK = 0 };
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return qfz_peek(word);
    }
    static __device__ __forceinline__ void write(uint32_t *word, uint32_t value)
    {
        __stcg(word, value);
    }
};
struct qfz_in_cache { /* of this multiprocessor: a stale parent is an older one */
    enum : uint32_t { MARK = 0 };
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return *word;
    }
    static __device__ __forceinline__ void write(uint32_t *word, uint32_t value)
    {
        *word = value;
    }
};
struct qfz_in_shared {
    enum : uint32_t { MARK = 0 };
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return *static_cast<const volatile uint32_t *>(word);
    }
    /* Others of the block read and lower it meanwhile: what is written without a barrier before
     * them is atomic, and value is an ancestor, lower therefore. */
    static __device__ __forceinline__ void write(uint32_t *word, uint32_t value)
    {
        atomicMin(word, value);
    }
};

template <typename WHERE>
static __device__ __forceinline__ bool qfz_is_root(uint32_t word, uint32_t node)
{
    return WHERE::MARK != 0 ? (word & WHERE::MARK) != 0 : word == node;
}

template <typename WHERE>
static __device__ __forceinline__ uint32_t qfz_find(const uint32_t *parent, uint32_t a)
{
    for (uint32_t up; !qfz_is_root<WHERE>(up = WHERE::read(parent + a), a);)
        a = up;
    return a;
}

/* The same; each node on the way is hooked to its grandparent. */
template <typename WHERE>
static __device__ __forceinline__ uint32_t qfz_find_shortening(uint32_t *parent, uint32_t a)
{
    for (;;) {
        const uint32_t up = WHERE::read(parent + a);
        if (qfz_is_root<WHERE>(up, a)) return a;
        const uint32_t top = WHERE::read(parent + up);
        if (qfz_is_root<WHERE>(top, up)) return up;
        WHERE::write(parent + a, top);
        a = top;
    }
}

template <typename WHERE>
static __device__ __forceinline__ void qfz_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    /* most that meet have met before, and are one step from their root */
    const uint32_t up_a = WHERE::read(parent + a), up_b = WHERE::read(parent + b);
    a = qfz_is_root<WHERE>(up_a, a) ? a : up_a;
    b = qfz_is_root<WHERE>(up_b, b) ? b : up_b;
    while (a != b) {
        a = qfz_find_shortening<WHERE>(parent, a);
        b = qfz_find_shortening<WHERE>(parent, b);
        if (a == b) return;
        const uint32_t low = min(a, b), high = max(a, b);
        const uint32_t was = atomicMin(parent + high, low);
        if (qfz_is_root<WHERE>(was, high)) return; /* linked */
        a = was; /* another linked it first: join what it was linked to */
        b = low;
    }
}

#endif
