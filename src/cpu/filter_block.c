/* SPDX-License-Identifier: MIT */
#include "cpu/filter_block.h"

#include <string.h>

#include "core/position.h"

enum {
    MAX_RING = 4 * QFZ_CPU_BLOCK_SIDE,
    HEAVY = QFZ_CPU_BLOCK_PX, /* the node of all components that weigh at least N */
    CLOSED = UINT16_MAX,
    SOME_ITEMS = 512,
    INDEX_BITS = 16,
    MAX_DIGIT_BITS = 12,
    FEW = 16
};

/* Items that are not yet in the tile's list. */
typedef struct item_buffer {
    uint32_t n, u[SOME_ITEMS], v[SOME_ITEMS], level[SOME_ITEMS];
    uint64_t position[SOME_ITEMS], mass[SOME_ITEMS];
} item_buffer;

typedef struct scratch {
    /* By pixel, and HEAVY: sets; of their roots, the weight and the number of the vertex. */
    uint16_t up[QFZ_CPU_BLOCK_PX + 1], vertex[QFZ_CPU_BLOCK_PX + 1];
    uint64_t weight[QFZ_CPU_BLOCK_PX + 1];
    uint64_t open[MAX_RING];
    uint32_t count[1 << MAX_DIGIT_BITS];
    item_buffer items;
    uint64_t *key, *spare;
    qfz_block_edges *edges;
} scratch;

/* The block at work. */
typedef struct view {
    const qfz_filter_graph *graph;
    const qfz_filter_block *block;
    qfz_box box;
    uint32_t w;
    uint64_t row_of; /* row_of * p >> 32: the row of pixel p */
    uint64_t least;
    scratch *s;
    uint32_t n_vertices, n_light; /* n_light: components that are not heavy, if these are one */
} view;

static size_t max_edges(int connectivity)
{
    return QFZ_CPU_BLOCK_PX * (size_t)(connectivity / 2);
}

static size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t qfz_filter_block_bytes(int connectivity)
{
    return padded(sizeof(scratch)) + 2 * max_edges(connectivity) * sizeof(uint64_t) +
           padded(qfz_block_edges_bytes(connectivity));
}

static scratch *scratch_of(const qfz_filter_graph *graph, void *memory)
{
    scratch *const s = memory;
    const size_t n = max_edges(graph->rule.connectivity);
    s->key = (uint64_t *)(void *)((char *)memory + padded(sizeof(scratch)));
    s->spare = s->key + n;
    s->edges = (qfz_block_edges *)(void *)(s->spare + n);
    s->items.n = 0;
    return s;
}

/* ---- Items. */
static void flush(const qfz_filter_graph *graph, item_buffer *from)
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

