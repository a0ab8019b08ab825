/* SPDX-License-Identifier: MIT */
#include "cpu/contract_omega.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/contract_omega_parts.h"
#include "core/memory.h"

qfz_status qfz_omega_contraction_init(qfz_omega_contraction *o, const qfz_rule *rule, int64_t h,
                                      int64_t w, int64_t side, int n_threads, qfz_error *err)
{
    *o = (qfz_omega_contraction){0};
    qfz_status st;
    QFZ_TRY(qfz_contraction_init(&o->c, rule, h, w, side, false, n_threads, err));
    const int64_t n = o->c.max_vertices, n_blocks = o->c.layout.n_y * o->c.layout.n_x;
    QFZ_TRY_OR(st, failed, qfz_spans_init(&o->start, n, rule, err));
    QFZ_TRY_OR(st, failed, qfz_spans_init(&o->spans, n, rule, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->vertex_stop, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->stops, h * w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&o->block_stops, n_blocks, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&o->stop, h * w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_ZERO(&o->events, n_threads, err));
    QFZ_TRY_OR(st, failed,
               qfz_alloc_large(&o->scratch, n_threads, qfz_omega_block_bytes(rule), err));
    return QFZ_OK;

failed:
    qfz_omega_contraction_fini(o);
    return st;
}

void qfz_omega_contraction_fini(qfz_omega_contraction *o)
{
    for (int i = 0; o->events && i < o->c.n_threads; i++)
        qfz_ranges_fini(&o->events[i].ranges);
    free(o->events);
    qfz_spans_fini(&o->start);
    qfz_spans_fini(&o->spans);
    free(o->vertex_stop);
    free(o->stops);
    free(o->block_stops);
    free(o->stop);
    free(o->scratch);
    qfz_ranges_fini(&o->ranges);
    qfz_contraction_fini(&o->c);
    *o = (qfz_omega_contraction){0};
}

void qfz_omega_contraction_swap_rooms(qfz_omega_contraction *a, qfz_omega_contraction *b)
{
    const qfz_omega_contraction was = *a;
    qfz_contraction_swap_rooms(&a->c, &b->c);
    a->spans = b->spans;
    a->events = b->events;
    a->scratch = b->scratch;
    b->spans = was.spans;
    b->events = was.events;
    b->scratch = was.scratch;
}

/* Range events are not counted: they are few, since each widens a range within omega. */
int64_t qfz_omega_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    const int64_t vertices = h * w / (QFZ_CPU_BLOCK_SIDE / 4);
    return qfz_contraction_bytes(rule, h, w, false) +
           h * w * (int64_t)(sizeof(qfz_stop) + sizeof(uint16_t)) +
           vertices * (int64_t)(12 + 4 * qfz_span_bytes(rule)) +
           (int64_t)qfz_omega_block_bytes(rule);
}

/* The unused rest of the memory for stops has not been touched. */
int64_t qfz_omega_contraction_used_bytes(const qfz_omega_contraction *o, int64_t h, int64_t w)
{
    const int64_t free_stops = (h * w - o->n_stops) * (int64_t)sizeof(qfz_stop) - QFZ_LARGE_PAGE;
    return qfz_omega_contraction_bytes(o->c.rule, h, w) - (free_stops > 0 ? free_stops : 0) +
           o->ranges.room * (int64_t)(8 + 2 * qfz_span_bytes(o->c.rule));
}

/* ---- The graph. */

static void append_range(qfz_ranges *to, const qfz_ranges *from, int64_t i, size_t bytes)
{
    to->at[to->n] = from->at[i];
    to->level[to->n] = from->level[i];
    memcpy((char *)to->lo + (size_t)to->n * bytes, (const char *)from->lo + (size_t)i * bytes,
           bytes);
    memcpy((char *)to->hi + (size_t)to->n * bytes, (const char *)from->hi + (size_t)i * bytes,
           bytes);
    to->n++;
}

