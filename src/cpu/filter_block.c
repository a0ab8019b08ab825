/* SPDX-License-Identifier: MIT */
#include "cpu/filter_block.h"

#include <string.h>

#include "core/position.h"
#include "cpu/filter_order.h"
#include "cpu/spanning.h"

enum { MAX_RING = 4 * QFZ_CPU_BLOCK_SIDE, CLOSED = UINT16_MAX, SOME_ITEMS = 512 };

/* In the bits of a pixel, its edges of filtered level 0 come first, then those of the forest that
 * keep their level. */
enum { KEPT_SHIFT = QFZ_MAX_DIRS, ZEROED_BITS = (1 << QFZ_MAX_DIRS) - 1 };

/* Items that are not yet in the tile's list. */
typedef struct item_buffer {
    uint32_t n, u[SOME_ITEMS], v[SOME_ITEMS], level[SOME_ITEMS];
    uint64_t position[SOME_ITEMS], mass[SOME_ITEMS];
} item_buffer;

typedef struct scratch {
    uint16_t set[QFZ_CPU_BLOCK_PX]; /* as in spanning.h */
    /* Of the component with the pixel as its root: the weight, and the number of the vertex. */
    uint64_t weight[QFZ_CPU_BLOCK_PX];
    uint16_t vertex[QFZ_CPU_BLOCK_PX];
    uint8_t joined[QFZ_CPU_BLOCK_PX]; /* bits of edges, above */
    uint64_t open[MAX_RING];
    qfz_filter_order order;
    item_buffer items;
    qfz_block_edges *edges;
} scratch;

/* The block at work. */
typedef struct view {
    const qfz_filter_graph *graph;
    qfz_filter_block *block;
    qfz_box box;
    uint64_t least;
    bool merges_heavy; /* all components that weigh enough are one */
    scratch *s;
    uint32_t n_vertices;
} view;

static size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t qfz_filter_block_bytes(int connectivity)
{
    return padded(sizeof(scratch)) + padded(qfz_block_edges_bytes(connectivity));
}