static void add_item(const qfz_filter_graph *graph, item_buffer *to, uint32_t level,
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

/* ---- Edges of a block. */

static int direction_of(const view *b, uint32_t p, uint32_t q)
{
    const uint32_t step = q - p;
    if (step == b->w) return QFZ_BELOW;
    if (step > b->w) return QFZ_BELOW_RIGHT;
    if (b->w > 2) return step == 1 ? QFZ_RIGHT : QFZ_BELOW_LEFT;
    return p % 2 == 0 ? QFZ_RIGHT : QFZ_BELOW_LEFT;
}

static uint64_t position_of(const view *b, uint64_t edge)
{
    const uint32_t p = qfz_edge_p(edge);
    const uint32_t y = (uint32_t)(p * b->row_of >> 32), x = p - y * b->w;
    const qfz_box tile = b->graph->box;
    return qfz_position(tile.y0 + b->box.y0 + y, tile.x0 + b->box.x0 + x,
                        direction_of(b, p, qfz_edge_q(edge)));
}

static void set_zeroed(const view *b, uint64_t edge)
{
    const uint32_t p = qfz_edge_p(edge);
    const uint32_t y = (uint32_t)(p * b->row_of >> 32), x = p - y * b->w;
    b->graph->zeroed[(b->box.y0 + y) * b->graph->tile->w + b->box.x0 + x] |=
        (uint8_t)(1u << direction_of(b, p, qfz_edge_q(edge)));
}

/* ---- Components. */
static uint32_t root_of(uint16_t *up, uint32_t p)
{
    while (up[p] != p)
        p = up[p] = up[up[p]];
    return p;
}

static uint64_t sum_of(uint64_t a, uint64_t b, uint64_t least)
{
    return a >= least - b ? least : a + b;
}

static void open_component(view *b, uint32_t root)
{
    scratch *const s = b->s;
    if (root == HEAVY || s->vertex[root] != CLOSED) return;
    b->graph->weight[b->block->first + b->n_vertices] = s->weight[root];
    s->vertex[root] = (uint16_t)b->n_vertices++;
}

static uint32_t vertex_of(const view *b, uint32_t root)
{
    return root == HEAVY ? b->graph->heavy : b->block->first + b->s->vertex[root];
}

static void pass_gate(view *b, uint32_t place)
{
    const int64_t h = qfz_box_h(b->box);
    const uint32_t root = root_of(b->s->up, place);
    open_component(b, root);
    b->graph->gate[b->block->first + qfz_ring_index(h, b->w, place / b->w, place % b->w)] =
        vertex_of(b, root);
}

/* The edge between an open component and another root. */
static void add_open(const view *b, uint64_t edge, uint32_t open, uint32_t other, bool is_final)
{
    const uint32_t level = qfz_edge_level(edge);
    item_buffer *const items = &b->s->items;
    if (!is_final)
        add_item(b->graph, items, level, position_of(b, edge), vertex_of(b, open),
                 vertex_of(b, other), 0);
    else if (b->s->weight[open] < b->least && b->s->weight[other] > 0)
        add_item(b->graph, items, level, position_of(b, edge), vertex_of(b, open), QFZ_NONE,
                 b->s->weight[other]);
}

static void join(view *b, uint64_t edge)
{
    scratch *const s = b->s;
    uint32_t p = root_of(s->up, qfz_edge_p(edge)), q = root_of(s->up, qfz_edge_q(edge));
    if (p == q) return;
    if (s->weight[p] < s->weight[q]) {
        const uint32_t was = p;
        p = q;
        q = was;
    }
    const bool p_open = s->vertex[p] != CLOSED, q_open = s->vertex[q] != CLOSED;
    const bool is_final = !p_open ? !(q_open && p == HEAVY) : !q_open;
    if (p_open || q_open) add_open(b, edge, p_open ? p : q, p_open ? q : p, is_final);
    if (b->graph->zeroed && is_final && qfz_edge_level(edge) > 0) set_zeroed(b, edge);
    const uint64_t sum = sum_of(s->weight[p], s->weight[q], b->least);
    if (b->graph->zeroed && sum == b->least) {
        b->n_light -= 1u + (p != HEAVY);
        s->up[p] = s->up[q] = HEAVY;
        return;
    }
    b->n_light--;
    s->up[q] = (uint16_t)p;
    s->weight[p] = sum;
    if (!p_open) s->vertex[p] = s->vertex[q];
}

/* ---- Edges of one level, in the order of their positions.  A key has the higher bits of the
 * position and the index of the edge. */
static bool is_before(const view *b, const uint64_t *edges, uint64_t key, uint64_t other)
{
    if (key >> INDEX_BITS != other >> INDEX_BITS) return key < other;
    return position_of(b, edges[(uint16_t)key]) < position_of(b, edges[(uint16_t)other]);
}

static void insert_each(const view *b, const uint64_t *edges, uint64_t *key, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t own = key[i];
        uint32_t at = i;
        for (; at > 0 && is_before(b, edges, own, key[at - 1]); at--)
            key[at] = key[at - 1];
        key[at] = own;
    }
}

/* Positions are spread evenly: after a distribution by their first digit, few are not in order. */
static uint64_t *sort_keys(const view *b, const uint64_t *edges, uint32_t n)
{
    scratch *const s = b->s;
    uint64_t *key = s->key;
    if (n > FEW) {
        uint32_t *const count = s->count;
        const int bits = n >> MAX_DIGIT_BITS ? MAX_DIGIT_BITS : 32 - __builtin_clz(n - 1);
        uint32_t sum = 0;
        memset(count, 0, sizeof *count << bits);
        for (uint32_t i = 0; i < n; i++)
            count[key[i] >> (64 - bits)]++;
        for (uint32_t d = 0; d < 1u << bits; d++) {
            const uint32_t was = count[d];
            count[d] = sum;
            sum += was;
        }
        for (uint32_t i = 0; i < n; i++)
            s->spare[count[key[i] >> (64 - bits)]++] = key[i];
        key = s->spare;
    }
    insert_each(b, edges, key, n);
    return key;
}

/* Loops are edges that leave the block: they open components at the beginning of their level. */
static void join_level(view *b, const uint64_t *edges, uint32_t n_edges)
{
    scratch *const s = b->s;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_edges; i++) {
        const uint64_t edge = edges[i];
        if (qfz_edge_is_loop(edge))
            pass_gate(b, qfz_edge_p(edge));
        else if (root_of(s->up, qfz_edge_p(edge)) != root_of(s->up, qfz_edge_q(edge)))
            s->key[n++] = (position_of(b, edge) & ~(uint64_t)UINT16_MAX) | i;
    }
    const uint64_t *const key = sort_keys(b, edges, n);
    for (uint32_t i = 0; i < n; i++)
        join(b, edges[(uint16_t)key[i]]);
}

/* Within level 0 the order does not matter; loops follow all edges. */
static void join_level_0(view *b, const uint64_t *edges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (qfz_edge_is_loop(edges[i]))
            pass_gate(b, qfz_edge_p(edges[i]));
        else
            join(b, edges[i]);
}

/* ---- Blocks. */
static bool is_valid(const qfz_image *tile, int64_t p)
{
    return !tile->valid || tile->valid[p];
}

