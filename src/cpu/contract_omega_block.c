/* SPDX-License-Identifier: MIT */
/* contract_omega_block.c - the components of one block with the ranges of their values: which
 * components are hooked, which become vertices, and which range events a vertex has.
 *
 * A node (lightest.h) begins at the level of its first pixel's hook, the least level of its
 * pixels' hooks, and with the pixels hooked at that level.  The other pixels are late: each
 * joins the node at the level of its own hook, as a leaf (block.h). */
#include <string.h>

#include "core/simd.h"
#include "cpu/contract_omega_parts.h"
#include "cpu/spanning.h"
#include "cpu/narrow_row.h"

/* A thread's memory for a block, beside the memory that every contraction has. */
typedef struct scratch {
    uint32_t least[QFZ_MAX_PARTS + 1]; /* the level at which a node begins, by node */
    qfz_joined joined;
} scratch;

/* The range of one band of integers of 8 or 16 bits, as signed numbers: there it is hardest to
 * foresee whether a range grows.  The low half is the least value, the high half the complement
 * of the greatest, so that both halves decrease as the range grows.  One word, because a load
 * that covers two separate stores of halves would stall. */
typedef uint32_t range;

static const range no_range = INT16_MAX | (uint32_t)INT16_MAX << 16;

static inline range range_of(uint16_t value)
{
    return value | (uint32_t)(uint16_t)~value << 16;
}

static inline int32_t range_lo(range r)
{
    return (int16_t)r;
}

static inline int32_t range_hi(range r)
{
    return (int16_t) ~(r >> 16);
}

static inline range range_union(range a, range b)
{
    return qfz_min_of_halves(a, b);
}

/* The components of one block. */
typedef struct builder {
    const qfz_block_work *b;
    qfz_omega_contraction *o;
    qfz_thread_events *events;
    scratch *s;
    range *ranges; /* of components, by node; NULL: lo and hi have the ranges */
    char *lo, *hi, *row;
    size_t span_bytes;
    int32_t widest; /* the largest difference that omega allows */
    uint32_t n_late;
} builder;

size_t qfz_omega_block_bytes(const qfz_rule *rule)
{
    const size_t ends = (2 * QFZ_MAX_PARTS + QFZ_CPU_BLOCK_SIDE) * qfz_span_bytes(rule);
    const size_t ranges = (QFZ_MAX_PARTS + 1) * sizeof(range);
    return (sizeof(scratch) + 63) / 64 * 64 + ((ends > ranges ? ends : ranges) + 63) / 64 * 64;
}

static bool has_ranges(const qfz_rule *rule)
{
    return rule->n_bands == 1 && qfz_type_bytes(rule->type) <= 2;
}

/* ---- The first ranges of nodes. */

/* The number that, added to a value modulo its type, makes it a signed number of a range. */
static uint16_t offset_of(qfz_type type)
{
    return type == QFZ_U16 ? 1 << 15 : 0;
}

static void put_value(qfz_type type, int32_t value, void *to)
{
    const uint16_t own = (uint16_t)(value + offset_of(type));
    const uint8_t low = (uint8_t)own;
    if (qfz_type_bytes(type) == 1)
        memcpy(to, &low, sizeof low);
    else
        memcpy(to, &own, sizeof own);
}

#define SPREAD_ROW(TYPE)                                                                           \
    for (int64_t x = 0; x < w; x++)                                                                \
    ((TYPE *)to)[x * n_bands] = ((const TYPE *)from)[x]

/* Turns a row of one band into every n_bands-th value of a row of pixels. */
static void spread_row(size_t bytes, int64_t n_bands, const void *from, int64_t w, void *to)
{
    switch (bytes) {
    case 1: SPREAD_ROW(uint8_t); break;
    case 2: SPREAD_ROW(uint16_t); break;
    default: SPREAD_ROW(uint32_t); break;
    }
}

/* Nodes are numbered in the order of their roots, of which those of level QFZ_NONE have no number.
 * After the block's last pixel no pixel is a root (lightest.h). */
static void find_least(const builder *u)
{
    const uint16_t *const up = u->b->s->lightest.up;
    const uint32_t *const first = u->b->px_first;
    uint32_t *const least = u->s->least;
    uint32_t node = 1;
    least[0] = QFZ_NONE;
    for (uint32_t some = 0; some < u->b->block->n_px; some += 64) {
        uint64_t roots = qfz_words_in_sequence(up + some, (uint16_t)some);
        for (; roots; roots &= roots - 1) {
            const uint32_t level = first[some + (uint32_t)__builtin_ctzll(roots)];
            least[node] = level;
            node += level != QFZ_NONE;
        }
    }
}