static scratch *scratch_of(void *memory)
{
    scratch *const s = memory;
    s->edges = (qfz_block_edges *)(void *)((char *)memory + padded(sizeof(scratch)));
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

/* ---- Components. */
static uint64_t sum_of(uint64_t a, uint64_t b, uint64_t least)
{
    return a >= least - b ? least : a + b;
}

/* True if the component is the same as all others that weigh enough. */
static bool is_heavy(const view *b, uint32_t root)
{
    return b->merges_heavy && b->s->weight[root] == b->least;
}

static uint32_t vertex_of(const view *b, uint32_t root)
{
    return is_heavy(b, root) ? b->graph->heavy : b->block->first + b->s->vertex[root];
}

/* An edge that leaves the block starts from a pixel on its ring. */
static void pass_gate(view *b, uint32_t place, uint32_t root)
{
    scratch *const s = b->s;
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    if (s->vertex[root] == CLOSED && !is_heavy(b, root)) {
        b->graph->weight[b->block->first + b->n_vertices] = s->weight[root];
        s->vertex[root] = (uint16_t)b->n_vertices++;
    }
    b->graph->gate[b->block->first + qfz_ring_index(h, w, place / w, place % w)] =
        vertex_of(b, root);
}

/* An edge between two components, not both closed.  Returns ZEROED or KEPT (filter.h) if that is
 * certain here, else 0. */
static int meet_open(const view *b, uint64_t record, uint32_t p, uint32_t q)
{
    const scratch *const s = b->s;
    const uint32_t open = s->vertex[p] != CLOSED ? p : q, other = open == p ? q : p;
    const bool is_final = s->vertex[other] == CLOSED && !is_heavy(b, other);
    const bool is_enough = s->weight[open] == b->least;
    if (!is_final || (!is_enough && s->weight[other] > 0))
        add_item(b->graph, &b->s->items, qfz_record_level(&s->order, record),
                 qfz_record_position(&s->order, record), vertex_of(b, open),
                 is_final ? QFZ_NONE : vertex_of(b, other), is_final ? s->weight[other] : 0);
    if (is_final && s->weight[other] < b->least) return QFZ_FILTER_ZEROED;
    return is_final && is_enough ? QFZ_FILTER_KEPT : 0;
}

static uint8_t bit_of(uint64_t record, bool is_kept)
{
    return (uint8_t)(1u << (qfz_record_dir(record) + (is_kept ? KEPT_SHIFT : 0)));
}

/* Passes a loop, or joins two components that are not both closed. */
__attribute__((noinline)) static void join_open(view *b, uint64_t record, uint32_t p, uint32_t q)
{
    scratch *const s = b->s;
    if (qfz_record_is_loop(record)) {
        pass_gate(b, qfz_record_place(record), p);
        return;
    }
    const int found = meet_open(b, record, p, q);
    if (found && qfz_record_level(&s->order, record) > 0)
        s->joined[qfz_record_place(record)] |= bit_of(record, found == QFZ_FILTER_KEPT);
    if (s->vertex[p] == CLOSED) s->vertex[p] = s->vertex[q];
    s->weight[p] = sum_of(s->weight[p], s->weight[q], b->least);
    if (is_heavy(b, p)) s->vertex[p] = CLOSED;
}

/* Joins the components of the edges of the block's forest, which are in order.  An edge is
 * qfz_filter_order_make()'s, with the roots of the two components: p, which remains, and q. */
static void join_all(view *b, const uint64_t *records, const uint64_t *forest, int32_t n)
{
    scratch *const s = b->s;
    uint64_t *const weight = s->weight;
    uint8_t *const joined = s->joined;
    const uint16_t *const vertex = s->vertex;
    const uint64_t least = b->least, level_1 = UINT64_C(1) << (64 - s->order.level_bits);
    for (int32_t i = 0; i < n; i++) {
        const uint64_t record = records[qfz_edge_level(forest[i])];
        const uint32_t p = qfz_edge_p(forest[i]), q = qfz_edge_q(forest[i]);
        if (((vertex[p] & vertex[q]) != CLOSED) | qfz_record_is_loop(record)) {
            join_open(b, record, p, q);
            continue;
        }
        const uint64_t of_p = weight[p], of_q = weight[q];
        const int kept = ((of_p >= least) & (of_q >= least)) * KEPT_SHIFT;
        joined[qfz_record_place(record)] |=
            (uint8_t)((record >= level_1) << (qfz_record_dir(record) + kept));
        weight[p] = sum_of(of_p, of_q, least);
    }
}

/* Removes edges inside components, and between two that weigh enough.  What set[] leads to in some
 * steps may be no root any more, but then it does no harm: the edge stays. */
static int32_t drop_decided(const view *b, uint64_t *edges, int32_t n)
{
    const scratch *const s = b->s;
    const uint16_t *const set = s->set;
    const uint64_t heavy = b->merges_heavy ? b->least : UINT64_MAX;
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t edge = edges[i];
        const uint32_t p = set[set[set[qfz_edge_p(edge)]]], q = set[set[set[qfz_edge_q(edge)]]];
        const bool drop = (p == q) | ((s->weight[p] >= heavy) & (s->weight[q] >= heavy));
        edges[kept] = edge;
        kept += !drop | qfz_edge_is_loop(edge);
    }
    return kept;
}

static void join_part(view *b, uint64_t *edges, int32_t n, uint64_t *spare)
{
    uint64_t *list[2] = {edges, spare};
    qfz_filter_order_make(&b->s->order, list, n);
    join_all(b, list[0], list[1], qfz_spanning_keep(b->s->set, list[1], n, false));
}