static void start_components(view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    scratch *const s = b->s;
    uint32_t p = 0;
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        const uint64_t mass = graph->row_mass ? graph->row_mass[y] : 1;
        const bool is_heavy = graph->zeroed && mass >= b->least;
        for (int64_t x = b->box.x0; x < b->box.x1; x++, p++) {
            s->up[p] = (uint16_t)(is_heavy ? (uint32_t)HEAVY : p);
            s->weight[p] = mass < b->least ? mass : b->least;
            b->n_light += !is_heavy && is_valid(graph->tile, y * graph->tile->w + x);
        }
    }
    memset(s->vertex, 0xff, sizeof s->vertex);
    s->up[HEAVY] = HEAVY;
    s->weight[HEAVY] = b->least;
}

/* Adds a loop for each ring pixel of the block from which an edge leaves the block.  Pixels on an
 * open ring of the tile open at once. */
static void open_ring(view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    const qfz_image *const tile = graph->tile;
    const int64_t h = qfz_box_h(b->box), w = b->w;
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const int64_t at_y = y + b->box.y0, at_x = x + b->box.x0;
        const uint32_t place = (uint32_t)(y * w + x);
        graph->gate[b->block->first + i] = graph->heavy;
        if (graph->is_open_ring && qfz_on_ring(tile->h, tile->w, at_y, at_x) &&
            is_valid(tile, at_y * tile->w + at_x))
            pass_gate(b, place);
        else if (b->s->open[i] != UINT64_MAX)
            qfz_block_add_loop(b->s->edges, (uint32_t)b->s->open[i], place);
    }
}

static void find_edges(const view *b, qfz_filter_block *block)
{
    const qfz_filter_graph *const graph = b->graph;
    qfz_seam seam = {.edges = graph->seams + block->seam};
    memset(b->s->open, 0xff, sizeof b->s->open);
    qfz_block_find(b->s->edges, graph->tile, &graph->rule, b->box, true, &seam, b->s->open, NULL);
    block->n_seam = seam.n_right + seam.n_below + seam.n_corner;
}

void qfz_filter_block_join(const qfz_filter_graph *graph, int64_t i, void *memory)
{
    const qfz_cpu_blocks *const layout = &graph->layout;
    const qfz_box box = qfz_cpu_blocks_box(layout, i / layout->n_x, i % layout->n_x);
    const uint32_t w = (uint32_t)qfz_box_w(box);
    view b = {.graph = graph,
              .block = &graph->blocks[i],
              .box = box,
              .w = w,
              .row_of = ((UINT64_C(1) << 32) + w - 1) / w,
              .least = graph->rule.min_mass,
              .s = scratch_of(graph, memory)};
    int32_t n;
    find_edges(&b, &graph->blocks[i]);
    start_components(&b);
    open_ring(&b);
    const uint64_t *const edges = qfz_block_sort(b.s->edges, &n);
    for (int32_t at = 0, end = 0; at < n && !(graph->zeroed && b.n_light == 0); at = end) {
        const uint32_t level = qfz_edge_level(edges[at]);
        while (end < n && qfz_edge_level(edges[end]) == level)
            end++;
        (level == 0 ? join_level_0 : join_level)(&b, edges + at, (uint32_t)(end - at));
    }
    flush(graph, &b.s->items);
}

/* ---- Seams. */
uint32_t qfz_filter_gate(const qfz_filter_graph *graph, int64_t y, int64_t x)
{
    const int64_t by = y / graph->layout.side, bx = x / graph->layout.side;
    const qfz_box box = qfz_cpu_blocks_box(&graph->layout, by, bx);
    const int64_t i = qfz_ring_index(qfz_box_h(box), qfz_box_w(box), y - box.y0, x - box.x0);
    return graph->gate[graph->blocks[by * graph->layout.n_x + bx].first + i];
}

void qfz_filter_block_add_seam(const qfz_filter_graph *graph, int64_t i, void *memory)
{
    static const int from[QFZ_EDGE_KINDS] = {0, 0, 0, 1}, to_x[QFZ_EDGE_KINDS] = {1, 0, 1, 0};
    static const int to_y[QFZ_EDGE_KINDS] = {0, 1, 1, 1};
    static const int dir[QFZ_EDGE_KINDS] = {QFZ_RIGHT, QFZ_BELOW, QFZ_BELOW_RIGHT, QFZ_BELOW_LEFT};
    const qfz_filter_block *const block = &graph->blocks[i];
    item_buffer *const items = &scratch_of(graph, memory)->items;
    for (uint32_t e = block->seam; e < block->seam + block->n_seam; e++) {
        const uint32_t id = graph->seams[e].id, kind = id % QFZ_EDGE_KINDS;
        const int64_t a = id / QFZ_EDGE_KINDS, y = a / graph->layout.w, x = a % graph->layout.w;
        const uint32_t u = qfz_filter_gate(graph, y, x + from[kind]);
        const uint32_t v = qfz_filter_gate(graph, y + to_y[kind], x + to_x[kind]);
        if (u == v) continue;
        add_item(graph, items, graph->seams[e].level,
                 qfz_position(graph->box.y0 + y, graph->box.x0 + x + from[kind], dir[kind]), u, v,
                 0);
    }
    flush(graph, items);
}
