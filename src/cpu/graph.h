/* SPDX-License-Identifier: MIT */
/* graph.h - minimax paths in a weighted graph, by Kruskal's algorithm.
 *
 * Joined in order of their levels, by size and without compression, links make a forest in which
 * each vertex knows the level by which its component was hooked to a larger one.  Keys grow upwards
 * and no path is longer than log2(n), so the minimax level of two vertices is one short climb. */
#ifndef QFZ_CPU_GRAPH_H
#define QFZ_CPU_GRAPH_H

#include "core/summary.h"

typedef struct qfz_graph {
    uint32_t n; /* vertices */

    const uint32_t *u, *v, *link_level; /* borrowed */

    int64_t n_edges;                  /* ascending by level */
    uint32_t *level, *id;             /* id: number of a link */
    uint32_t *spare_level, *spare_id; /* room for the sort */
    int64_t capacity;
} qfz_graph;

typedef struct qfz_forest {
    uint32_t n;
    uint32_t *up;    /* what a vertex is hooked to; itself at a root */
    uint32_t *level; /* of the hook; at a root, the component's size */
    uint32_t *find;  /* shortcuts to the root */
} qfz_forest;

qfz_status qfz_graph_init(qfz_graph *graph, int64_t capacity, qfz_error *err);
void qfz_graph_fini(qfz_graph *graph);
qfz_status qfz_forest_init(qfz_forest *forest, int64_t n, qfz_error *err);
void qfz_forest_fini(qfz_forest *forest);

/* Makes the graph one of n vertices, without edges yet, whose links will be of these (borrowed). */
void qfz_graph_set_links(qfz_graph *graph, uint32_t n, const uint32_t *u, const uint32_t *v,
                         const uint32_t *link_level);

/* Adds those of n links, from number first on, whose levels are <= alpha_level. */
void qfz_graph_add_links(qfz_graph *graph, int64_t first, int64_t n, uint32_t alpha_level);

void qfz_graph_sort(qfz_graph *graph);

/* Every vertex alone; or those of a range only. */
void qfz_forest_reset(qfz_forest *forest, uint32_t n);
void qfz_forest_reset_some(qfz_forest *forest, uint32_t first, uint32_t end);

static inline uint32_t qfz_forest_root(qfz_forest *forest, uint32_t v)
{
    uint32_t *const find = forest->find;
    while (find[v] != v) {
        find[v] = find[find[v]];
        v = find[v];
    }
    return v;
}

/* Hooks the smaller of two roots to the larger; returns the root that stays. */
static inline uint32_t qfz_forest_hook(qfz_forest *forest, uint32_t a, uint32_t b, uint32_t level)
{
    const bool a_stays =
        forest->level[a] > forest->level[b] || (forest->level[a] == forest->level[b] && a < b);
    const uint32_t winner = a_stays ? a : b, loser = a_stays ? b : a;
    forest->level[winner] += forest->level[loser];
    forest->up[loser] = winner;
    forest->find[loser] = winner;
    forest->level[loser] = level;
    return winner;
}

/* The level of the minimax path between two vertices, QFZ_NONE if there is no path; 0 if u is v. */
uint32_t qfz_forest_minimax(const qfz_forest *forest, uint32_t u, uint32_t v);

/* Joins a sorted graph's vertices into the forest, which is reset first. */
void qfz_forest_grow(qfz_forest *forest, const qfz_graph *graph);

/* The same, and links gets links between marks with the same minimax levels between all of them.
 * mark[v] is a vertex's number among the marks, or QFZ_NONE; it is overwritten.  links has room
 * for as many links as there are marks. */
void qfz_forest_summarise(qfz_forest *forest, const qfz_graph *graph, uint32_t *mark,
                          qfz_links *links);

#endif
