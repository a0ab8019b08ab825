/* SPDX-License-Identifier: MIT */
/* filter_nodes.c - how a block begins: its edges, its nodes and their weights, and what is open. */
#include <string.h>

#include "core/simd.h"
#include "cpu/filter_block_parts.h"
#include "cpu/spanning.h"

/* Numbers of bits of qfz_key_hooks.role. */
enum { EARLY_BIT = 2, LATE_BIT = 3 };

static bool is_valid(const qfz_image *tile, int64_t p)
{
    return !tile->valid || tile->valid[p];
}

/* A pixel that weighs enough stays if others do not: the filtered level of its hook would depend
 * on the component at the other end. */
static void choose_rows(qfz_filter_view *b)
{
    const uint32_t h = (uint32_t)qfz_box_h(b->box);
    uint32_t n_heavy = 0;
    for (uint32_t y = 0; y < h; y++)
        n_heavy += qfz_filter_mass(b, y) == b->least;
    b->all_heavy = n_heavy == h;
    for (uint32_t y = 0; y < h; y++)
        b->s->hooks.stays[y] = !b->all_heavy && qfz_filter_mass(b, y) == b->least;
}

/* The pixels of a row from pixel x on, of 64. */
static uint64_t some_of_row(uint32_t w, uint32_t x)
{
    return w - x < 64 ? (UINT64_C(1) << (w - x)) - 1 : UINT64_MAX;
}

/* A node begins as its root, or as the two pixels that share a hook: no other edge of theirs
 * precedes it. */
static void weigh_nodes(const qfz_filter_view *b, uint32_t y)
{
    qfz_filter_scratch *const s = b->s;
    const uint32_t w = (uint32_t)qfz_box_w(b->box), h = (uint32_t)qfz_box_h(b->box);
    const uint64_t mass = qfz_filter_mass(b, y), below = y + 1 < h ? qfz_filter_mass(b, y + 1) : 0;
    const uint64_t with_mate[] = {mass, qfz_filter_sum(mass, mass, b->least),
                                  qfz_filter_sum(mass, below, b->least)};
    for (uint32_t x = 0; x < w; x += 64) {
        const uint32_t first = y * w + x;
        const uint64_t roots = qfz_words_in_sequence(s->lightest.up + first, (uint16_t)first);
        for (uint64_t bits = roots & some_of_row(w, x); bits; bits &= bits - 1) {
            const uint32_t px = first + (uint32_t)__builtin_ctzll(bits);
            const uint64_t weight = with_mate[s->hooks.role[px]];
            s->weight[s->node[px]] = (qfz_filter_bounds){weight, weight};
        }
    }
}

/* Pixels that join within level 0 are counted at once, since the order does not matter there. */
static void add_early(const qfz_filter_view *b, uint32_t px, uint64_t mass)
{
    qfz_filter_scratch *const s = b->s;
    const uint32_t node = s->node[px];
    qfz_filter_bounds *const weight = &s->weight[node];
    if (s->vertex[node] != QFZ_FILTER_CLOSED) {
        qfz_filter_late_give_one(b, px, qfz_filter_vertex(b, node));
        return;
    }
    weight->least = qfz_filter_sum(weight->least, mass, b->least);
    weight->most = qfz_filter_sum(weight->most, mass, b->least);
}

static void add_late(const qfz_filter_view *b, uint32_t px, uint64_t mass)
{
    qfz_filter_scratch *const s = b->s;
    qfz_filter_late *const late = &s->late;
    const uint32_t node = s->node[px];
    if (s->vertex[node] != QFZ_FILTER_CLOSED) {
        qfz_filter_late_give_one(b, px, qfz_filter_vertex(b, node));
        return;
    }
    s->weight[node].most = qfz_filter_sum(s->weight[node].most, mass, b->least);
    late->next[px + 1] = late->first[node];
    late->first[node] = (uint16_t)(px + 1);
}

