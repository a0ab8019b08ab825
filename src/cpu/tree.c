/* SPDX-License-Identifier: MIT */
/* tree.c - the canonical alpha-tree of an image, by Kruskal's algorithm on its thinned edges.
 *
 * top[root] is the node that stands for a component.  Two components that meet at a level become
 * children of one node of that level: of a top that has it already, else of a new one.  If both
 * tops have it, one becomes an alias of the other, to be looked through at the end. */
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/graph.h"

typedef struct build {
    uint32_t n_px;
    uint32_t n_nodes;
    uint32_t *parent, *level;
    uint32_t *find, *top;
    uint8_t *is_alias; /* of inner nodes */
} build;

/* The parts of the scratch memory, one after the other. */
typedef struct parts {
    qfz_graph graph;
    void *rows;
    uint32_t *find, *top;
    uint8_t *is_alias;
    size_t bytes;
} parts;

static void *take(char *scratch, size_t *at, size_t bytes)
{
    void *const here = scratch ? scratch + *at : NULL;
    *at += (bytes + 15) / 16 * 16;
    return here;
}

static parts slice(char *scratch, const qfz_rule *rule, int64_t h, int64_t w)
{
    const size_t n = (size_t)(h * w);
    parts p = {.graph.capacity = qfz_graph_grid_edges(rule->connectivity, h, w)};
    const size_t edges = (size_t)p.graph.capacity * sizeof(uint32_t);
    size_t at = 0;
    p.graph.key = take(scratch, &at, edges);
    p.graph.id = take(scratch, &at, edges);
    p.graph.spare_key = take(scratch, &at, edges);
    p.graph.spare_id = take(scratch, &at, edges);
    p.rows = take(scratch, &at, qfz_graph_row_bytes(w));
    p.find = take(scratch, &at, n * sizeof(uint32_t));
    p.top = take(scratch, &at, n * sizeof(uint32_t));
    p.is_alias = take(scratch, &at, n);
    p.bytes = at;
    return p;
}

size_t qfz_tree_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads)
{
    (void)n_threads;
    return slice(NULL, rule, h, w).bytes;
}

static uint32_t root_of(uint32_t *find, uint32_t v)
{
    while (find[v] != v) {
        find[v] = find[find[v]];
        v = find[v];
    }
    return v;
}

static bool has_level(const build *b, uint32_t node, uint32_t level)
{
    return node >= b->n_px && b->level[node] == level;
}

/* The node of this level over two tops. */
static uint32_t node_over(build *b, uint32_t s, uint32_t t, uint32_t level)
{
    const bool s_has = has_level(b, s, level), t_has = has_level(b, t, level);
    if (s_has) {
        b->parent[t] = s;
        if (t_has) b->is_alias[t - b->n_px] = 1;
        return s;
    }
    if (t_has) {
        b->parent[s] = t;
        return t;
    }
    const uint32_t node = b->n_nodes++;
    b->parent[node] = node;
    b->level[node] = level;
    b->is_alias[node - b->n_px] = 0;
    b->parent[s] = node;
    b->parent[t] = node;
    return node;
}

static void join_all(build *b, const qfz_graph *graph)
{
    for (int64_t i = 0; i < graph->n_edges; i++) {
        uint32_t u, v;
        qfz_graph_ends(graph, graph->id[i], &u, &v);
        const uint32_t p = root_of(b->find, u), q = root_of(b->find, v);
        if (p == q) continue;
        const uint32_t node = node_over(b, b->top[p], b->top[q], graph->key[i]);
        const uint32_t root = p < q ? p : q;
        b->find[p < q ? q : p] = root;
        b->top[root] = node;
    }
}

/* Parents that are aliases give way to what they stand for; an alias itself is left unused. */
static void look_through_aliases(build *b)
{
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        uint32_t parent = b->parent[i];
        while (parent >= b->n_px && b->is_alias[parent - b->n_px])
            parent = b->parent[parent];
        if (i < b->n_px || !b->is_alias[i - b->n_px]) b->parent[i] = parent;
    }
    for (uint32_t i = b->n_px; i < b->n_nodes; i++)
        if (b->is_alias[i - b->n_px]) b->parent[i] = i;
}

void qfz_tree_build(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *parent, uint32_t *level, int64_t *n_nodes)
{
    (void)n_threads;
    parts p = slice(scratch, rule, image->h, image->w);
    const uint32_t n = (uint32_t)(image->h * image->w);
    build b = {.n_px = n,
               .n_nodes = n,
               .parent = parent,
               .level = level,
               .find = p.find,
               .top = p.top,
               .is_alias = p.is_alias};
    for (uint32_t i = 0; i < n; i++) {
        parent[i] = b.find[i] = b.top[i] = i;
        level[i] = 0;
    }
    qfz_graph_set_image(&p.graph, image, rule, p.rows);
    qfz_graph_sort(&p.graph);
    join_all(&b, &p.graph);
    look_through_aliases(&b);
    *n_nodes = b.n_nodes;
}
