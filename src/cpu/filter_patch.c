/* SPDX-License-Identifier: MIT */
#include "cpu/filter_patch.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/position.h"

enum { SOME_ITEMS = 512 };

struct qfz_filter_buffer {
    uint32_t n, u[SOME_ITEMS], v[SOME_ITEMS], level[SOME_ITEMS];
    uint64_t position[SOME_ITEMS], mass[SOME_ITEMS];
};

/* ---- Memory. */
int64_t qfz_filter_patch_max_vertices(qfz_box patch)
{
    return qfz_ring_size(qfz_box_h(patch), qfz_box_w(patch));
}

/* Links form a forest.  Each event has a mass, and a component has none after it weighs enough. */
int64_t qfz_filter_patch_max_items(qfz_box patch, uint64_t min_mass)
{
    const int64_t n_vertices = qfz_filter_patch_max_vertices(patch);
    const int64_t n_px = qfz_box_h(patch) * qfz_box_w(patch);
    const bool is_less = min_mass < (uint64_t)(n_px / n_vertices);
    return n_vertices + (is_less ? n_vertices * (int64_t)min_mass : n_px);
}

typedef struct sizes {
    int64_t n_vertices, n_items, n_edge_gates;
} sizes;

/* Of the first patch, which no other one exceeds. */
static sizes most_of(const qfz_filter_graph *graph)
{
    const qfz_box box = qfz_cpu_blocks_box(&graph->patches, 0, 0);
    const int64_t h = qfz_box_h(box), w = qfz_box_w(box);
    const int64_t kinds = graph->rule.connectivity == 4 ? 1 : 3;
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, graph->layout.side);
    const qfz_box block = qfz_cpu_blocks_box(&in, 0, 0);
    return (sizes){.n_vertices =
                       1 + in.n_y * in.n_x * qfz_ring_size(qfz_box_h(block), qfz_box_w(block)),
                   .n_items = h * w + kinds * ((in.n_x - 1) * h + (in.n_y - 1) * w),
                   .n_edge_gates = qfz_ring_size(h, w)};
}

qfz_status qfz_filter_patch_scratch_init(qfz_filter_patch_scratch *s, const qfz_filter_graph *graph,
                                         qfz_error *err)
{
    const sizes n = most_of(graph);
    *s = (qfz_filter_patch_scratch){0};
    qfz_status st;
    QFZ_TRY_OR(st, failed, qfz_filter_items_reserve(&s->patch.items, n.n_items, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&s->patch.weight, n.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&s->patch.edge_gates, n.n_edge_gates, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&s->up, n.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&s->outer, n.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&s->buffer, 1, err));
    QFZ_TRY_OR(
        st, failed,
        qfz_alloc_large(&s->block, 1, qfz_filter_block_bytes(graph->rule.connectivity), err));
    s->buffer->n = 0;
    return QFZ_OK;

failed:
    qfz_filter_patch_scratch_fini(s);
    return st;
}

void qfz_filter_patch_scratch_fini(qfz_filter_patch_scratch *s)
{
    qfz_filter_items_fini(&s->patch.items);
    free(s->patch.weight);
    free(s->patch.edge_gates);
    free(s->up);
    free(s->outer);
    free(s->buffer);
    free(s->block);
    *s = (qfz_filter_patch_scratch){0};
}

int64_t qfz_filter_patch_scratch_bytes(const qfz_filter_graph *graph)
{
    const sizes n = most_of(graph);
    const int64_t word = sizeof(uint32_t), wide = sizeof(uint64_t);
    return qfz_filter_items_bytes(n.n_items) + n.n_vertices * (2 * word + wide) +
           n.n_edge_gates * word + (int64_t)sizeof(qfz_filter_buffer) +
           (int64_t)qfz_filter_block_bytes(graph->rule.connectivity);
}

