/* SPDX-License-Identifier: MIT */
/* spanning.c - data decides at random here, so that a branch is wrong as often as not, and what one
 * edge stores the next one may need.  So there is hardly a branch, and nothing but sets: what the
 * caller makes of the edges that stay does not wait for them. */
#include "cpu/spanning.h"

void qfz_spanning_start(uint16_t *find, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        find[i] = (uint16_t)i;
}

/* As far as three steps lead, which is the root nine times out of ten. */
static inline uint32_t near_root(uint16_t *find, uint32_t v)
{
    const uint16_t above = find[find[find[v]]];
    find[v] = above;
    return above;
}

/* Seldom asked, but then the way may be long: it is halved. */
static uint32_t root_of(uint16_t *find, uint32_t v)
{
    while (find[v] != v) {
        find[v] = find[find[v]];
        v = find[v];
    }
    return v;
}

/* Of an edge's two pixels, as an edge. */
static inline uint32_t near_roots(uint16_t *find, uint64_t edge)
{
    const uint32_t p = near_root(find, qfz_edge_p(edge));
    return (uint32_t)qfz_edge_of(0, p, near_root(find, qfz_edge_q(edge)));
}

/* Roots are looked for some edges ahead: when their turn comes, they may be roots no longer, but
 * are hardly more than a step away from one. */
int32_t qfz_spanning_keep(uint16_t *find, uint64_t *edges, int32_t n_edges)
{
    enum { AHEAD = 8 };
    uint32_t near[AHEAD];
    int32_t n = 0;
    for (int32_t i = 0; i < AHEAD && i < n_edges; i++)
        near[i] = near_roots(find, edges[i]);
    for (int32_t i = 0; i < n_edges; i++) {
        const uint64_t next = edges[i + AHEAD < n_edges ? i + AHEAD : n_edges - 1];
        const bool loop = qfz_edge_is_loop(edges[i]);
        uint32_t *const turn = &near[i % AHEAD];
        uint32_t p = find[qfz_edge_p(*turn)], q = find[qfz_edge_q(*turn)];
        if ((find[p] ^ p) | (find[q] ^ q)) {
            p = root_of(find, p);
            q = root_of(find, q);
        }
        const uint32_t first = p < q ? p : q, other = p < q ? q : p;
        find[other] = (uint16_t)first;
        edges[n] = qfz_edge_of(qfz_edge_level(edges[i]), first, other);
        n += (first != other) | loop;
        *turn = near_roots(find, next);
    }
    return n;
}
