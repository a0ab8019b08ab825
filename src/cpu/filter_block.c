/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/position.h"
#include "core/simd.h"
#include "cpu/filter_block_parts.h"
#include "cpu/spanning.h"

static size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t qfz_filter_block_bytes(int connectivity)
{
    return padded(sizeof(qfz_filter_scratch)) + padded(qfz_block_edges_bytes(connectivity));
}

static qfz_filter_scratch *scratch_of(void *memory)
{
    qfz_filter_scratch *const s = memory;
    s->edges = (qfz_block_edges *)(void *)((char *)memory + padded(sizeof(qfz_filter_scratch)));
    return s;
}

/* ---- Components. */
/* Two components become one. */
static void join(const qfz_filter_view *b, uint32_t p, uint32_t q)
{
    qfz_filter_bounds *const weight = b->s->weight;
    uint16_t *const node = b->s->late.node, was = node[p];
    weight[p].least = qfz_filter_sum(weight[p].least, weight[q].least, b->least);
    weight[p].most = qfz_filter_sum(weight[p].most, weight[q].most, b->least);
    node[p] = node[q];
    node[q] = was;
}

void qfz_filter_open(qfz_filter_view *b, uint32_t root)
{
    qfz_filter_scratch *const s = b->s;
    const uint32_t vertex = b->patch->n_vertices++;
    s->vertex[root] = (uint16_t)(vertex - b->first_vertex);
    b->patch->weight[vertex] = s->weight[root].least;
}

void qfz_filter_set_gate(const qfz_filter_view *b, uint32_t place, uint32_t root)
{
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box), y = place / w, x = place % w;
    const uint32_t gate = b->block->first + (uint32_t)qfz_ring_index(h, w, y, x);
    qfz_filter_patch *const patch = b->patch;
    b->graph->gate[gate] = qfz_filter_vertex(b, root);
    if (!qfz_box_has(patch->inner, b->box.y0 + y, b->box.x0 + x))
        patch->edge_gates[patch->n_edge_gates++] = gate;
}

/* An edge that leaves the block starts from a pixel on its ring. */
static void pass_gate(qfz_filter_view *b, uint64_t loop, uint32_t root)
{
    if (b->s->vertex[root] == QFZ_FILTER_CLOSED && !qfz_filter_is_heavy(b, root)) {
        qfz_filter_late_count(b, root, loop);
        if (!qfz_filter_is_heavy(b, root)) {
            qfz_filter_open(b, root);
            qfz_filter_late_give(b, root, qfz_filter_vertex(b, root));
        }
    }
    qfz_filter_set_gate(b, qfz_record_place(loop), root);
}

/* An edge between two components, not both closed; late pixels of a closed one have been counted.
 * Returns ZEROED or KEPT (filter.h) if that is certain here, else 0. */
static int meet_open(const qfz_filter_view *b, uint64_t record, uint32_t p, uint32_t q)
{
    const qfz_filter_scratch *const s = b->s;
    const uint32_t open = s->vertex[p] != QFZ_FILTER_CLOSED ? p : q, other = open == p ? q : p;
    const bool is_final = s->vertex[other] == QFZ_FILTER_CLOSED && !qfz_filter_is_heavy(b, other);
    const bool is_enough = s->weight[open].least == b->least;
    const uint64_t mass = s->weight[other].least;
    if (!is_final || (!is_enough && mass > 0))
        qfz_filter_add(&b->patch->items, qfz_record_level(&s->order, record),
                       qfz_record_position(&s->order, record), qfz_filter_vertex(b, open),
                       is_final ? QFZ_NONE : qfz_filter_vertex(b, other), is_final ? mass : 0);
    if (is_final && mass < b->least) {
        if (!is_enough) qfz_filter_late_give(b, other, qfz_filter_vertex(b, open));
        return QFZ_FILTER_ZEROED;
    }
    return is_final && is_enough ? QFZ_FILTER_KEPT : 0;
}

static uint8_t bit_of(uint64_t record, bool is_kept)
{
    return (uint8_t)(1u << (qfz_record_dir(record) + (is_kept ? QFZ_FILTER_KEPT_SHIFT : 0)));
}

/* Passes a loop, or joins two components that are not both closed. */
__attribute__((noinline)) static void join_open(qfz_filter_view *b, uint64_t record, uint32_t p,
                                                uint32_t q)
{
    qfz_filter_scratch *const s = b->s;
    if (qfz_record_is_loop(record)) {
        pass_gate(b, record, p);
        return;
    }
    const uint32_t other = s->vertex[p] == QFZ_FILTER_CLOSED ? p : q;
    if (s->vertex[other] == QFZ_FILTER_CLOSED) qfz_filter_late_count(b, other, record);
    const int found = meet_open(b, record, p, q);
    if (found && qfz_record_level(&s->order, record) > 0)
        s->joined[qfz_record_place(record)] |= bit_of(record, found == QFZ_FILTER_KEPT);
    if (s->vertex[p] == QFZ_FILTER_CLOSED) s->vertex[p] = s->vertex[q];
    join(b, p, q);
    if (qfz_filter_is_heavy(b, p)) s->vertex[p] = QFZ_FILTER_CLOSED;
}

/* True if both components weigh enough before an edge, which their late pixels decide. */
__attribute__((noinline)) static bool are_enough(const qfz_filter_view *b, uint64_t record,
                                                 uint32_t p, uint32_t q)
{
    const qfz_filter_bounds *const weight = b->s->weight;
    const uint32_t light = weight[p].least <= weight[q].least ? p : q;
    qfz_filter_late_count(b, light, record);
    if (weight[light].least < b->least) return false;
    qfz_filter_late_count(b, p + q - light, record);
    return weight[p + q - light].least == b->least;
}

