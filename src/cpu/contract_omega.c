/* SPDX-License-Identifier: MIT */
#include "cpu/contract_omega.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/contract_parts.h"
#include "memory.h"

struct qfz_told {
    qfz_absorbs absorbs;
    qfz_error err; /* the first failure; nothing is told after it */
};

/* Beside what every contraction needs for a block. */
typedef struct scratch {
    uint32_t holds[QFZ_BLOCK_PX]; /* as qfz_spans, by root */
    uint32_t held[QFZ_BLOCK_PX];  /* the same by number */
    uint16_t top[QFZ_BLOCK_PX];   /* where all hooks of one level lead */
    uint16_t stop[QFZ_BLOCK_PX];  /* by number */
    qfz_stop stops[QFZ_BLOCK_PX];
} scratch;

/* The components of one block. */
typedef struct builder {
    const qfz_block_work *b;
    qfz_omega_contraction *o;
    qfz_told *told;
    scratch *s;
    char *lo, *hi; /* ranges of components, by root */
    size_t span_bytes;
} builder;

static size_t span_bytes(const qfz_rule *rule)
{
    return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
}

static size_t scratch_bytes(const qfz_rule *rule)
{
    return (sizeof(scratch) + 63) / 64 * 64 + 2 * QFZ_BLOCK_PX * span_bytes(rule);
}

qfz_status qfz_omega_contraction_init(qfz_omega_contraction *o, const qfz_rule *rule, int64_t h,
                                      int64_t w, int64_t side, int n_threads, qfz_error *err)
{
    *o = (qfz_omega_contraction){0};
    qfz_status st;
    QFZ_TRY(qfz_contraction_init(&o->c, rule, h, w, side, false, n_threads, err));
    const int64_t n = o->c.max_vertices, n_blocks = o->c.in_blocks.n_y * o->c.in_blocks.n_x;
    QFZ_TRY_OR(st, failed, qfz_spans_init(&o->start, n, rule, err));
    QFZ_TRY_OR(st, failed, qfz_spans_init(&o->spans, n, rule, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->vertex_stop, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->stops, h * w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&o->first_stop, n_blocks, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->stop, h * w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_ZERO(&o->told, n_threads, err));
    QFZ_TRY_OR(st, failed, qfz_alloc_large(&o->scratch, n_threads, scratch_bytes(rule), err));
    return QFZ_OK;

failed:
    qfz_omega_contraction_fini(o);
    return st;
}

void qfz_omega_contraction_fini(qfz_omega_contraction *o)
{
    for (int i = 0; o->told && i < o->c.n_threads; i++)
        qfz_absorbs_fini(&o->told[i].absorbs);
    free(o->told);
    qfz_spans_fini(&o->start);
    qfz_spans_fini(&o->spans);
    free(o->vertex_stop);
    free(o->stops);
    free(o->first_stop);
    free(o->stop);
    free(o->scratch);
    qfz_absorbs_fini(&o->absorbs);
    qfz_contraction_fini(&o->c);
    *o = (qfz_omega_contraction){0};
}

/* Events are too few to count: each widens a range that still holds. */
int64_t qfz_omega_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    const int64_t vertices = h * w / (QFZ_BLOCK_SIDE / 4);
    return qfz_contraction_bytes(rule, h, w, false) +
           h * w * (int64_t)(sizeof(qfz_stop) + sizeof(uint16_t)) +
           vertices * (int64_t)(12 + 4 * span_bytes(rule)) + (int64_t)scratch_bytes(rule);
}

/* The rest of the room for stops has not been touched. */
int64_t qfz_omega_contraction_used_bytes(const qfz_omega_contraction *o, int64_t h, int64_t w)
{
    const int64_t free_stops = (h * w - o->n_stops) * (int64_t)sizeof(qfz_stop) - QFZ_LARGE_PAGE;
    int64_t events = o->absorbs.room;
    for (int t = 0; t < o->c.n_threads; t++)
        events += o->told[t].absorbs.room;
    return qfz_omega_contraction_bytes(o->c.rule, h, w) - (free_stops > 0 ? free_stops : 0) +
           events * (int64_t)(8 + 2 * span_bytes(o->c.rule));
}

