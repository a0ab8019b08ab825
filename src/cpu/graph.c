/* SPDX-License-Identifier: MIT */
#include "cpu/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

qfz_status qfz_graph_init(qfz_graph *graph, int64_t capacity, qfz_error *err)
{
    *graph = (qfz_graph){.capacity = capacity};
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->level, capacity, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->id, capacity, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->spare_level, capacity, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->spare_id, capacity, err));
    return QFZ_OK;

failed:
    qfz_graph_fini(graph);
    return st;
}

void qfz_graph_fini(qfz_graph *graph)
{
    free(graph->level);
    free(graph->id);
    free(graph->spare_level);
    free(graph->spare_id);
    *graph = (qfz_graph){0};
}

qfz_status qfz_forest_init(qfz_forest *forest, int64_t n, qfz_error *err)
{
    *forest = (qfz_forest){0};
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&forest->up, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&forest->level, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&forest->find, n, err));
    return QFZ_OK;

failed:
    qfz_forest_fini(forest);
    return st;
}

void qfz_forest_fini(qfz_forest *forest)
{
    free(forest->up);
    free(forest->level);
    free(forest->find);
    *forest = (qfz_forest){0};
}

void qfz_graph_set_links(qfz_graph *graph, uint32_t n, const uint32_t *u, const uint32_t *v,
                         const uint32_t *link_level)
{
    graph->n = n;
    graph->n_edges = 0;
    graph->u = u;
    graph->v = v;
    graph->link_level = link_level;
}

void qfz_graph_add_links(qfz_graph *graph, int64_t first, int64_t n, uint32_t alpha_level)
{
    for (int64_t i = first; i < first + n; i++) {
        if (graph->link_level[i] > alpha_level) continue;
        graph->level[graph->n_edges] = graph->link_level[i];
        graph->id[graph->n_edges++] = (uint32_t)i;
    }
}

/* ---- Sorting. */
enum { MAX_DIGIT_BITS = 11 };

static bool sort_pass(qfz_graph *graph, int shift, int bits)
{
    int64_t at[1 << MAX_DIGIT_BITS] = {0};
    const uint32_t mask = (1u << bits) - 1;
    const int64_t n = graph->n_edges;
    for (int64_t i = 0; i < n; i++)
        at[graph->level[i] >> shift & mask]++;
    if (at[graph->level[0] >> shift & mask] == n) return false;
    int64_t sum = 0;
    for (uint32_t d = 0; d <= mask; d++) {
        const int64_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = at[graph->level[i] >> shift & mask]++;
        graph->spare_level[to] = graph->level[i];
        graph->spare_id[to] = graph->id[i];
    }
    return true;
}

static void swap(uint32_t **a, uint32_t **b)
{
    uint32_t *const was = *a;
    *a = *b;
    *b = was;
}

/* A stable radix sort, lowest digit first, up to the highest digit of the largest level. */
void qfz_graph_sort(qfz_graph *graph)
{
    uint32_t any = 0;
    for (int64_t i = 0; i < graph->n_edges; i++)
        any |= graph->level[i];
    const int width = any ? 32 - __builtin_clz(any) : 0;
    const int passes =
        width <= 16 ? (width + 7) / 8 : (width + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
    const int bits = width <= 16 ? 8 : MAX_DIGIT_BITS;
    for (int pass = 0; pass < passes; pass++) {
        if (!sort_pass(graph, pass * bits, bits)) continue;
        swap(&graph->level, &graph->spare_level);
        swap(&graph->id, &graph->spare_id);
    }
}

/* ---- The forest. */
void qfz_forest_reset_some(qfz_forest *forest, uint32_t first, uint32_t end)
{
    for (uint32_t v = first; v < end; v++) {
        forest->up[v] = v;
        forest->find[v] = v;
        forest->level[v] = 1;
    }
}

void qfz_forest_reset(qfz_forest *forest, uint32_t n)
{
    forest->n = n;
    qfz_forest_reset_some(forest, 0, n);
}

/* Climbs from the vertex whose hook has the lower level; if that vertex is a root, from the other
 * one. */
uint32_t qfz_forest_minimax(const qfz_forest *forest, uint32_t u, uint32_t v)
{
    uint32_t level = 0;
    while (u != v) {
        const bool u_root = forest->up[u] == u, v_root = forest->up[v] == v;
        if (u_root && v_root) return QFZ_NONE;
        if (v_root || (!u_root && forest->level[u] <= forest->level[v])) {
            level = forest->level[u];
            u = forest->up[u];
        } else {
            level = forest->level[v];
            v = forest->up[v];
        }
    }
    return level;
}

uint32_t qfz_forest_grow(qfz_forest *forest, const qfz_graph *graph)
{
    uint32_t largest = 0;
    qfz_forest_reset(forest, graph->n);
    for (int64_t i = 0; i < graph->n_edges; i++) {
        const uint32_t link = graph->id[i];
        const uint32_t a = qfz_forest_root(forest, graph->u[link]);
        const uint32_t b = qfz_forest_root(forest, graph->v[link]);
        if (a == b) continue;
        (void)qfz_forest_hook(forest, a, b, graph->level[i]);
        largest = graph->level[i];
    }
    return largest;
}

uint32_t qfz_forest_summarise(qfz_forest *forest, const qfz_graph *graph, uint32_t *mark,
                              qfz_links *links, qfz_histogram *settled)
{
    uint32_t largest = 0;
    qfz_forest_reset(forest, graph->n);
    for (int64_t i = 0; i < graph->n_edges; i++) {
        const uint32_t link = graph->id[i];
        const uint32_t a = qfz_forest_root(forest, graph->u[link]);
        const uint32_t b = qfz_forest_root(forest, graph->v[link]);
        if (a == b) continue;
        const uint32_t mark_a = mark[a], mark_b = mark[b];
        if (mark_a != QFZ_NONE && mark_b != QFZ_NONE) {
            links->u[links->n] = mark_a;
            links->v[links->n] = mark_b;
            links->level[links->n++] = graph->level[i];
        } else {
            largest = graph->level[i];
            if (settled) qfz_histogram_add(settled, largest, 1);
        }
        const uint32_t root = qfz_forest_hook(forest, a, b, graph->level[i]);
        mark[root] = mark_a != QFZ_NONE ? mark_a : mark_b;
    }
    return largest;
}