/* Four parts of the row in turn: pixels side by side often are of one node, and each would wait for
 * the store of the one before. */
static void extend_ranges(range *ranges, const uint16_t *node, const range *own, int64_t w)
{
    enum { PARTS = 4 };
    const int64_t part = w / PARTS;
    for (int64_t x = 0; x < part; x++)
        for (int64_t k = x; k < PARTS * part; k += part)
            ranges[node[k]] = range_union(ranges[node[k]], own[k]);
    for (int64_t x = PARTS * part; x < w; x++)
        ranges[node[x]] = range_union(ranges[node[x]], own[x]);
}

/* No pixel of a row is late if all have hooks of level 0, as the area filter leaves them. */
static bool all_at_zero(const uint32_t *first, int64_t w)
{
    uint32_t any = 0;
    for (int64_t x = 0; x < w; x++)
        any |= first[x];
    return any == 0;
}

/* Lists the late pixels of a row, which do not extend the ranges of their nodes; returns their
 * number. */
static uint32_t list_late(const builder *u, int64_t px, int64_t w, range *own, uint16_t *late)
{
    const uint16_t *const component = u->b->px_number + px;
    const uint32_t *const first = u->b->px_first + px, *const least = u->s->least;
    uint32_t n = 0;
    if (all_at_zero(first, w)) return 0;
    for (int64_t x = 0; x < w; x++) {
        const uint32_t is_late = first[x] != least[component[x]];
        own[x] = (own[x] & (is_late - 1)) | (no_range & -is_late);
        late[n] = (uint16_t)x;
        n += is_late;
    }
    return n;
}

/* Each pixel of a row, from pixel px on, either extends the range of its node or is late and
 * becomes a leaf. */
static void start_row_of_ranges(builder *u, const uint16_t *values, int64_t w, int64_t px)
{
    const uint16_t *const component = u->b->px_number + px;
    const uint32_t *const first = u->b->px_first + px;
    uint64_t *const edges = qfz_block_end(u->b->edges);
    range own[QFZ_CPU_BLOCK_SIDE];
    uint16_t late[QFZ_CPU_BLOCK_SIDE];
    for (int64_t x = 0; x < w; x++)
        own[x] = range_of(values[x]);
    const uint32_t n = list_late(u, px, w, own, late);
    extend_ranges(u->ranges, component, own, w);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t x = late[k], node = u->b->block->n_nodes + u->n_late;
        u->ranges[node] = range_of(values[x]);
        edges[u->n_late++] = qfz_leaf_of(first[x], component[x], node);
    }
}

static void *lo_of(const builder *u, uint32_t node)
{
    return u->lo + node * u->span_bytes;
}

static void *hi_of(const builder *u, uint32_t node)
{
    return u->hi + node * u->span_bytes;
}

/* The same for other types.  holds[node] is 0 until the node has a range. */
static void start_row_of_spans(builder *u, const char *values, int64_t w, int64_t px)
{
    const uint16_t *const component = u->b->px_number + px;
    const uint32_t *const first = u->b->px_first + px;
    const uint32_t n_nodes = u->b->block->n_nodes;
    uint64_t *const edges = qfz_block_end(u->b->edges);
    for (int64_t x = 0; x < w; x++, values += u->span_bytes) {
        uint32_t node = component[x];
        if (first[x] != u->s->least[node]) {
            edges[u->n_late] = qfz_leaf_of(first[x], node, n_nodes + u->n_late);
            node = n_nodes + u->n_late++;
        }
        if (u->s->joined.holds[node]) {
            qfz_widen(u->b->c->rule, lo_of(u, node), hi_of(u, node), values, values);
            continue;
        }
        memcpy(lo_of(u, node), values, u->span_bytes);
        memcpy(hi_of(u, node), values, u->span_bytes);
        u->s->joined.holds[node] = UINT32_MAX;
    }
}

