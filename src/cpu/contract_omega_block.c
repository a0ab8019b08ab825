/* SPDX-License-Identifier: MIT */
/* contract_omega_block.c - the components of one block with the ranges of their values: what is
 * hooked, what becomes a vertex or an event of one, and where climbs from its pixels stop. */
#include <string.h>

#include "cpu/contract_omega_parts.h"

/* Beside what every contraction needs for a block. */
typedef struct scratch {
    uint32_t holds[QFZ_BLOCK_PX]; /* as qfz_spans, by root */
    uint32_t held[QFZ_BLOCK_PX];  /* the same by number */
    uint16_t top[QFZ_BLOCK_PX];   /* where all hooks of one level lead */
    uint16_t stop[QFZ_BLOCK_PX];  /* by number */
    qfz_stop stops[QFZ_BLOCK_PX];
} scratch;

/* Of one band of 16-bit integers, which count from the least that their type has: there whether a
 * range grows is least foreseen. */
typedef struct range {
    uint16_t lo, hi;
} range;

/* The components of one block. */
typedef struct builder {
    const qfz_block_work *b;
    qfz_omega_contraction *o;
    qfz_told *told;
    scratch *s;
    range *ranges; /* of components, by root; NULL: in lo and hi */
    char *lo, *hi;
    size_t span_bytes;
    uint32_t widest; /* that a range may be */
} builder;

size_t qfz_omega_block_bytes(const qfz_rule *rule)
{
    return (sizeof(scratch) + 63) / 64 * 64 + 2 * QFZ_BLOCK_PX * qfz_span_bytes(rule);
}

static bool has_ranges(const qfz_rule *rule)
{
    return rule->n_bands == 1 && (rule->type == QFZ_U16 || rule->type == QFZ_I16);
}

/* What is added to a value, modulo 2^16, to make it a range's. */
static uint16_t offset_of(qfz_type type)
{
    return type == QFZ_I16 ? 1 << 15 : 0;
}

static void start_ranges(qfz_type type, const void *from, int64_t w, range *to)
{
    const uint16_t *const values = from, offset = offset_of(type);
    for (int64_t x = 0; x < w; x++)
        to[x].lo = to[x].hi = (uint16_t)(values[x] + offset);
}

#define SPREAD_ROW(TYPE)                                                                           \
    for (int64_t x = 0; x < w; x++)                                                                \
    ((TYPE *)to)[x * n_bands] = ((const TYPE *)from)[x]

/* Planes become one group of bands a pixel. */
static void spread_row(size_t bytes, int64_t n_bands, const void *from, int64_t w, void *to)
{
    if (n_bands == 1) {
        memcpy(to, from, (size_t)w * bytes);
        return;
    }
    switch (bytes) {
    case 1: SPREAD_ROW(uint8_t); break;
    case 2: SPREAD_ROW(uint16_t); break;
    default: SPREAD_ROW(uint32_t); break;
    }
}

static void start_spans(const builder *u)
{
    const qfz_block_work *const b = u->b;
    const qfz_image *const image = b->image;
    const size_t bytes = qfz_type_bytes(image->type);
    const int64_t w = qfz_box_w(b->box), h = qfz_box_h(b->box);
    for (int64_t y = 0; y < h; y++) {
        for (int64_t band = 0; band < image->n_bands; band++) {
            const int64_t at = (band * image->h + b->box.y0 + y) * image->w + b->box.x0;
            const char *const from = (const char *)image->pixels + bytes * (size_t)at;
            if (u->ranges)
                start_ranges(image->type, from, w, u->ranges + y * w);
            else
                spread_row(bytes, image->n_bands, from, w,
                           u->lo + u->span_bytes * (size_t)(y * w) + bytes * (size_t)band);
        }
    }
    if (!u->ranges) memcpy(u->hi, u->lo, u->span_bytes * (size_t)(h * w));
    memset(u->s->holds, 0xff, (size_t)(h * w) * sizeof *u->s->holds);
}

static void *lo_of(const builder *u, uint32_t root)
{
    return u->lo + root * u->span_bytes;
}

static void *hi_of(const builder *u, uint32_t root)
{
    return u->hi + root * u->span_bytes;
}

static void put_value(qfz_type type, uint16_t value, void *to)
{
    const uint16_t own = (uint16_t)(value - offset_of(type));
    memcpy(to, &own, sizeof own);
}

/* The range of a root's component, as number n of two arrays. */
static void put_span(const builder *u, uint32_t root, void *lo, void *hi, size_t n)
{
    char *const to_lo = (char *)lo + n * u->span_bytes;
    char *const to_hi = (char *)hi + n * u->span_bytes;
    if (u->ranges) {
        put_value(u->b->image->type, u->ranges[root].lo, to_lo);
        put_value(u->b->image->type, u->ranges[root].hi, to_hi);
    } else {
        memcpy(to_lo, lo_of(u, root), u->span_bytes);
        memcpy(to_hi, hi_of(u, root), u->span_bytes);
    }
}