/* The lighter half of the edges decides most of the others: these are not sorted. */
static void join_in_parts(view *b)
{
    enum { FEW = 4096 };
    uint64_t *list[2];
    int32_t n = qfz_block_list(b->s->edges, list);
    while (n > 0) {
        const uint32_t level = n > FEW ? qfz_filter_order_part(list[0], n) : UINT32_MAX;
        uint64_t *const edges = list[0], *const above = list[1];
        const int32_t n_part = qfz_filter_order_split(level, edges, n, above);
        n -= n_part;
        join_part(b, edges, n_part, above + n);
        n = drop_decided(b, above, n);
        list[0] = above;
        list[1] = edges;
    }
}

/* ---- Blocks. */
static bool is_valid(const qfz_image *tile, int64_t p)
{
    return !tile->valid || tile->valid[p];
}

static void start_components(const view *b)
{
    scratch *const s = b->s;
    uint32_t p = 0;
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        const uint64_t mass = b->graph->row_mass ? b->graph->row_mass[y] : 1;
        for (int64_t x = b->box.x0; x < b->box.x1; x++)
            s->weight[p++] = mass < b->least ? mass : b->least;
    }
    memset(s->vertex, 0xff, p * sizeof *s->vertex);
    memset(s->joined, 0, p);
    qfz_spanning_start(s->set, p);
}

/* Adds a loop for each ring pixel of the block from which an edge leaves the block; within level 0
 * the order does not matter, so none opens before level 1.  Pixels on an open ring of the tile open
 * at once. */
static void open_ring(view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    const qfz_image *const tile = graph->tile;
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const int64_t at_y = y + b->box.y0, at_x = x + b->box.x0;
        const uint32_t place = (uint32_t)(y * w + x);
        if (graph->is_open_ring && qfz_on_ring(tile->h, tile->w, at_y, at_x) &&
            is_valid(tile, at_y * tile->w + at_x))
            pass_gate(b, place, place);
        else if (b->s->open[i] != UINT64_MAX)
            qfz_block_add_loop(b->s->edges, b->s->open[i] ? (uint32_t)b->s->open[i] : 1, place);
    }
}

static void find_edges(const view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    qfz_seam seam = {.edges = graph->seams + b->block->seam};
    memset(b->s->open, 0xff, sizeof b->s->open);
    qfz_block_find(b->s->edges, graph->tile, &graph->rule, b->box, true, &seam, b->s->open, NULL);
    b->block->n_seam = seam.n_right + seam.n_below + seam.n_corner;
}

static void copy_joined(const view *b)
{
    const int64_t w = qfz_box_w(b->box);
    const qfz_filter_graph *const graph = b->graph;
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        const uint8_t *const from = b->s->joined + (y - b->box.y0) * w;
        const int64_t to = y * graph->tile->w + b->box.x0;
        for (int64_t x = 0; x < w; x++)
            graph->zeroed[to + x] = from[x] & ZEROED_BITS;
        for (int64_t x = 0; graph->forest && x < w; x++)
            graph->forest[to + x] = from[x] >> KEPT_SHIFT;
    }
}

void qfz_filter_block_join(const qfz_filter_graph *graph, int64_t i, void *memory)
{
    const qfz_cpu_blocks *const layout = &graph->layout;
    const qfz_box box = qfz_cpu_blocks_box(layout, i / layout->n_x, i % layout->n_x);
    scratch *const s = scratch_of(memory);
    view b = {.graph = graph,
              .block = &graph->blocks[i],
              .box = box,
              .least = graph->rule.min_mass,
              .merges_heavy = !graph->rule.wants_forest,
              .s = s};
    find_edges(&b);
    start_components(&b);
    open_ring(&b);
    qfz_filter_order_start(&s->order, box, graph->box.y0, graph->box.x0);
    join_in_parts(&b);
    if (graph->zeroed) copy_joined(&b);
    flush(graph, &s->items);
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
    item_buffer *const items = &scratch_of(memory)->items;
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