/* ---- Items of the tile's graph. */
static void flush(const qfz_filter_graph *graph, qfz_filter_buffer *from)
{
    qfz_filter_items *const items = graph->items;
    const int64_t n = from->n;
    int64_t at;
#pragma omp atomic capture
    {
        at = items->n;
        items->n += n;
    }
    for (int64_t i = 0; i < n; i++)
        items->key[at + i] =
            (qfz_filter_key){from->position[i], from->level[i], (uint32_t)(at + i)};
    memcpy(items->u + at, from->u, (size_t)n * sizeof *from->u);
    memcpy(items->v + at, from->v, (size_t)n * sizeof *from->v);
    memcpy(items->mass + at, from->mass, (size_t)n * sizeof *from->mass);
    from->n = 0;
}

static void put(const qfz_filter_graph *graph, qfz_filter_buffer *to, uint32_t level,
                uint64_t position, uint32_t u, uint32_t v, uint64_t mass)
{
    if (to->n == SOME_ITEMS) flush(graph, to);
    const uint32_t i = to->n++;
    to->u[i] = u;
    to->v[i] = v;
    to->level[i] = level;
    to->position[i] = position;
    to->mass[i] = mass;
}

/* ---- Seams. */
/* The blocks of a patch, as numbers of rows and columns. */
static qfz_box blocks_of(const qfz_filter_graph *graph, qfz_box patch)
{
    const int64_t side = graph->layout.side;
    return (qfz_box){patch.y0 / side, patch.x0 / side, (patch.y1 + side - 1) / side,
                     (patch.x1 + side - 1) / side};
}

/* The gate of a pixel of block (by, bx). */
static uint32_t gate_in(const qfz_filter_graph *graph, int64_t by, int64_t bx, int64_t y, int64_t x)
{
    const qfz_box box = qfz_cpu_blocks_box(&graph->layout, by, bx);
    const int64_t i = qfz_ring_index(qfz_box_h(box), qfz_box_w(box), y - box.y0, x - box.x0);
    return graph->gate[graph->blocks[by * graph->layout.n_x + bx].first + i];
}

uint32_t qfz_filter_gate(const qfz_filter_graph *graph, int64_t y, int64_t x)
{
    return gate_in(graph, y / graph->layout.side, x / graph->layout.side, y, x);
}

/* A block, and the patch that has it. */
typedef struct place {
    int64_t by, bx;
    qfz_box block, patch;
} place;

/* The gate of a pixel of the block or of the next one to the right or below. */
static uint32_t gate_near(const qfz_filter_graph *graph, const place *at, int64_t y, int64_t x)
{
    return gate_in(graph, at->by + (y >= at->block.y1), at->bx + (x >= at->block.x1), y, x);
}

/* An edge across a seam: its two pixels. */
typedef struct crossing {
    int64_t y, x, to_y, to_x;
    int dir;
} crossing;

static crossing crossing_of(const qfz_filter_graph *graph, uint32_t id)
{
    static const int from[QFZ_EDGE_KINDS] = {0, 0, 0, 1}, to_x[QFZ_EDGE_KINDS] = {1, 0, 1, 0};
    static const int to_y[QFZ_EDGE_KINDS] = {0, 1, 1, 1};
    static const int dir[QFZ_EDGE_KINDS] = {QFZ_RIGHT, QFZ_BELOW, QFZ_BELOW_RIGHT, QFZ_BELOW_LEFT};
    const uint32_t w = (uint32_t)graph->layout.w, a = id / QFZ_EDGE_KINDS,
                   kind = id % QFZ_EDGE_KINDS;
    const int64_t y = a / w, x = a % w;
    return (crossing){y, x + from[kind], y + to_y[kind], x + to_x[kind], dir[kind]};
}

/* Adds the edges across the seams of one block that leave the patch to the tile's graph, or the
 * others to the patch's. */
static void add_seam(const qfz_filter_graph *graph, const place *at, bool is_leaving,
                     qfz_filter_patch_scratch *s)
{
    const qfz_filter_block *const block = &graph->blocks[at->by * graph->layout.n_x + at->bx];
    for (uint32_t e = block->seam; e < block->seam + block->n_seam; e++) {
        const crossing c = crossing_of(graph, graph->seams[e].id);
        const bool leaves =
            !qfz_box_has(at->patch, c.y, c.x) || !qfz_box_has(at->patch, c.to_y, c.to_x);
        if (leaves != is_leaving) continue;
        const uint32_t u = gate_near(graph, at, c.y, c.x), v = gate_near(graph, at, c.to_y, c.to_x);
        if (u == v) continue;
        const uint64_t position = qfz_position(graph->box.y0 + c.y, graph->box.x0 + c.x, c.dir);
        if (leaves)
            put(graph, s->buffer, graph->seams[e].level, position, u, v, 0);
        else
            qfz_filter_add(&s->patch.items, graph->seams[e].level, position, u, v, 0);
    }
}

