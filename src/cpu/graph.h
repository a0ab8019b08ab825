/* SPDX-License-Identifier: MIT */
/* graph.h - minimax levels in a weighted graph, by Kruskal's algorithm.
 *
 * Links are joined in order of level, by size and without path compression.  The result is a forest
 * in which each vertex has the level at which its component was hooked to a larger one.  Levels
 * ascend along a path and no path is longer than log2(n), so the minimax level of two vertices
 * takes one short climb. */
#ifndef QFZ_CPU_GRAPH_H
#define QFZ_CPU_GRAPH_H

#include "core/histogram.h"
#include "core/summary.h"

typedef struct qfz_graph {
    uint32_t n; /* vertices */

    const uint32_t *u, *v, *link_level; /* borrowed */

    int64_t n_edges;                  /* edges, ascending by level after qfz_graph_sort() */
    uint32_t *level, *id;             /* level and link number of each edge */
    uint32_t *spare_level, *spare_id; /* working memory of the sort */
    int64_t capacity;
} qfz_graph;

typedef struct qfz_forest {
    uint32_t n;
    uint32_t *up;    /* the vertex that a vertex is hooked to; itself at a root */
    uint32_t *level; /* of the hook; at a root: the component's size */
    uint32_t *find;  /* shortcuts to the root */
} qfz_forest;

qfz_status qfz_graph_init(qfz_graph *graph, int64_t capacity, qfz_error *err);
void qfz_graph_fini(qfz_graph *graph);
qfz_status qfz_forest_init(qfz_forest *forest, int64_t n, qfz_error *err);
void qfz_forest_fini(qfz_forest *forest);

/* Makes a graph of n vertices without edges, whose links will be u[i] - v[i] of level link_level[i]
 * (borrowed). */
void qfz_graph_set_links(qfz_graph *graph, uint32_t n, const uint32_t *u, const uint32_t *v,
                         const uint32_t *link_level);

/* Adds those of the n links from number `first` on whose levels are <= alpha_level. */
void qfz_graph_add_links(qfz_graph *graph, int64_t first, int64_t n, uint32_t alpha_level);

void qfz_graph_sort(qfz_graph *graph);

/* Makes every vertex a root: 0..n - 1, or first..end - 1. */
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

/* Hooks the root of the smaller component to the other one; returns the root that remains. */
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

/* The minimax level of two vertices; QFZ_NONE if there is no path, 0 if u == v. */
uint32_t qfz_forest_minimax(const qfz_forest *forest, uint32_t u, uint32_t v);

/* Resets the forest and joins the vertices of a sorted graph.  Returns the largest level of a join,
 * 0 if there is none. */
uint32_t qfz_forest_grow(qfz_forest *forest, const qfz_graph *graph);

/* The same, and appends links between marked vertices that have the same minimax levels between all
 * marks.  mark[v] is the number of the mark at vertex v, or QFZ_NONE, and is overwritten.  links
 * has room for as many links as there are marks.  settled: counts the joins that become no link;
 * NULL: they are not counted.  Returns the largest level of those joins, 0 if there is none. */
uint32_t qfz_forest_summarise(qfz_forest *forest, const qfz_graph *graph, uint32_t *mark,
                              qfz_links *links, qfz_histogram *settled);

#endif