/* ---- Joining the components of a block. */

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
            const int64_t from = (band * image->h + b->box.y0 + y) * image->w + b->box.x0;
            spread_row(bytes, image->n_bands, (const char *)image->pixels + bytes * (size_t)from, w,
                       u->lo + u->span_bytes * (size_t)(y * w) + bytes * (size_t)band);
        }
    }
    memcpy(u->hi, u->lo, u->span_bytes * (size_t)(h * w));
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

static uint32_t vertex_at(const builder *u, uint32_t root)
{
    return qfz_contracted_vertex(u->b->block, u->b->number[root]);
}

/* The component of a root becomes a vertex as it stands. */
static void open_root(builder *u, uint32_t root)
{
    qfz_spans *const spans = &u->o->start;
    qfz_block_open(u->b, root);
    const uint32_t vertex = vertex_at(u, root);
    spans->holds[vertex] = u->s->holds[root];
    memcpy((char *)spans->lo + vertex * u->span_bytes, lo_of(u, root), u->span_bytes);
    memcpy((char *)spans->hi + vertex * u->span_bytes, hi_of(u, root), u->span_bytes);
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
    memcpy((char *)out->lo + (size_t)out->n * u->span_bytes, lo_of(u, root), u->span_bytes);
    memcpy((char *)out->hi + (size_t)out->n * u->span_bytes, hi_of(u, root), u->span_bytes);
    out->n++;
}

/* The root takes in another one's range, and holds as long as both do; what has broken has a range
 * that is too wide, for whoever joins it. */
