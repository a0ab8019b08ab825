/* SPDX-License-Identifier: MIT */
/* contract_omega_block.c - the components of one block with the ranges of their values: what is
 * hooked, what becomes a vertex or an event of one.
 *
 * A node (lightest.h) begins at the level of its first pixel's hook, which is the least of all its
 * pixels', with the pixels hooked by that level.  The others are late: each joins the node by the
 * level of its own hook, as if it were a node that nothing climbs from. */
#include <emmintrin.h>
#include <string.h>

#include "cpu/contract_omega_parts.h"
#include "cpu/spanning.h"

/* Beside what every contraction needs for a block. */
typedef struct scratch {
    uint32_t least[QFZ_MAX_PARTS + 1]; /* level that a node begins at */
    qfz_joined joined;
} scratch;

/* Of one band of integers of 8 or 16 bits, as signed numbers: there whether a range grows is least
 * foreseen.  The least value, and the complement of the greatest, so that both shrink as it grows.
 * A word, as halves that are stored are waited for. */
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
    const __m128i in_a = _mm_cvtsi32_si128((int)a), in_b = _mm_cvtsi32_si128((int)b);
    return (range)_mm_cvtsi128_si32(_mm_min_epi16(in_a, in_b));
}

/* The components of one block. */
typedef struct builder {
    const qfz_block_work *b;
    qfz_omega_contraction *o;
    qfz_exterior_view *told;
    scratch *s;
    range *ranges; /* of components, by node; NULL: in lo and hi */
    char *lo, *hi, *row;
    size_t span_bytes;
    int32_t widest; /* that a range may be */
    uint32_t n_late;
} builder;

size_t qfz_omega_block_bytes(const qfz_rule *rule)
{
    const size_t ends = (2 * QFZ_MAX_PARTS + QFZ_BLOCK_SIDE) * qfz_span_bytes(rule);
    const size_t ranges = (QFZ_MAX_PARTS + 1) * sizeof(range);
    return (sizeof(scratch) + 63) / 64 * 64 + ((ends > ranges ? ends : ranges) + 63) / 64 * 64;
}

static bool has_ranges(const qfz_rule *rule)
{
    return rule->n_bands == 1 && qfz_type_bytes(rule->type) <= 2;
}

/* ---- What nodes begin with. */

/* What is added to a value, modulo its type, to make it a range's. */
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

/* Planes become one group of bands a pixel. */
static void spread_row(size_t bytes, int64_t n_bands, const void *from, int64_t w, void *to)
{
    switch (bytes) {
    case 1: SPREAD_ROW(uint8_t); break;
    case 2: SPREAD_ROW(uint16_t); break;
    default: SPREAD_ROW(uint32_t); break;
    }
}

static void find_least(const builder *u)
{
    const uint16_t *const up = u->b->s->lightest.up;
    const uint32_t *const first = u->b->px_first;
    const uint32_t n = u->b->block->n_px;
    uint32_t *const least = u->s->least;
    uint32_t node = 1;
    least[0] = QFZ_NONE;
    for (uint32_t i = 0; i < n; i++) {
        least[node] = first[i];
        node += (up[i] == i) & (first[i] != QFZ_NONE);
    }
}

/* A row's pixels, from pixel px on, are of their nodes' ranges, or late: then they are listed. */
static void start_row_of_ranges(builder *u, const uint16_t *values, int64_t w, int64_t px)
{
    const uint16_t *const component = u->b->px_number + px;
    const uint32_t *const first = u->b->px_first + px, *const least = u->s->least;
    const uint32_t n_nodes = u->b->block->n_nodes;
    range *const ranges = u->ranges;
    uint64_t *const edges = qfz_block_end(u->b->edges);
    uint32_t n = u->n_late;
    for (int64_t x = 0; x < w; x++) {
        const uint32_t node = component[x];
        const uint32_t late = first[x] != least[node];
        const range own = range_of(values[x]);
        ranges[node] = range_union(ranges[node], late ? no_range : own);
        ranges[n_nodes + n] = own;
        edges[n] = qfz_edge_of(first[x], node, n_nodes + n);
        n += late;
    }
    u->n_late = n;
}

static void *lo_of(const builder *u, uint32_t node)
{
    return u->lo + node * u->span_bytes;
}

static void *hi_of(const builder *u, uint32_t node)
{
    return u->hi + node * u->span_bytes;
}

