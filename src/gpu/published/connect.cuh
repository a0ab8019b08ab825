/* SPDX-License-Identifier: MIT */
/* connect.cuh - CONNECT of Carlinet, Kaci and Blin (2025): two chains of ancestors become one,
 * while other threads do the same to chains that overlap.
 *
 * A node's link names its parent and the parent's level, in one word, so that both change at once.
 * Nodes are in a total order, by level, then by number; a parent comes later than its children, so
 * no cycle can arise, and every climb ends.  A root is its own parent.
 *
 * A link only ever moves to an earlier parent, between the node and what was its parent; and the
 * thread that moved it goes on to put the old parent above the new one.  So whoever reads a
 * stale link still reads an ancestor; a compare-and-swap that expected it fails and brings the
 * fresh one; nothing that was joined is lost. */
#ifndef QFZ_GPU_CONNECT_CUH
#define QFZ_GPU_CONNECT_CUH

#include "gpu/device/device.cuh"

struct qfz_link {
    uint32_t parent, level; /* the parent's */
};

/* A node on the way up: itself, its level, its link as it was read. */
struct qfz_climber {
    uint32_t node, level;
    qfz_link link;
};

/* ---- Where links are kept.  swap() puts a new link where *link was expected; else *link becomes
 * what is there.  shorten() puts one while others read. */

/* Levels of 8 bits in shared memory, fewer than 2^16 nodes: 32 bits. */
struct qfz_packed_links {
    uint32_t *words;

    static __device__ __forceinline__ uint32_t pack(qfz_link link)
    {
        return link.level << 16 | link.parent;
    }
    static __device__ __forceinline__ qfz_link unpack(uint32_t word)
    {
        return qfz_link{word & 0xffffu, word >> 16};
    }
    __device__ __forceinline__ qfz_link get(uint32_t node) const
    {
        return unpack(*static_cast<volatile uint32_t *>(words + node));
    }
    __device__ __forceinline__ void put(uint32_t node, qfz_link link) const
    {
        words[node] = pack(link);
    }
    __device__ __forceinline__ void shorten(uint32_t node, qfz_link link) const
    {
        (void)atomicExch(words + node, pack(link));
    }
    __device__ __forceinline__ bool swap(uint32_t node, qfz_link *link, qfz_link to) const
    {
        const uint32_t expected = pack(*link), was = atomicCAS(words + node, expected, pack(to));
        *link = unpack(was);
        return was == expected;
    }
};

/* Any levels, in shared or global memory: 64 bits.  Reads may come out of the multiprocessor's
 * cache: a stale parent is an ancestor. */
struct qfz_wide_links {
    unsigned long long *words;

    static __host__ __device__ __forceinline__ unsigned long long pack(qfz_link link)
    {
        return (unsigned long long)link.level << 32 | link.parent;
    }
    static __host__ __device__ __forceinline__ qfz_link unpack(unsigned long long word)
    {
        return qfz_link{(uint32_t)word, (uint32_t)(word >> 32)};
    }
    __device__ __forceinline__ qfz_link get(uint32_t node) const
    {
        return unpack(words[node]);
    }
    __device__ __forceinline__ void put(uint32_t node, qfz_link link) const
    {
        words[node] = pack(link);
    }
    __device__ __forceinline__ void shorten(uint32_t node, qfz_link link) const
    {
        (void)atomicExch(words + node, pack(link));
    }
    __device__ __forceinline__ bool swap(uint32_t node, qfz_link *link, qfz_link to) const
    {
        const unsigned long long expected = pack(*link),
                                 was = atomicCAS(words + node, expected, pack(to));
        *link = unpack(was);
        return was == expected;
    }
};

/* ---- The procedures. */

template <typename LINKS>
static __device__ __forceinline__ qfz_climber qfz_start(const LINKS &links, uint32_t node,
                                                        uint32_t level)
{
    return qfz_climber{node, level, links.get(node)};
}

template <typename LINKS>
static __device__ __forceinline__ void qfz_step(const LINKS &links, qfz_climber *at)
{
    *at = qfz_start(links, at->link.parent, at->link.level);
}

/* FIND-LEVEL-ROOT: up to the last ancestor whose level is at most `level`. */
template <typename LINKS>
static __device__ __forceinline__ void qfz_climb(const LINKS &links, qfz_climber *at,
                                                 uint32_t level)
{
    while (at->link.parent != at->node && at->link.level <= level)
        qfz_step(links, at);
}

static __device__ __forceinline__ void qfz_swap_climbers(qfz_climber *a, qfz_climber *b)
{
    const qfz_climber c = *a;
    *a = *b;
    *b = c;
}

/* CONNECT (algorithm 4).  Each round moves a or b up, or takes part of a longer chain apart for
 * good; it ends where the chains meet or one ends. */
template <typename LINKS>
static __device__ __forceinline__ void qfz_connect(const LINKS &links, qfz_climber a, qfz_climber b)
{
    for (;;) {
        if (b.level < a.level) qfz_swap_climbers(&a, &b);
        qfz_climb(links, &a, b.level);
        qfz_climb(links, &b, b.level);
        if (a.node == b.node) return;
        if (a.level == b.level && b.node < a.node) qfz_swap_climbers(&a, &b);
        const qfz_link was = a.link;
        if (!links.swap(a.node, &a.link, qfz_link{b.node, b.level})) continue;
        if (was.parent == a.node) return; /* a was a root */
        a = qfz_start(links, was.parent, was.level);
    }
}

/* CONNECT-WITH (algorithm 5): pixels p and q by their edge, which becomes a node only if needed. */
template <typename LINKS>
static __device__ __forceinline__ void qfz_connect_with(const LINKS &links, uint32_t p, uint32_t q,
                                                        uint32_t edge, uint32_t level)
{
    qfz_climber a = qfz_start(links, p, 0), b = qfz_start(links, q, 0);
    qfz_climb(links, &a, level);
    qfz_climb(links, &b, level);
    if (a.node == b.node) return;               /* residual */
    if (a.level != level && b.level != level) { /* not redundant */
        qfz_connect(links, a, qfz_start(links, edge, level));
        a = qfz_start(links, edge, level);
    }
    qfz_connect(links, a, b);
}

#endif