static void take_in(const builder *u, uint32_t root, uint32_t other, uint32_t level, bool is_news)
{
    const qfz_rule *const rule = u->b->c->rule;
    uint32_t *const holds = u->s->holds;
    if (!rule->omega || holds[root] < level) return;
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

static void join_block(const qfz_block_work *b, void *arg)
{
    qfz_omega_contraction *const o = arg;
    const qfz_rule *const rule = b->c->rule;
    char *const own = (char *)o->scratch + (size_t)b->thread * scratch_bytes(rule);
    char *const lo = own + (sizeof(scratch) + 63) / 64 * 64;
    builder u = {.b = b,
                 .o = o,
                 .told = &o->told[b->thread],
                 .s = (scratch *)(void *)own,
                 .lo = lo,
                 .hi = lo + QFZ_BLOCK_PX * span_bytes(rule),
                 .span_bytes = span_bytes(rule)};
    const qfz_edge_offsets offsets = qfz_edge_offsets_of(qfz_box_w(b->box));
    uint16_t *const set = b->s->set;
    int32_t n_edges;
    const uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    start_spans(&u);
    for (int32_t i = 0; i < n_edges; i++) {
        const uint32_t id = (uint32_t)edges[i], key = (uint32_t)(edges[i] >> 32);
        const uint32_t place = id & (QFZ_BLOCK_PX - 1), kind = id >> QFZ_PLACE_BITS;
        if (kind == QFZ_EDGE_OTHER) {
            const uint32_t root = qfz_set_root(set, place);
            if (!(set[root] & QFZ_SET_OPEN)) open_root(&u, root);
            continue;
        }
        const uint32_t p = qfz_set_root(set, place + offsets.from[kind]);
        const uint32_t q = qfz_set_root(set, place + offsets.to[kind]);
        if (p != q) join_two(&u, p, q, key);
    }
    qfz_block_finish(b);
    find_stops(&u);
}

/* ---- The graph. */

static void append_absorb(qfz_absorbs *to, const qfz_absorbs *from, int64_t i, size_t bytes)
{
    to->at[to->n] = from->at[i];
    to->level[to->n] = from->level[i];
    memcpy((char *)to->lo + (size_t)to->n * bytes, (const char *)from->lo + (size_t)i * bytes,
           bytes);
    memcpy((char *)to->hi + (size_t)to->n * bytes, (const char *)from->hi + (size_t)i * bytes,
           bytes);
    to->n++;
}

/* What the threads told, in order of levels: each list is sorted by way of a graph of its own. */
static qfz_status collect_absorbs(qfz_omega_contraction *o, qfz_error *err)
{
    const size_t bytes = span_bytes(o->c.rule);
    qfz_absorbs all = {0};
    qfz_graph order = {0};
    qfz_status st = QFZ_OK;
    int64_t n = 0;
    for (int t = 0; t < o->c.n_threads; t++)
        n += o->told[t].absorbs.n;
    o->absorbs.n = 0;
    if (n == 0) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, qfz_absorbs_reserve(&all, n, o->c.rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_absorbs_reserve(&o->absorbs, n, o->c.rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_graph_init(&order, n, err));
    for (int t = 0; t < o->c.n_threads; t++)
        for (int64_t i = 0; i < o->told[t].absorbs.n; i++)
            append_absorb(&all, &o->told[t].absorbs, i, bytes);
    qfz_graph_set_links(&order, 0, NULL, NULL, all.level);
    qfz_graph_add_links(&order, 0, n, UINT32_MAX);
    qfz_graph_sort(&order);
    for (int64_t i = 0; i < n; i++)
        append_absorb(&o->absorbs, &all, order.id[i], bytes);

cleanup:
    qfz_absorbs_fini(&all);
    qfz_graph_fini(&order);
    return st;
}

qfz_status qfz_omega_contract(qfz_omega_contraction *o, const qfz_image *image, bool open_ring,
                              qfz_error *err)
{
    for (int t = 0; t < o->c.n_threads; t++) {
        o->told[t].absorbs.n = 0;
        o->told[t].err.status = QFZ_OK;
    }
    o->n_stops = 0;
    qfz_contract_by(&o->c, image, open_ring, join_block, o);
    for (int t = 0; t < o->c.n_threads; t++)
        if (o->told[t].err.status != QFZ_OK)
            return qfz_fail(err, o->told[t].err.status, "%s", o->told[t].err.message);
    qfz_graph_sort(&o->c.graph);
    return collect_absorbs(o, err);
}

static void start_joining(qfz_omega_contraction *o)
{
    const size_t n = o->c.n_vertices, bytes = span_bytes(o->c.rule);
    memcpy(o->spans.holds, o->start.holds, n * sizeof *o->start.holds);
    memcpy(o->spans.lo, o->start.lo, n * bytes);
    memcpy(o->spans.hi, o->start.hi, n * bytes);
    qfz_forest_reset(&o->c.forest, o->c.n_vertices);
}

/* ---- Regions. */

/* What is known from outside of the ring's vertices. */
static void know(qfz_omega_contraction *o, const uint32_t *holds_to)
{
    const int64_t h = o->c.in_blocks.h, w = o->c.in_blocks.w;
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const uint32_t vertex = qfz_contraction_gate(&o->c, y, x).vertex;
        if (vertex == QFZ_NONE) continue;
        uint32_t *const holds = &o->spans.holds[vertex];
        if (holds_to[i] < *holds) *holds = holds_to[i];
    }
}

static uint32_t region_of_vertex(const qfz_omega_contraction *o, uint32_t vertex)
{
    uint32_t holds;
    return o->vertex_stop[qfz_omega_top(&o->c.forest, &o->spans, vertex, &holds)];
}

/* A climb that stopped short of an open root goes on if the root's component, as large as it is at
 * that level, holds. */
static uint32_t region_of_stop(const qfz_omega_contraction *o, uint32_t stop)
{
    const qfz_forest *const forest = &o->c.forest;
    const uint32_t level = o->stops[stop].level;
    uint32_t vertex = o->stops[stop].vertex;
    if (vertex == QFZ_NONE) return stop;
    while (forest->up[vertex] != vertex && forest->key[vertex] <= level)
        vertex = forest->up[vertex];
    return o->spans.holds[vertex] >= level ? region_of_vertex(o, vertex) : stop;
}

qfz_status qfz_omega_contraction_regions(qfz_omega_contraction *o, const uint32_t *holds_to,
                                         uint32_t *region, qfz_error *err)
{
    const qfz_omega_input input = {.graph = &o->c.graph, .absorbs = &o->absorbs};
    start_joining(o);
    if (holds_to) know(o, holds_to);
    QFZ_TRY(qfz_omega_join(&o->c.forest, &o->spans, o->c.rule, &input, NULL, err));
#pragma omp parallel for num_threads(qfz_contraction_threads(&o->c))
    for (uint32_t i = 0; i < o->n_stops; i++)
        region[i] = region_of_stop(o, i);
    return QFZ_OK;
}

/* A row of a block, as it lies in stop[]. */
static const uint16_t *row_of_block(const qfz_omega_contraction *o, int64_t y, int64_t bx,
                                    uint32_t *first)
{
    const qfz_blocks *const in = &o->c.in_blocks;
    const int64_t by = y / in->side;
    const qfz_box box = qfz_blocks_box(in, by, bx);
    *first = o->first_stop[by * in->n_x + bx];
    return o->stop + box.y0 * in->w + box.x0 * qfz_box_h(box) + (y - box.y0) * qfz_box_w(box);
}

void qfz_omega_contraction_row(const qfz_omega_contraction *o, int64_t y, const uint32_t *of_stop,
                               uint32_t *row)
{
    const qfz_blocks *const in = &o->c.in_blocks;
    for (int64_t bx = 0; bx < in->n_x; bx++) {
        uint32_t first;
        const uint16_t *const stop = row_of_block(o, y, bx, &first);
        const int64_t x0 = bx * in->side, n = in->w - x0 < in->side ? in->w - x0 : in->side;
        if (of_stop) {
            const uint32_t *const of_block = of_stop + first;
            for (int64_t x = 0; x < n; x++)
                row[x0 + x] = of_block[stop[x]];
        } else {
            for (int64_t x = 0; x < n; x++)
                row[x0 + x] = first + stop[x];
        }
    }
}

uint32_t qfz_omega_contraction_stop(const qfz_omega_contraction *o, int64_t y, int64_t x)
{
    uint32_t first;
    const uint16_t *const stop = row_of_block(o, y, x / o->c.in_blocks.side, &first);
    return first + stop[x % o->c.in_blocks.side];
}

/* ---- Summaries. */

/* Level 0 may be more than equal values, if small differences vanish. */
static qfz_status tell_start(const qfz_omega_contraction *o, uint32_t vertex, uint32_t at,
                             qfz_summary *summary, qfz_error *err)
{
    const qfz_rule *const rule = o->c.rule;
    const size_t bytes = qfz_type_bytes(rule->type), all = span_bytes(rule);
    const char *const lo = (const char *)o->start.lo + vertex * all;
    const char *const hi = (const char *)o->start.hi + vertex * all;
    qfz_absorbs *const out = &summary->absorbs;
    bool same = true;
    for (size_t b = 0; b < (size_t)rule->n_bands; b++) {
        const char *const own =
            (const char *)summary->values + (b * (size_t)summary->n_ring + at) * bytes;
        same = same && memcmp(own, lo + b * bytes, bytes) == 0 &&
               memcmp(own, hi + b * bytes, bytes) == 0;
    }
    if (same || !rule->omega) return QFZ_OK;
    QFZ_TRY(qfz_absorbs_reserve(out, out->n + 1, rule, err));
    out->at[out->n] = at;
    out->level[out->n] = 0;
    memcpy((char *)out->lo + (size_t)out->n * all, lo, all);
    memcpy((char *)out->hi + (size_t)out->n * all, hi, all);
    out->n++;
    return QFZ_OK;
}

qfz_status qfz_omega_contraction_summarise(qfz_omega_contraction *o, uint32_t *mark,
                                           qfz_summary *summary, qfz_error *err)
{
    summary->links.n = 0;
    summary->absorbs.n = 0;
    qfz_contraction_mark_ring(&o->c, summary->valid, mark, &summary->links);
    for (uint32_t v = 0; v < o->c.n_vertices; v++)
        if (mark[v] != QFZ_NONE) QFZ_TRY(tell_start(o, v, mark[v], summary, err));
    const qfz_omega_input input = {.graph = &o->c.graph, .absorbs = &o->absorbs};
    const qfz_omega_told told = {
        .mark = mark, .links = &summary->links, .absorbs = &summary->absorbs};
    start_joining(o);
    return qfz_omega_join(&o->c.forest, &o->spans, o->c.rule, &input, &told, err);
}
