/* SPDX-License-Identifier: MIT */
/* spanning.c - disjoint sets with hardly a branch: the data is random, so that a branch would be
 * mispredicted half of the time, and each edge may need what the previous edge stored.  Nothing but
 * the sets is updated here, so that the caller's work on the kept edges does not wait for them. */
#include "cpu/spanning.h"

#include "core/simd.h"

void qfz_spanning_start(uint16_t *find, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        find[i] = (uint16_t)i;
}

/* Three steps towards the root, which is reached in nine cases of ten. */
static inline uint32_t near_root(uint16_t *find, uint32_t v)
{
    const uint16_t above = find[find[find[v]]];
    find[v] = above;
    return above;
}

/* Rarely called, but then the path may be long: it is halved. */
static uint32_t root_of(uint16_t *find, uint32_t v)
{
    while (find[v] != v) {
        find[v] = find[find[v]];
        v = find[v];
    }
    return v;
}

/* Applies near_root() to both pixels of an edge; the result has the form of an edge.  Leaves come
 * in runs, so that this branch and the other one are foreseen. */
QFZ_INLINE uint32_t near_roots(uint16_t *find, uint64_t edge, bool has_leaves)
{
    const uint32_t p = near_root(find, qfz_edge_p(edge));
    if (has_leaves && qfz_edge_is_leaf(edge)) return p;
    return (uint32_t)qfz_edge_of(0, p, near_root(find, qfz_edge_q(edge)));
}

/* Roots are looked up several edges ahead.  When an edge is processed, its roots may no longer be
 * roots, but are hardly more than a step away from one. */
QFZ_INLINE int32_t keep(uint16_t *find, uint64_t *edges, int32_t n_edges, bool has_leaves)
{
    enum { AHEAD = 8 };
    uint32_t near[AHEAD];
    int32_t n = 0;
    for (int32_t i = 0; i < AHEAD && i < n_edges; i++)
        near[i] = near_roots(find, edges[i], has_leaves);
    for (int32_t i = 0; i < n_edges; i++) {
        const uint64_t next = edges[i + AHEAD < n_edges ? i + AHEAD : n_edges - 1];
        const bool loop = qfz_edge_is_loop(edges[i]);
        uint32_t *const turn = &near[i % AHEAD];
        if (has_leaves && qfz_edge_is_leaf(edges[i])) {
            const uint64_t root = root_of(find, qfz_edge_p(*turn));
            edges[n++] = (edges[i] & ~(uint64_t)UINT16_MAX) | root;
            *turn = near_roots(find, next, has_leaves);
            continue;
        }
        uint32_t p = find[qfz_edge_p(*turn)], q = find[qfz_edge_q(*turn)];
        if ((find[p] ^ p) | (find[q] ^ q)) {
            p = root_of(find, p);
            q = root_of(find, q);
        }
        const uint32_t first = p < q ? p : q, other = p < q ? q : p;
        find[other] = (uint16_t)first;
        edges[n] = qfz_edge_of(qfz_edge_level(edges[i]), first, other);
        n += (first != other) | loop;
        *turn = near_roots(find, next, has_leaves);
    }
    return n;
}

int32_t qfz_spanning_keep(uint16_t *find, uint64_t *edges, int32_t n_edges, bool has_leaves)
{
    return has_leaves ? keep(find, edges, n_edges, true) : keep(find, edges, n_edges, false);
}