/* Merges the range events of all threads into one list, sorted by level by way of a graph. */
static qfz_status collect_ranges(qfz_omega_contraction *o, qfz_error *err)
{
    const size_t bytes = qfz_span_bytes(o->c.rule);
    qfz_ranges all = {0};
    qfz_graph order = {0};
    qfz_status st = QFZ_OK;
    int64_t n = 0;
    for (int t = 0; t < o->c.n_threads; t++)
        n += o->events[t].ranges.n;
    o->ranges.n = 0;
    if (n == 0) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, qfz_ranges_reserve(&all, n, o->c.rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_ranges_reserve(&o->ranges, n, o->c.rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_graph_init(&order, n, err));
    for (int t = 0; t < o->c.n_threads; t++)
        for (int64_t i = 0; i < o->events[t].ranges.n; i++)
            append_range(&all, &o->events[t].ranges, i, bytes);
    qfz_graph_set_links(&order, 0, NULL, NULL, all.level);
    qfz_graph_add_links(&order, 0, n, UINT32_MAX);
    qfz_graph_sort(&order);
    for (int64_t i = 0; i < n; i++)
        append_range(&o->ranges, &all, order.id[i], bytes);

cleanup:
    qfz_ranges_fini(&all);
    qfz_graph_fini(&order);
    return st;
}

qfz_status qfz_omega_contract(qfz_omega_contraction *o, const qfz_image *image, bool open_ring,
                              qfz_error *err)
{
    for (int t = 0; t < o->c.n_threads; t++) {
        o->events[t].ranges.n = 0;
        o->events[t].err.status = QFZ_OK;
    }
    o->n_stops = 0;
    qfz_contract_by(&o->c, image, open_ring, qfz_omega_join_block, o);
    for (int t = 0; t < o->c.n_threads; t++)
        if (o->events[t].err.status != QFZ_OK)
            return qfz_fail(err, o->events[t].err.status, "%s", o->events[t].err.message);
    qfz_graph_sort(&o->c.graph);
    return collect_ranges(o, err);
}

static void start_joining(qfz_omega_contraction *o)
{
    const size_t n = o->c.n_vertices, bytes = qfz_span_bytes(o->c.rule);
    memcpy(o->spans.holds, o->start.holds, n * sizeof *o->start.holds);
    memcpy(o->spans.lo, o->start.lo, n * bytes);
    memcpy(o->spans.hi, o->start.hi, n * bytes);
    qfz_forest_reset(&o->c.forest, o->c.n_vertices);
}

/* ---- Regions. */

/* Applies the omega levels of the exterior to the vertices of the ring. */
static void apply_exterior(qfz_omega_contraction *o, const uint32_t *omega_level)
{
    const int64_t h = o->c.layout.h, w = o->c.layout.w;
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const uint32_t vertex = qfz_contraction_gate(&o->c, y, x).vertex;
        if (vertex == QFZ_NONE) continue;
        uint32_t *const holds = &o->spans.holds[vertex];
        if (omega_level[i] < *holds) *holds = omega_level[i];
    }
}

static uint32_t region_of_vertex(const qfz_omega_contraction *o, uint32_t vertex)
{
    uint32_t holds;
    return o->vertex_stop[qfz_omega_top(&o->c.forest, &o->spans, vertex, &holds)];
}

/* Finds the regions of the stops at a block's open roots. */
static void find_root_regions(const qfz_omega_contraction *o, const qfz_contracted_block *block,
                              uint32_t *region)
{
    for (uint32_t vertex = block->vertex; vertex < block->vertex + block->n_open; vertex++)
        region[o->vertex_stop[vertex]] = region_of_vertex(o, vertex);
}

/* Finds the region of a stop before an open root.  The climb continues if the root's component at
 * that level is within omega; then it ends where the root's own climb ends. */
static void find_region(const qfz_omega_contraction *o, uint32_t stop, uint32_t *region)
{
    const qfz_forest *const forest = &o->c.forest;
    const uint32_t level = o->stops[stop].level;
    uint32_t vertex = o->stops[stop].vertex;
    if (vertex == QFZ_NONE) {
        region[stop] = stop;
        return;
    }
    if (o->vertex_stop[vertex] == stop)
        return; /* the stop of the root itself, whose region is known */
    while (forest->up[vertex] != vertex && forest->level[vertex] <= level)
        vertex = forest->up[vertex];
    region[stop] = o->spans.holds[vertex] >= level ? region[o->vertex_stop[vertex]] : stop;
}