static uint32_t vertex_at(const builder *u, uint32_t root)
{
    return qfz_contracted_vertex(u->b->block, u->b->number[root]);
}

/* The component of a root becomes a vertex as it stands. */
static void open_root(builder *u, uint32_t root)
{
    qfz_spans *const spans = &u->o->start;
    u->b->s->set[root] |= QFZ_SET_OPEN;
    qfz_block_open(u->b, root);
    const uint32_t vertex = vertex_at(u, root);
    spans->holds[vertex] = u->s->holds[root];
    put_span(u, root, spans->lo, spans->hi, vertex);
}

/* The vertex of an open root has the root's range from this level on. */
static void tell(const builder *u, uint32_t root, uint32_t level)
{
    qfz_absorbs *const out = &u->told->absorbs;
    qfz_error *const err = &u->told->err;
    if (err->status != QFZ_OK || qfz_absorbs_reserve(out, out->n + 1, u->b->c->rule, err) != QFZ_OK)
        return;
    out->at[out->n] = vertex_at(u, root);
    out->level[out->n] = level;
    put_span(u, root, out->lo, out->hi, (size_t)out->n);
    out->n++;
}

/* take_in() of ranges.  Whether they grow is at random, so there is no branch: one that does not
 * grow holds as it did. */
static inline void take_in_range(const builder *u, uint32_t root, uint32_t other, uint32_t level,
                                 bool is_news)
{
    uint32_t *const holds = u->s->holds;
    range *const own = &u->ranges[root];
    const range was = *own, in = u->ranges[other];
    const range now = {in.lo < was.lo ? in.lo : was.lo, in.hi > was.hi ? in.hi : was.hi};
    const bool grew = (now.lo != was.lo) | (now.hi != was.hi);
    const bool breaks = (holds[other] < level) | ((uint32_t)(now.hi - now.lo) > u->widest);
    *own = now;
    if (is_news & grew) tell(u, root, level);
    holds[root] = grew & breaks & (level > 0) ? level - 1 : holds[root];
}

/* The root takes in another one's range, and holds as long as both do; what has broken has a range
 * that is too wide, for whoever joins it. */
static void take_in(const builder *u, uint32_t root, uint32_t other, uint32_t level, bool is_news)
{
    const qfz_rule *const rule = u->b->c->rule;
    uint32_t *const holds = u->s->holds;
    if (!rule->omega || holds[root] < level) return;
    if (u->ranges) {
        take_in_range(u, root, other, level, is_news);
        return;
    }
    const bool grew =
        qfz_widen(rule, lo_of(u, root), hi_of(u, root), lo_of(u, other), hi_of(u, other));
    if (!grew) return; /* the other one holds, having no wider range */
    if (is_news) tell(u, root, level);
    const bool breaks = holds[other] < level || qfz_too_wide(rule, lo_of(u, root), hi_of(u, root));
    if (level > 0 && breaks) holds[root] = level - 1;
}

static void join_two(builder *u, uint32_t p, uint32_t q, uint32_t key)
{
    const qfz_block_work *const b = u->b;
    uint16_t *const set = b->s->set;
    const bool both_open = set[p] & set[q] & QFZ_SET_OPEN,
               one_open = (set[p] | set[q]) & QFZ_SET_OPEN;
    uint32_t root = p;
    const uint32_t other = qfz_set_join(set, &root, q);
    if (both_open) {
        const bool silent = u->s->holds[p] < key && u->s->holds[q] < key;
        if (!silent) qfz_block_link(b, root, other, key);
        take_in(u, root, other, key, false);
    } else {
        u->s->held[b->block->n_hooks] = u->s->holds[other];
        qfz_block_hook(b, other, root, key);
        take_in(u, root, other, key, one_open);
    }
}

/* Invalid pixels have one stop in common, whose number is told by top. */
enum { INVALID = UINT16_MAX };

static void mark_invalid(const builder *u)
{
    const qfz_image *const image = u->b->image;
    const uint16_t *number = u->b->number;
    for (int64_t y = u->b->box.y0; image->valid && y < u->b->box.y1; y++)
        for (int64_t x = u->b->box.x0; x < u->b->box.x1; x++, number++)
            if (!image->valid[y * image->w + x]) u->s->top[*number] = INVALID;
}

static uint16_t new_stop(const builder *u, uint32_t *n, uint32_t vertex, uint32_t level)
{
    u->s->stops[*n] = (qfz_stop){vertex, level};
    return (uint16_t)(*n)++;
}