static void add_seams(const qfz_filter_graph *graph, qfz_box patch, bool are_leaving,
                      qfz_filter_patch_scratch *s)
{
    const qfz_box in = blocks_of(graph, patch);
    for (int64_t by = in.y0; by < in.y1; by++) {
        for (int64_t bx = in.x0; bx < in.x1; bx++) {
            const place at = {by, bx, qfz_cpu_blocks_box(&graph->layout, by, bx), patch};
            const bool is_last = by + 1 == in.y1 || bx + 1 == in.x1;
            if (is_last || !are_leaving) add_seam(graph, &at, are_leaving, s);
        }
    }
}

void qfz_filter_patch_add_crossing(const qfz_filter_graph *graph, int64_t i,
                                   qfz_filter_patch_scratch *s)
{
    const qfz_cpu_blocks *const patches = &graph->patches;
    add_seams(graph, qfz_cpu_blocks_box(patches, i / patches->n_x, i % patches->n_x), true, s);
    flush(graph, s->buffer);
}

/* ---- Components. */
void qfz_filter_set_bit(const qfz_filter_graph *graph, uint64_t position, int found)
{
    uint8_t *const to = found == QFZ_FILTER_ZEROED ? graph->zeroed : graph->forest;
    int64_t y, x;
    int dir;
    if (!to) return;
    qfz_position_edge(position, &y, &x, &dir);
    to[(y - graph->box.y0) * graph->layout.w + x - graph->box.x0] |= (uint8_t)(1u << dir);
}

/* The patch at work. */
typedef struct view {
    const qfz_filter_graph *graph;
    qfz_filter_patch_scratch *s;
    uint64_t least; /* N */
} view;

static void put_event(const view *p, const qfz_filter_key *key, uint32_t open, uint64_t mass)
{
    put(p->graph, p->s->buffer, key->level, key->position, p->s->outer[open], QFZ_NONE, mass);
}

/* A component takes in a mass, which may stand for an edge to a component that weighs enough.
 * Returns ZEROED or KEPT (filter.h) if that edge is decided, else 0. */
static int take_in(const view *p, const qfz_filter_key *key, uint32_t a, uint64_t mass)
{
    uint64_t *const weight = &p->s->patch.weight[a];
    const bool is_open = p->s->outer[a] != QFZ_NONE, is_enough = *weight == p->least;
    const bool is_edge = mass == p->least;
    if (is_open && !is_enough && mass > 0) put_event(p, key, a, mass);
    *weight = qfz_filter_sum(*weight, mass, p->least);
    if (!is_edge || (is_open && !is_enough)) return 0;
    return is_enough ? QFZ_FILTER_KEPT : QFZ_FILTER_ZEROED;
}

/* Component b goes under a; b is closed, or both are open.  Returns as take_in(). */
static int join(const view *p, const qfz_filter_key *key, uint32_t a, uint32_t b)
{
    const qfz_filter_patch_scratch *const s = p->s;
    uint64_t *const weight = s->patch.weight;
    s->up[b] = a;
    if (s->outer[b] == QFZ_NONE) {
        const bool is_light = weight[b] < p->least;
        const int found = take_in(p, key, a, weight[b]);
        return is_light ? QFZ_FILTER_ZEROED : found;
    }
    /* Unless the forest is wanted, no link between components that weigh enough is. */
    if (p->graph->rule.wants_forest || weight[a] < p->least || weight[b] < p->least)
        put(p->graph, s->buffer, key->level, key->position, s->outer[a], s->outer[b], 0);
    weight[a] = qfz_filter_sum(weight[a], weight[b], p->least);
    return 0;
}