static void start_row(builder *u, int64_t y)
{
    const qfz_image *const image = u->b->image;
    const qfz_box box = u->b->box;
    const int64_t w = qfz_box_w(box), px = y * w;
    const size_t bytes = qfz_type_bytes(image->type);
    uint16_t values[QFZ_CPU_BLOCK_SIDE];
    for (int64_t band = 0; band < image->n_bands; band++) {
        const int64_t at = (band * image->h + box.y0 + y) * image->w + box.x0;
        const char *const from = (const char *)image->pixels + bytes * (size_t)at;
        if (u->ranges)
            qfz_narrow_row(image->type, from, offset_of(image->type), w, values);
        else
            spread_row(bytes, image->n_bands, from, w, u->row + bytes * (size_t)band);
    }
    if (u->ranges)
        start_row_of_ranges(u, values, w, px);
    else
        start_row_of_spans(u, u->row, w, px);
}

static bool too_wide(const builder *u, uint32_t node)
{
    if (u->ranges) return range_hi(u->ranges[node]) > range_lo(u->ranges[node]) + u->widest;
    return qfz_too_wide(u->b->c->rule, lo_of(u, node), hi_of(u, node));
}

static void start_nodes(builder *u)
{
    const uint32_t n_nodes = u->b->block->n_nodes;
    const int64_t h = qfz_box_h(u->b->box);
    uint32_t *const holds = u->s->joined.holds, *const component = u->b->s->component;
    find_least(u);
    if (u->ranges) {
        for (uint32_t i = 0; i < n_nodes; i++)
            u->ranges[i] = no_range;
    } else {
        memset(holds, 0, QFZ_MAX_PARTS * sizeof *holds);
    }
    for (int64_t y = 0; y < h; y++)
        start_row(u, y);
    qfz_block_add(u->b->edges, u->n_late);
    const uint32_t n = n_nodes + u->n_late;
    memset(holds, 0xff, n * sizeof *holds);
    for (uint32_t i = 1; u->b->c->rule->omega && i < n_nodes; i++)
        if (too_wide(u, i)) holds[i] = qfz_level_before(u->s->least[i]);
    for (uint32_t i = 0; i < n_nodes; i++)
        component[i] = qfz_set_of(i, 0);
    qfz_spanning_start(u->b->s->set, n_nodes);
}

/* ---- Joins in order of level. */

/* Copies the range of a node's component to element n of two arrays. */
static void put_span(const builder *u, uint32_t node, void *lo, void *hi, size_t n)
{
    char *const to_lo = (char *)lo + n * u->span_bytes;
    char *const to_hi = (char *)hi + n * u->span_bytes;
    if (u->ranges) {
        put_value(u->b->image->type, range_lo(u->ranges[node]), to_lo);
        put_value(u->b->image->type, range_hi(u->ranges[node]), to_hi);
    } else {
        memcpy(to_lo, lo_of(u, node), u->span_bytes);
        memcpy(to_hi, hi_of(u, node), u->span_bytes);
    }
}

static uint32_t vertex_at(const builder *u, uint32_t node)
{
    return qfz_contracted_vertex(u->b->block, u->b->number[node]);
}

/* Turns a component into a vertex, with its present range. */
static void open_component(builder *u, uint32_t *component, uint32_t level)
{
    qfz_spans *const spans = &u->o->start;
    const uint32_t node = qfz_set_node(*component);
    if (qfz_set_weight(*component) & QFZ_SET_OPEN) return;
    *component |= qfz_set_of(0, QFZ_SET_OPEN);
    qfz_block_open(u->b, node);
    u->s->joined.opened[node] = level;
    const uint32_t vertex = vertex_at(u, node);
    spans->holds[vertex] = u->s->joined.holds[node];
    put_span(u, node, spans->lo, spans->hi, vertex);
}

/* Adds a range event: from this level on, the vertex of an open node has the node's range. */
static void add_event(const builder *u, uint32_t node, uint32_t level)
{
    qfz_ranges *const out = &u->events->ranges;
    qfz_error *const err = &u->events->err;
    if (err->status != QFZ_OK || qfz_ranges_reserve(out, out->n + 1, u->b->c->rule, err) != QFZ_OK)
        return;
    out->at[out->n] = vertex_at(u, node);
    out->level[out->n] = level;
    put_span(u, node, out->lo, out->hi, (size_t)out->n);
    out->n++;
}

/* take_in() for ranges.  Whether a range grows is random, so nothing here branches on it: a
 * range that does not grow keeps its omega level, and a component that exceeded omega remains
 * too wide. */