qfz_status qfz_omega_contraction_regions(qfz_omega_contraction *o, const uint32_t *omega_level,
                                         uint32_t *region, qfz_error *err)
{
    const qfz_omega_input input = {.graph = &o->c.graph, .ranges = &o->ranges};
    const int64_t n_blocks = o->c.layout.n_y * o->c.layout.n_x;
    start_joining(o);
    if (omega_level) apply_exterior(o, omega_level);
    QFZ_TRY(qfz_omega_join(&o->c.forest, &o->spans, o->c.rule, &input, NULL, err));
#pragma omp parallel num_threads(qfz_contraction_threads(&o->c))
    {
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            find_root_regions(o, &o->c.blocks[i], region);
#pragma omp for
        for (uint32_t i = 0; i < o->n_stops; i++)
            find_region(o, i, region);
    }
    return QFZ_OK;
}

qfz_stop_block qfz_omega_contraction_block(const qfz_omega_contraction *o, int64_t i)
{
    const qfz_cpu_blocks *const in = &o->c.layout;
    const qfz_box box = qfz_cpu_blocks_box(in, i / in->n_x, i % in->n_x);
    return (qfz_stop_block){box, o->block_stops[i].first, o->block_stops[i].n,
                            o->stop + box.y0 * in->w + box.x0 * qfz_box_h(box)};
}

void qfz_omega_contraction_row(const qfz_omega_contraction *o, int64_t y, const uint32_t *of_stop,
                               uint32_t *row)
{
    const qfz_cpu_blocks *const in = &o->c.layout;
    for (int64_t bx = 0; bx < in->n_x; bx++) {
        const qfz_stop_block block = qfz_omega_contraction_block(o, y / in->side * in->n_x + bx);
        const int64_t n = qfz_box_w(block.box);
        const uint16_t *const stop = block.stop + (y - block.box.y0) * n;
        const uint32_t *const of_block = of_stop + block.first;
        for (int64_t x = 0; x < n; x++)
            row[block.box.x0 + x] = of_block[stop[x]];
    }
}

uint32_t qfz_omega_contraction_stop(const qfz_omega_contraction *o, int64_t y, int64_t x)
{
    const qfz_cpu_blocks *const in = &o->c.layout;
    const int64_t i = y / in->side * in->n_x + x / in->side;
    const qfz_stop_block block = qfz_omega_contraction_block(o, i);
    return block.first + block.stop[(y - block.box.y0) * qfz_box_w(block.box) + x - block.box.x0];
}

/* ---- Summaries. */

/* A component of level 0 may have different values, if small differences vanish: then it starts
 * with a range event. */
static qfz_status add_start(const qfz_omega_contraction *o, uint32_t vertex, uint32_t at,
                            qfz_summary *summary, qfz_error *err)
{
    const qfz_rule *const rule = o->c.rule;
    const size_t bytes = qfz_type_bytes(rule->type), all = qfz_span_bytes(rule);
    const char *const lo = (const char *)o->start.lo + vertex * all;
    const char *const hi = (const char *)o->start.hi + vertex * all;
    qfz_ranges *const out = &summary->ranges;
    bool same = true;
    for (size_t b = 0; b < (size_t)rule->n_bands; b++) {
        const char *const own =
            (const char *)summary->values + (b * (size_t)summary->n_ring + at) * bytes;
        same = same && memcmp(own, lo + b * bytes, bytes) == 0 &&
               memcmp(own, hi + b * bytes, bytes) == 0;
    }
    if (same || !rule->omega) return QFZ_OK;
    QFZ_TRY(qfz_ranges_reserve(out, out->n + 1, rule, err));
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
    summary->ranges.n = 0;
    qfz_contraction_mark_ring(&o->c, summary->valid, mark, &summary->links);
    for (uint32_t v = 0; v < o->c.n_vertices; v++)
        if (mark[v] != QFZ_NONE) QFZ_TRY(add_start(o, v, mark[v], summary, err));
    const qfz_omega_input input = {.graph = &o->c.graph, .ranges = &o->ranges};
    const qfz_omega_summary events = {
        .mark = mark, .links = &summary->links, .ranges = &summary->ranges};
    start_joining(o);
    return qfz_omega_join(&o->c.forest, &o->spans, o->c.rule, &input, &events, err);
}
