/* SPDX-License-Identifier: MIT */
/* union_find.cuh - lock-free union-find on an array of parents, in shared or global memory.
 *
 * Invariant: parent[a] <= a, and parent[a] is in the final set of a; so every find ends.  A thread
 * that replaces a link by a lower one also unites the set of the replaced link (see qfz_unite()).
 * Therefore no union is lost, a stale read still returns a member of the same final set, and the
 * final root of a set is its least member, whatever the schedule.
 *
 * Finds shorten paths: they replace parent[a] by a further ancestor of a.  This write may undo a
 * link of a to a lower root, made by a thread that took a for a root.  That thread's atomicMin()
 * returned the parent of a, so that it unites this parent with the lower root. */
#pragma once

#include "gpu/device/device.cuh"

/* Classes for the template parameter WHERE: how to read a parent and how to write a shorter path
 * while other threads write the same words.  With MARK == 0 a root is its own parent.  Otherwise
 * MARK is a bit that no node number has, and a root's word has that bit; its other bits are free.
 */
struct qfz_in_global {
    enum : uint32_t { MARK = 0 };
    static QFZ_DEVICE uint32_t read(const uint32_t *word)
    {
        return qfz_peek(word);
    }
    static QFZ_DEVICE void write(uint32_t *word, uint32_t value)
    {
        __stcg(word, value);
    }
};
struct qfz_in_cache { /* global memory through the L1 cache: a stale parent is an earlier parent */
    enum : uint32_t { MARK = 0 };
    static QFZ_DEVICE uint32_t read(const uint32_t *word)
    {
        return *word;
    }
    static QFZ_DEVICE void write(uint32_t *word, uint32_t value)
    {
        *word = value;
    }
};
struct qfz_in_shared {
    enum : uint32_t { MARK = 0 };
    static QFZ_DEVICE uint32_t read(const uint32_t *word)
    {
        return *static_cast<const volatile uint32_t *>(word);
    }
    /* Other threads of the block read and lower the word without a barrier in between, so the
     * write is atomic.  value is an ancestor and therefore lower. */
    static QFZ_DEVICE void write(uint32_t *word, uint32_t value)
    {
        atomicMin(word, value);
    }
};

template <typename WHERE> QFZ_DEVICE bool qfz_is_root(uint32_t word, uint32_t node)
{
    return WHERE::MARK != 0 ? (word & WHERE::MARK) != 0 : word == node;
}

/* The root of a. */
template <typename WHERE> QFZ_DEVICE uint32_t qfz_find(const uint32_t *parent, uint32_t a)
{
    for (uint32_t up; !qfz_is_root<WHERE>(up = WHERE::read(parent + a), a);)
        a = up;
    return a;
}

/* The same; links each node on the path to its grandparent. */
template <typename WHERE> QFZ_DEVICE uint32_t qfz_find_shortening(uint32_t *parent, uint32_t a)
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

/* Unites the sets of a and b. */
template <typename WHERE> QFZ_DEVICE void qfz_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    /* Most pairs are united already, and both nodes are one step from their root. */
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
        a = was; /* another thread linked `high` first: unite its parent, too */
        b = low;
    }
}