/* Roots: of closed components and of open ones. */
static void find_root_stops(const builder *u, uint32_t *n)
{
    const qfz_contracted_block *const block = u->b->block;
    const uint32_t first_open = block->n_px - block->n_open;
    scratch *const s = u->s;
    uint32_t invalid = QFZ_NONE;
    memset(s->top + block->n_hooks, 0, (block->n_px - block->n_hooks) * sizeof *s->top);
    mark_invalid(u);
    for (uint32_t i = block->n_hooks; i < first_open; i++) {
        if (s->top[i] != INVALID)
            s->stop[i] = new_stop(u, n, QFZ_NONE, 0);
        else
            s->stop[i] =
                (uint16_t)(invalid = invalid == QFZ_NONE ? new_stop(u, n, QFZ_NONE, 0) : invalid);
    }
    for (uint32_t i = first_open; i < block->n_px; i++)
        s->stop[i] = new_stop(u, n, qfz_contracted_vertex(block, i), 0);
}

/* Where a climb that begins at a hook stops; later hooks come first. */
static void find_hook_stops(const builder *u, uint32_t *n)
{
    const qfz_block_work *const b = u->b;
    const qfz_contracted_block *const block = b->block;
    const uint32_t *const level = b->level;
    const uint32_t n_hooks = block->n_hooks, first_open = block->n_px - block->n_open;
    scratch *const s = u->s;
    for (uint32_t i = 0; n_hooks < first_open && i < block->n_px; i++)
        if (b->number[i] >= n_hooks) s->held[b->number[i]] = s->holds[i];
    for (uint32_t i = n_hooks; i-- > 0;) {
        const uint32_t up = b->up[i];
        const bool same = up < n_hooks && level[up] == level[i];
        const uint32_t top = same ? s->top[up] : up;
        s->top[i] = (uint16_t)top;
        const bool leads_on = top < first_open && s->held[top] >= level[i];
        s->stop[i] =
            leads_on ? s->stop[top] : new_stop(u, n, qfz_contracted_vertex(block, top), level[i]);
    }
}

/* The block's stops follow those of the blocks that are through. */
static void put_stops(const builder *u, uint32_t n)
{
    qfz_omega_contraction *const o = u->o;
    const qfz_contracted_block *const block = u->b->block;
    const scratch *const s = u->s;
    uint16_t *const stop = o->stop + block->px;
    uint32_t first;
#pragma omp atomic capture
    {
        first = o->n_stops;
        o->n_stops += n;
    }
    o->first_stop[block - o->c.blocks] = first;
    memcpy(o->stops + first, s->stops, n * sizeof *s->stops);
    for (uint32_t i = block->n_px - block->n_open; i < block->n_px; i++)
        o->vertex_stop[qfz_contracted_vertex(block, i)] = first + s->stop[i];
    for (uint32_t i = 0; i < block->n_px; i++)
        stop[i] = s->stop[u->b->number[i]];
}

static void find_stops(const builder *u)
{
    uint32_t n = 0;
    find_root_stops(u, &n);
    find_hook_stops(u, &n);
    put_stops(u, n);
}

void qfz_omega_join_block(const qfz_block_work *b, void *arg)
{
    qfz_omega_contraction *const o = arg;
    const qfz_rule *const rule = b->c->rule;
    char *const own = (char *)o->scratch + (size_t)b->thread * qfz_omega_block_bytes(rule);
    char *const lo = own + (sizeof(scratch) + 63) / 64 * 64;
    builder u = {.b = b,
                 .o = o,
                 .told = &o->told[b->thread],
                 .s = (scratch *)(void *)own,
                 .ranges = has_ranges(rule) ? (range *)(void *)lo : NULL,
                 .widest =
                     rule->omega && *rule->omega < UINT16_MAX ? (uint32_t)*rule->omega : UINT16_MAX,
                 .lo = lo,
                 .hi = lo + QFZ_BLOCK_PX * qfz_span_bytes(rule),
                 .span_bytes = qfz_span_bytes(rule)};
    uint16_t *const set = b->s->set;
    int32_t n_edges;
    const uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    start_spans(&u);
    for (uint32_t i = 0; i < b->block->n_nodes; i++)
        set[i] = QFZ_SET_ROOT;
    for (int32_t i = 0; i < n_edges; i++) {
        const uint32_t p = qfz_set_root(set, qfz_edge_p(edges[i]));
        if (qfz_edge_is_loop(edges[i])) {
            if (!(set[p] & QFZ_SET_OPEN)) open_root(&u, p);
            continue;
        }
        const uint32_t q = qfz_set_root(set, qfz_edge_q(edges[i]));
        if (p != q) join_two(&u, p, q, qfz_edge_key(edges[i]));
    }
    qfz_block_finish(b);
    find_stops(&u);
}