static void add_hooked(const qfz_filter_view *b, uint32_t y)
{
    const uint8_t *const role = b->s->hooks.role;
    const uint32_t w = (uint32_t)qfz_box_w(b->box);
    const uint64_t mass = qfz_filter_mass(b, y);
    for (uint32_t x = 0; x < w; x += 64) {
        const uint32_t first = y * w + x;
        for (uint64_t bits = qfz_bits_of_bytes(role + first, EARLY_BIT) & some_of_row(w, x); bits;
             bits &= bits - 1)
            add_early(b, first + (uint32_t)__builtin_ctzll(bits), mass);
        for (uint64_t bits = qfz_bits_of_bytes(role + first, LATE_BIT) & some_of_row(w, x); bits;
             bits &= bits - 1)
            add_late(b, first + (uint32_t)__builtin_ctzll(bits), mass);
    }
}

static void start_nodes(const qfz_filter_view *b)
{
    qfz_filter_scratch *const s = b->s;
    const uint32_t n = s->lightest.n_components;
    const int64_t n_px = qfz_box_h(b->box) * qfz_box_w(b->box);
    for (uint32_t y = 0; y < qfz_box_h(b->box); y++)
        weigh_nodes(b, y);
    memset(s->vertex, 0xff, n * sizeof *s->vertex);
    memset(s->late.first, 0, n * sizeof *s->late.first);
    qfz_spanning_start(s->late.node, n);
    qfz_spanning_start(s->set, n);
    for (int64_t p = 0; b->all_heavy && p < n_px; p++)
        s->joined[p] = (uint8_t)(s->joined[p] << QFZ_FILTER_KEPT_SHIFT);
}

/* A pixel on the tile's ring, before any edge. */
static void open_at_once(qfz_filter_view *b, uint32_t place)
{
    const uint32_t node = b->s->node[place];
    if (!qfz_filter_is_heavy(b, node)) qfz_filter_open(b, node);
    qfz_filter_set_gate(b, place, node);
}

/* Adds a loop for each ring pixel of the block from which an edge leaves the block; within level 0
 * the order does not matter, so none opens before level 1.  Pixels on an open ring of the tile open
 * at once. */
static void open_ring(qfz_filter_view *b)
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
            open_at_once(b, place);
        else if (b->s->open[i] != UINT64_MAX)
            qfz_block_add_loop(b->s->edges, b->s->open[i] ? (uint32_t)b->s->open[i] : 1, place);
    }
}

/* Prepares the hooks of the block's pixels. */
static qfz_lightest *lightest_of(const qfz_filter_view *b)
{
    qfz_filter_scratch *const s = b->s;
    qfz_lightest *const l = &s->lightest;
    s->hooks.y0 = b->graph->box.y0;
    s->hooks.x0 = b->graph->box.x0;
    s->hooks.zeroed = s->joined;
    l->box = b->box;
    l->image_h = b->graph->tile->h;
    l->image_w = b->graph->tile->w;
    l->connectivity = b->graph->rule.connectivity;
    l->alpha_level = b->graph->rule.alpha_level;
    l->open_ring = b->graph->is_open_ring;
    l->lonely = NULL;
    l->by_key = &s->hooks;
    l->level = s->level;
    l->component = s->node;
    return l;
}

static void find_edges(const qfz_filter_view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    qfz_seam seam = {.edges = graph->seams + b->block->seam};
    memset(b->s->open, 0xff, sizeof b->s->open);
    qfz_block_find(b->s->edges, graph->tile, &graph->rule, b->box, &seam, b->s->open,
                   lightest_of(b));
    b->block->n_seam = seam.n_right + seam.n_below + seam.n_corner;
}

void qfz_filter_nodes_find(qfz_filter_view *b)
{
    const qfz_filter_graph *const graph = b->graph;
    choose_rows(b);
    find_edges(b);
    start_nodes(b);
    open_ring(b);
    qfz_filter_order_start(&b->s->order, b->box, graph->box.y0, graph->box.x0, b->s->node);
    for (uint32_t y = 0; y < qfz_box_h(b->box) && !b->all_heavy; y++)
        add_hooked(b, y);
}