/* The same for values in general.  holds: 0 until a node has a range. */
static void start_row_of_spans(builder *u, const char *values, int64_t w, int64_t px)
{
    const uint16_t *const component = u->b->px_number + px;
    const uint32_t *const first = u->b->px_first + px;
    const uint32_t n_nodes = u->b->block->n_nodes;
    uint64_t *const edges = qfz_block_end(u->b->edges);
    for (int64_t x = 0; x < w; x++, values += u->span_bytes) {
        uint32_t node = component[x];
        if (first[x] != u->s->least[node]) {
            edges[u->n_late] = qfz_edge_of(first[x], node, n_nodes + u->n_late);
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
    uint16_t values[QFZ_BLOCK_SIDE];
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
    for (uint32_t i = 0; i < n; i++)
        component[i] = qfz_set_of(i, 0);
    qfz_spanning_start(u->b->s->set, n);
}

/* ---- Joining. */

/* The range of a node's component, as number n of two arrays. */
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

/* A component becomes a vertex as it stands. */
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

/* The vertex of an open node has the node's range from this level on. */
static void tell(const builder *u, uint32_t node, uint32_t level)
{
    qfz_ranges *const out = &u->told->ranges;
    qfz_error *const err = &u->told->err;
    if (err->status != QFZ_OK || qfz_ranges_reserve(out, out->n + 1, u->b->c->rule, err) != QFZ_OK)
        return;
    out->at[out->n] = vertex_at(u, node);
    out->level[out->n] = level;
    put_span(u, node, out->lo, out->hi, (size_t)out->n);
    out->n++;
}

/* take_in() of ranges.  Whether they grow is at random, so there is no branch: one that does not
 * grow holds as it did, and one that has broken stays too wide. */
static inline void take_in_range(const builder *u, uint32_t node, uint32_t other, uint32_t level,
                                 bool is_news)
{
    uint32_t *const holds = u->s->joined.holds;
    const range was = u->ranges[node], now = range_union(was, u->ranges[other]);
    const uint32_t held = holds[node], at_most = qfz_level_before(level);
    const bool breaks = (holds[other] < level) | (range_hi(now) - range_lo(now) > u->widest);
    u->ranges[node] = now;
    if (is_news && held >= level && now != was) tell(u, node, level);
    holds[node] = qfz_min(held, breaks ? at_most : UINT32_MAX);
}

/* The node's component takes in another one's range, and holds as long as both do; what has broken
 * has a range that is too wide, for whoever joins it. */
static inline void take_in(const builder *u, uint32_t node, uint32_t other, uint32_t level,
                           bool is_news)
{
    const qfz_rule *const rule = u->b->c->rule;
    uint32_t *const holds = u->s->joined.holds;
    if (u->ranges) {
        take_in_range(u, node, other, level, is_news && rule->omega);
        return;
    }
    if (!rule->omega || holds[node] < level) return;
    const bool grew =
        qfz_widen(rule, lo_of(u, node), hi_of(u, node), lo_of(u, other), hi_of(u, other));
    if (!grew) return; /* the other one holds, having no wider range */
    if (is_news) tell(u, node, level);
    if (holds[other] < level || too_wide(u, node)) holds[node] = qfz_level_before(level);
}

static void join_open(builder *u, uint32_t p, uint32_t q, uint32_t level)
{
    const uint32_t *const holds = u->s->joined.holds;
    if (holds[p] >= level || holds[q] >= level) qfz_block_link(u->b, p, q, level);
    take_in(u, p, q, level, false);
}

/* What is put under another one is hooked, but for late pixels, or linked where both are open. */
static void join_all(builder *u)
{
    const qfz_block_work *const b = u->b;
    uint32_t *const component = b->s->component, *const held = u->s->joined.held;
    const uint32_t n_nodes = b->block->n_nodes;
    uint32_t n_hooks = 0;
    int32_t n_edges;
    uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    n_edges = qfz_spanning_keep(b->s->set, edges, n_edges);
    for (int32_t i = 0; i < n_edges; i++) {
        uint32_t *const stays = &component[qfz_edge_p(edges[i])], larger;
        const uint32_t q = qfz_edge_q(edges[i]), level = qfz_edge_level(edges[i]);
        if (qfz_edge_is_loop(edges[i])) {
            open_component(u, stays, level);
            continue;
        }
        const uint32_t smaller = qfz_set_join(stays, component[q], &larger);
        const uint32_t root = qfz_set_node(larger), node = qfz_set_node(smaller);
        if (qfz_set_weight(smaller) & QFZ_SET_OPEN) {
            join_open(u, root, node, level);
            continue;
        }
        b->number[node] = (uint16_t)n_hooks;
        b->up[n_hooks] = (uint16_t)root;
        b->level[n_hooks] = level;
        held[n_hooks] = u->s->joined.holds[node];
        n_hooks += q < n_nodes;
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
                 .told = &o->told[b->thread],
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
