/* SPDX-License-Identifier: MIT */
/* connect.cuh - CONNECT of the paper (connect_tile.cuh): merges two chains of ancestors into one,
 * while other threads merge chains that overlap.
 *
 * A node's link holds its parent and the parent's level in one word, so that both change at once.
 * Nodes are totally ordered by level, then by number. Invariant: a parent comes later than its
 * children, so there is no cycle, and every climb ends. A root is its own parent.
 *
 * A link only moves to an earlier parent, one between the node and its old parent, and the thread
 * that moved it then inserts the old parent above the new one. A thread that reads a stale link
 * therefore still reads an ancestor, a compare-and-swap that expects a stale link fails and returns
 * the current one, and no connection is lost. */
#pragma once

#include "gpu/device/device.cuh"
#include "core/host_device.h"

struct qfz_link {
    uint32_t parent, level; /* level: of the parent */
};

/* A node on the way up: its number, its level, and its link when it was read. */
struct qfz_climber {
    uint32_t node, level;
    qfz_link link;
};

/* ---- Storage of links ------------------------------------------------------------------------ */

/* One word of 64 bits a node, in shared or global memory. Reads may come from the multiprocessor's
 * cache: a stale parent is still an ancestor. swap() writes a new link if *link is the current one,
 * else sets *link to the current one and returns false. shorten() writes a link while other threads
 * read it. */
struct qfz_tree_links {
    unsigned long long *words;

    QFZ_HOST_AND_DEVICE unsigned long long pack(qfz_link link)
    {
        return (unsigned long long)link.level << 32 | link.parent;
    }
    QFZ_HOST_AND_DEVICE qfz_link unpack(unsigned long long word)
    {
        return qfz_link{(uint32_t)word, (uint32_t)(word >> 32)};
    }
    QFZ_DEVICE qfz_link get(uint32_t node) const
    {
        return unpack(words[node]);
    }
    QFZ_DEVICE void put(uint32_t node, qfz_link link) const
    {
        words[node] = pack(link);
    }
    QFZ_DEVICE void shorten(uint32_t node, qfz_link link) const
    {
        (void)atomicExch(words + node, pack(link));
    }
    QFZ_DEVICE bool swap(uint32_t node, qfz_link *link, qfz_link to) const
    {
        const unsigned long long expected = pack(*link),
                                 was = atomicCAS(words + node, expected, pack(to));
        *link = unpack(was);
        return was == expected;
    }
};

/* ---- The procedures of the paper ------------------------------------------------------------- */

template <typename LINKS>
QFZ_DEVICE qfz_climber qfz_start(const LINKS &links, uint32_t node, uint32_t level)
{
    return qfz_climber{node, level, links.get(node)};
}

template <typename LINKS> QFZ_DEVICE void qfz_step(const LINKS &links, qfz_climber *at)
{
    *at = qfz_start(links, at->link.parent, at->link.level);
}

/* FIND-LEVEL-ROOT: climbs to the last ancestor whose level is at most `level`. */
template <typename LINKS>
QFZ_DEVICE void qfz_climb(const LINKS &links, qfz_climber *at, uint32_t level)
{
    while (at->link.parent != at->node && at->link.level <= level)
        qfz_step(links, at);
}

QFZ_DEVICE void qfz_swap_climbers(qfz_climber *a, qfz_climber *b)
{
    const qfz_climber c = *a;
    *a = *b;
    *b = c;
}

/* CONNECT (algorithm 4): merges the chains of ancestors of a and b. Each round moves a or b up, or
 * shortens a chain for good; the loop ends where the chains meet or one of them ends. */
template <typename LINKS>
QFZ_DEVICE void qfz_connect(const LINKS &links, qfz_climber a, qfz_climber b)
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

/* CONNECT-WITH (algorithm 5): connects p and q by their edge, which becomes a node if needed. */
template <typename LINKS>
QFZ_DEVICE void qfz_connect_with(const LINKS &links, uint32_t p, uint32_t q, uint32_t edge,
                                 uint32_t level)
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

/* ---- What is read of a tree ------------------------------------------------------------------ */

/* Where the ways up from two nodes meet; below: the last node of each way before that, or the node
 * itself if it is where they meet.  is: false if they do not meet. */
struct qfz_meeting {
    bool is;
    uint32_t level, below[2];
};

/* The ways climb in step: the earlier of the two nodes goes on. */
template <typename LINKS>
QFZ_DEVICE qfz_meeting qfz_meet(const LINKS &links, uint32_t p, uint32_t q)
{
    qfz_climber a = qfz_start(links, p, 0), b = qfz_start(links, q, 0);
    uint32_t below_a = p, below_b = q;
    while (a.node != b.node) {
        if (b.level < a.level || (a.level == b.level && b.node < a.node)) {
            const uint32_t below = below_a;
            qfz_swap_climbers(&a, &b);
            below_a = below_b;
            below_b = below;
        }
        if (a.link.parent == a.node) return qfz_meeting{false, 0, {below_a, below_b}};
        below_a = a.node;
        qfz_step(links, &a);
    }
    return qfz_meeting{true, a.level, {below_a, below_b}};
}