static void add_item(const view *p, const qfz_filter_key *key)
{
    const qfz_filter_patch_scratch *const s = p->s;
    const qfz_filter_items *const items = &s->patch.items;
    const uint32_t u = qfz_filter_root(s->up, items->u[key->item]);
    int found = 0;
    if (items->v[key->item] == QFZ_NONE) {
        found = take_in(p, key, u, items->mass[key->item]);
    } else {
        const uint32_t v = qfz_filter_root(s->up, items->v[key->item]);
        if (u == v) return;
        const bool is_u_open = s->outer[u] != QFZ_NONE;
        found = is_u_open ? join(p, key, u, v) : join(p, key, v, u);
    }
    if (found && key->level > 0) qfz_filter_set_bit(p->graph, key->position, found);
}

/* ---- Patches. */
/* The pixels of a patch that no edge connects to other patches, or, if the tile's ring is open, to
 * other tiles. */
static qfz_box inner_of(const qfz_filter_graph *graph, qfz_box patch)
{
    const bool is_open = graph->is_open_ring;
    return (qfz_box){patch.y0 + (is_open || patch.y0 > 0), patch.x0 + (is_open || patch.x0 > 0),
                     patch.y1 - (is_open || patch.y1 < graph->layout.h),
                     patch.x1 - (is_open || patch.x1 < graph->layout.w)};
}

static void start(const qfz_filter_graph *graph, qfz_box box, qfz_filter_patch *patch)
{
    patch->box = box;
    patch->inner = inner_of(graph, box);
    patch->items.n = 0;
    patch->weight[QFZ_FILTER_HEAVY] = graph->rule.min_mass;
    patch->n_vertices = 1;
    patch->n_edge_gates = 0;
}

/* Opens the vertices that pixels at the patch's edge have; gates of such pixels become vertices of
 * the tile's graph. */
static void open_edge(const qfz_filter_graph *graph, const qfz_filter_patch *patch, uint32_t *outer)
{
    uint32_t n = 0, first;
    memset(outer, 0xff, patch->n_vertices * sizeof *outer);
    for (uint32_t i = 0; i < patch->n_edge_gates; i++) {
        const uint32_t v = graph->gate[patch->edge_gates[i]];
        if (v != QFZ_FILTER_HEAVY && outer[v] == QFZ_NONE) outer[v] = n++;
    }
#pragma omp atomic capture
    {
        first = *graph->n_vertices;
        *graph->n_vertices += n;
    }
    for (uint32_t v = 0; v < patch->n_vertices; v++) {
        if (outer[v] == QFZ_NONE) continue;
        outer[v] += first;
        graph->weight[outer[v]] = patch->weight[v];
    }
    for (uint32_t i = 0; i < patch->n_edge_gates; i++) {
        uint32_t *const gate = &graph->gate[patch->edge_gates[i]];
        *gate = *gate == QFZ_FILTER_HEAVY ? QFZ_FILTER_HEAVY : outer[*gate];
    }
}

void qfz_filter_patch_join(const qfz_filter_graph *graph, int64_t i, qfz_filter_patch_scratch *s)
{
    const qfz_cpu_blocks *const patches = &graph->patches;
    const view p = {.graph = graph, .s = s, .least = graph->rule.min_mass};
    qfz_filter_patch *const patch = &s->patch;
    start(graph, qfz_cpu_blocks_box(patches, i / patches->n_x, i % patches->n_x), patch);
    const qfz_box in = blocks_of(graph, patch->box);
    for (int64_t by = in.y0; by < in.y1; by++)
        for (int64_t bx = in.x0; bx < in.x1; bx++)
            qfz_filter_block_join(graph, patch, by * graph->layout.n_x + bx, s->block);
    add_seams(graph, patch->box, false, s);
    open_edge(graph, patch, s->outer);
    for (uint32_t v = 0; v < patch->n_vertices; v++)
        s->up[v] = v;
    qfz_filter_sort(&patch->items);
    for (int64_t k = 0; k < patch->items.n; k++)
        add_item(&p, &patch->items.key[k]);
    flush(graph, s->buffer);
}