static inline void take_in_range(const builder *u, uint32_t node, uint32_t other, uint32_t level,
                                 bool is_event)
{
    uint32_t *const holds = u->s->joined.holds;
    const range was = u->ranges[node], now = range_union(was, u->ranges[other]);
    const uint32_t held = holds[node], at_most = qfz_level_before(level);
    const bool breaks = (holds[other] < level) | (range_hi(now) - range_lo(now) > u->widest);
    u->ranges[node] = now;
    if (is_event && held >= level && now != was) add_event(u, node, level);
    holds[node] = qfz_min(held, breaks ? at_most : UINT32_MAX);
}

/* The node's component takes in the range of another one; it is within omega as long as both
 * are.  A component that exceeded omega has a range that is too wide for every component that it
 * joins later. */
static inline void take_in(const builder *u, uint32_t node, uint32_t other, uint32_t level,
                           bool is_event)
{
    const qfz_rule *const rule = u->b->c->rule;
    uint32_t *const holds = u->s->joined.holds;
    if (u->ranges) {
        take_in_range(u, node, other, level, is_event && rule->omega);
        return;
    }
    if (!rule->omega || holds[node] < level) return;
    const bool grew =
        qfz_widen(rule, lo_of(u, node), hi_of(u, node), lo_of(u, other), hi_of(u, other));
    if (!grew) return; /* the other one is within omega, too: its range is no wider */
    if (is_event) add_event(u, node, level);
    if (holds[other] < level || too_wide(u, node)) holds[node] = qfz_level_before(level);
}

static void join_open(builder *u, uint32_t p, uint32_t q, uint32_t level)
{
    const uint32_t *const holds = u->s->joined.holds;
    if (holds[p] >= level || holds[q] >= level) qfz_block_link(u->b, p, q, level);
    take_in(u, p, q, level, false);
}

/* The smaller component is hooked to the larger one, or linked if both are open. */
static void join_all(builder *u)
{
    const qfz_block_work *const b = u->b;
    uint32_t *const component = b->s->component, *const held = u->s->joined.held;
    uint32_t n_hooks = 0;
    int32_t n_edges;
    uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    n_edges = qfz_spanning_keep(b->s->set, edges, n_edges, true);
    for (int32_t i = 0; i < n_edges; i++) {
        uint32_t *const stays = &component[qfz_edge_p(edges[i])], larger;
        const uint32_t level = qfz_edge_level(edges[i]);
        if (qfz_edge_is_leaf(edges[i])) {
            take_in(u, qfz_set_node(*stays), qfz_leaf_number(edges[i]), level,
                    qfz_set_weight(*stays) & QFZ_SET_OPEN);
            continue;
        }
        if (qfz_edge_is_loop(edges[i])) {
            open_component(u, stays, level);
            continue;
        }
        const uint32_t smaller = qfz_set_join(stays, component[qfz_edge_q(edges[i])], &larger);
        const uint32_t root = qfz_set_node(larger), node = qfz_set_node(smaller);
        if (qfz_set_weight(smaller) & QFZ_SET_OPEN) {
            join_open(u, root, node, level);
            continue;
        }
        b->number[node] = (uint16_t)n_hooks;
        b->up[n_hooks] = (uint16_t)root;
        b->level[n_hooks] = level;
        held[n_hooks] = u->s->joined.holds[node];
        n_hooks++;
        take_in(u, root, node, level, qfz_set_weight(larger) & QFZ_SET_OPEN);
    }
    b->block->n_hooks = n_hooks;
}

void qfz_omega_join_block(const qfz_block_work *b, void *arg)
{
    qfz_omega_contraction *const o = arg;
    const qfz_rule *const rule = b->c->rule;
    const size_t span_bytes = qfz_span_bytes(rule);
    char *const own = (char *)o->scratch + (size_t)b->thread * qfz_omega_block_bytes(rule);
    char *const lo = own + (sizeof(scratch) + 63) / 64 * 64;
    builder u = {.b = b,
                 .o = o,
                 .events = &o->events[b->thread],
                 .s = (scratch *)(void *)own,
                 .ranges = has_ranges(rule) ? (range *)(void *)lo : NULL,
                 .widest =
                     rule->omega && *rule->omega < UINT16_MAX ? (int32_t)*rule->omega : UINT16_MAX,
                 .lo = lo,
                 .hi = lo + QFZ_MAX_PARTS * span_bytes,
                 .row = lo + 2 * QFZ_MAX_PARTS * span_bytes,
                 .span_bytes = span_bytes};
    start_nodes(&u);
    join_all(&u);
    qfz_block_finish(b);
    qfz_omega_find_stops(b, o, &u.s->joined);
}