/* Joins the components of the edges of the block's forest, which are in order.  An edge is
 * qfz_filter_order_make()'s, with the roots of the two components: p, which remains, and q. */
static void join_all(qfz_filter_view *b, const uint64_t *records, const uint64_t *forest, int32_t n)
{
    qfz_filter_scratch *const s = b->s;
    const qfz_filter_bounds *const weight = s->weight;
    uint8_t *const joined = s->joined;
    const uint16_t *const vertex = s->vertex;
    const uint64_t least = b->least, level_1 = UINT64_C(1) << (64 - s->order.level_bits);
    for (int32_t i = 0; i < n; i++) {
        const uint64_t record = records[qfz_edge_level(forest[i])];
        const uint32_t p = qfz_edge_p(forest[i]), q = qfz_edge_q(forest[i]);
        if (((vertex[p] & vertex[q]) != QFZ_FILTER_CLOSED) | qfz_record_is_loop(record)) {
            join_open(b, record, p, q);
            continue;
        }
        bool is_kept = (weight[p].least >= least) & (weight[q].least >= least);
        if (!is_kept & (weight[p].most >= least) & (weight[q].most >= least))
            is_kept = are_enough(b, record, p, q);
        joined[qfz_record_place(record)] |=
            (uint8_t)((record >= level_1)
                      << (qfz_record_dir(record) + is_kept * QFZ_FILTER_KEPT_SHIFT));
        join(b, p, q);
    }
}

/* Removes edges inside components, and between two that weigh enough.  What set[] leads to in some
 * steps may be no root any more, but then it does no harm: the edge stays. */
static int32_t drop_decided(const qfz_filter_view *b, uint64_t *edges, int32_t n)
{
    const qfz_filter_scratch *const s = b->s;
    const uint16_t *const set = s->set, *const node = s->node;
    const qfz_filter_bounds *const weight = s->weight;
    const uint64_t heavy = b->merges_heavy ? b->least : UINT64_MAX;
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t edge = edges[i];
        const uint32_t p = set[set[set[node[qfz_edge_p(edge)]]]];
        const uint32_t q = set[set[set[node[qfz_edge_q(edge)]]]];
        const bool drop = (p == q) | ((weight[p].least >= heavy) & (weight[q].least >= heavy));
        edges[kept] = edge;
        kept += !drop | qfz_edge_is_loop(edge);
    }
    return kept;
}

static void join_part(qfz_filter_view *b, uint64_t *edges, int32_t n, uint64_t *spare)
{
    uint64_t *list[2] = {edges, spare};
    qfz_filter_order_make(&b->s->order, list, n);
    join_all(b, list[0], list[1], qfz_spanning_keep(b->s->set, list[1], n, false));
}

/* The lighter half of the edges decides most of the others: these are not sorted. */
static void join_in_parts(qfz_filter_view *b)
{
    enum { FEW = 4096 };
    uint64_t *list[2];
    int32_t n = qfz_block_list(b->s->edges, list);
    while (n > 0) {
        const uint32_t level = n > FEW ? qfz_filter_order_part(list[0], n) : UINT32_MAX;
        uint64_t *const edges = list[0], *const above = list[1];
        const int32_t n_part = qfz_block_split(level, edges, n, above);
        n -= n_part;
        join_part(b, edges, n_part, above + n);
        n = drop_decided(b, above, n);
        list[0] = above;
        list[1] = edges;
    }
}

/* ---- Blocks. */
QFZ_CLONES static void copy_row(const uint8_t *restrict joined, int64_t n, uint8_t *restrict zeroed)
{
    for (int64_t x = 0; x < n; x++)
        zeroed[x] = joined[x] & QFZ_FILTER_ZEROED_BITS;
}

QFZ_CLONES static void copy_forest_row(const uint8_t *restrict joined, int64_t n,
                                       uint8_t *restrict forest)
{
    for (int64_t x = 0; x < n; x++)
        forest[x] = joined[x] >> QFZ_FILTER_KEPT_SHIFT;
}

static void copy_joined(const qfz_filter_view *b)
{
    const int64_t w = qfz_box_w(b->box);
    const qfz_filter_graph *const graph = b->graph;
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        const uint8_t *const from = b->s->joined + (y - b->box.y0) * w;
        const int64_t to = y * graph->tile->w + b->box.x0;
        copy_row(from, w, graph->zeroed + to);
        if (graph->forest) copy_forest_row(from, w, graph->forest + to);
    }
}

void qfz_filter_block_join(const qfz_filter_graph *graph, qfz_filter_patch *patch, int64_t i,
                           void *memory)
{
    const qfz_cpu_blocks *const layout = &graph->layout;
    const qfz_box box = qfz_cpu_blocks_box(layout, i / layout->n_x, i % layout->n_x);
    qfz_filter_scratch *const s = scratch_of(memory);
    qfz_filter_view b = {.graph = graph,
                         .patch = patch,
                         .block = &graph->blocks[i],
                         .box = box,
                         .least = graph->rule.min_mass,
                         .merges_heavy = !graph->rule.wants_forest,
                         .s = s,
                         .first_vertex = patch->n_vertices};
    qfz_filter_nodes_find(&b);
    join_in_parts(&b);
    if (graph->zeroed) copy_joined(&b);
}
