/* SPDX-License-Identifier: MIT */
#include "cpu/omega.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* The state of one pass over the edges and range events of a graph. */
typedef struct pass {
    qfz_forest *forest;
    qfz_spans *spans;
    const qfz_rule *rule;
    size_t span_bytes;            /* bytes of the least, or the greatest, values of a vertex */
    const qfz_omega_summary *out; /* NULL: no summary is needed */
    uint32_t *mark;               /* of out, or NULL */
    qfz_error *err;
} pass;

qfz_status qfz_spans_init(qfz_spans *spans, int64_t n, const qfz_rule *rule, qfz_error *err)
{
    const size_t span_bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    *spans = (qfz_spans){.capacity = n};
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&spans->holds, n, err));
    QFZ_TRY_OR(st, failed, qfz_alloc_large(&spans->lo, n, span_bytes, err));
    QFZ_TRY_OR(st, failed, qfz_alloc_large(&spans->hi, n, span_bytes, err));
    return QFZ_OK;

failed:
    qfz_spans_fini(spans);
    return st;
}

void qfz_spans_fini(qfz_spans *spans)
{
    free(spans->holds);
    free(spans->lo);
    free(spans->hi);
    *spans = (qfz_spans){0};
}

#define SPREAD_BAND(TYPE)                                                                          \
    for (int64_t p = 0; p < n; p++)                                                                \
    ((TYPE *)spans->lo)[(first + p) * n_bands + b] = ((const TYPE *)values->pixels)[b * n + p]

/* Turns planes of bands into one group of bands per vertex. */
void qfz_spans_start(qfz_spans *spans, uint32_t first, const qfz_image *values)
{
    const int64_t n = values->h * values->w, n_bands = values->n_bands;
    const size_t bytes = qfz_type_bytes(values->type) * (size_t)n_bands;
    for (int64_t b = 0; b < n_bands; b++) {
        switch (qfz_type_bytes(values->type)) {
        case 1: SPREAD_BAND(uint8_t); break;
        case 2: SPREAD_BAND(uint16_t); break;
        default: SPREAD_BAND(uint32_t); break;
        }
    }
    memcpy((char *)spans->hi + first * bytes, (const char *)spans->lo + first * bytes,
           (size_t)n * bytes);
    memset(spans->holds + first, 0xff, (size_t)n * sizeof *spans->holds);
}

static void *lo_of(const pass *p, uint32_t v)
{
    return (char *)p->spans->lo + (size_t)v * p->span_bytes;
}

static void *hi_of(const pass *p, uint32_t v)
{
    return (char *)p->spans->hi + (size_t)v * p->span_bytes;
}

static bool broken(const pass *p, uint32_t root, uint32_t level)
{
    return p->spans->holds[root] < level;
}

/* Updates the root's omega level for its range at this level.  A component of level 0 stays whole
 * in any case, so its omega level is 0 if its own range is too wide: a pixel that it takes in at
 * any higher level must find it broken. */
static void check_width(const pass *p, uint32_t root, uint32_t level)
{
    if (!broken(p, root, level) && qfz_too_wide(p->rule, lo_of(p, root), hi_of(p, root)))
        p->spans->holds[root] = level > 0 ? level - 1 : 0;
}

static qfz_status add_range(const pass *p, uint32_t root, uint32_t level)
{
    qfz_ranges *const out = p->out->ranges;
    if (!p->rule->omega) return QFZ_OK; /* there is no limit */
    if (p->out->n_full > 0 && out->n == p->out->n_full)
        QFZ_TRY(p->out->full(p->out->full_arg, out, p->err));
    QFZ_TRY(qfz_ranges_reserve(out, out->n + 1, p->rule, p->err));
    out->at[out->n] = p->mark[root];
    out->level[out->n] = level;
    qfz_copy_span((char *)out->lo + (size_t)out->n * p->span_bytes, lo_of(p, root), p->span_bytes);
    qfz_copy_span((char *)out->hi + (size_t)out->n * p->span_bytes, hi_of(p, root), p->span_bytes);
    out->n++;
    return QFZ_OK;
}

static void add_link(const pass *p, uint32_t a, uint32_t b, uint32_t level)
{
    qfz_links *const out = p->out->links;
    out->u[out->n] = p->mark[a];
    out->v[out->n] = p->mark[b];
    out->level[out->n++] = level;
}

/* The root's component takes in values lo..hi of pixels that are no vertices of the graph. */
static qfz_status take_in(const pass *p, uint32_t root, uint32_t level, const void *lo,
                          const void *hi)
{
    if (broken(p, root, level)) return QFZ_OK;
    const bool grew = qfz_widen(p->rule, lo_of(p, root), hi_of(p, root), lo, hi);
    if (grew && p->mark && p->mark[root] != QFZ_NONE) QFZ_TRY(add_range(p, root, level));
    check_width(p, root, level);
    return QFZ_OK;
}

/* True if the range of b is not inside the range of a.  Extends a's range: a is no root any more,
 * and its range is not used. */
static bool widens(const pass *p, uint32_t a, uint32_t b)
{
    return qfz_widen(p->rule, lo_of(p, a), hi_of(p, a), lo_of(p, b), hi_of(p, b));
}

/* Joins two components; the result is within omega as long as both are. */
static qfz_status join(const pass *p, uint32_t a, uint32_t b, uint32_t level)
{
    uint32_t *const holds = p->spans->holds;
    const bool broken_a = broken(p, a, level), broken_b = broken(p, b, level);
    const uint32_t mark_a = p->mark ? p->mark[a] : QFZ_NONE,
                   mark_b = p->mark ? p->mark[b] : QFZ_NONE;
    const bool both = mark_a != QFZ_NONE && mark_b != QFZ_NONE;
    if (both && !(broken_a && broken_b)) add_link(p, a, b, level);

    const uint32_t root = qfz_forest_hook(p->forest, a, b, level), other = root == a ? b : a;
    const bool root_grew =
        qfz_widen(p->rule, lo_of(p, root), hi_of(p, root), lo_of(p, other), hi_of(p, other));
    if (p->mark && (mark_a != QFZ_NONE) != (mark_b != QFZ_NONE)) {
        const bool marked_broken = mark_a != QFZ_NONE ? broken_a : broken_b;
        const bool marked_grew = p->mark[root] != QFZ_NONE ? root_grew : widens(p, other, root);
        p->mark[root] = mark_a != QFZ_NONE ? mark_a : mark_b;
        if (!marked_broken && marked_grew) QFZ_TRY(add_range(p, root, level));
    }

    if (holds[root] >= level) {
        const uint32_t at_least = level > 0 ? level - 1 : 0;
        const uint32_t others = holds[other] > at_least ? holds[other] : at_least;
        if (others < holds[root]) holds[root] = others;
    }
    check_width(p, root, level);
    return QFZ_OK;
}

static qfz_status apply_event(const pass *p, const qfz_ranges *in, int64_t i)
{
    return take_in(p, qfz_forest_root(p->forest, in->at[i]), in->level[i],
                   (const char *)in->lo + (size_t)i * p->span_bytes,
                   (const char *)in->hi + (size_t)i * p->span_bytes);
}

/* The range events that have been read and not yet used. */
typedef struct events {
    qfz_ranges in;
    int64_t next;
    bool is_last; /* none come after them */
} events;

static qfz_status read_more(const pass *p, const qfz_omega_input *input, events *e)
{
    e->next = 0;
    QFZ_TRY(input->more(input->more_arg, &e->in, p->err));
    e->is_last = e->in.n == 0;
    return QFZ_OK;
}

/* Applies all events up to a level. */
static qfz_status apply_events(const pass *p, const qfz_omega_input *input, events *e,
                               uint32_t level)
{
    for (;;) {
        if (e->next == e->in.n) {
            if (e->is_last) return QFZ_OK;
            QFZ_TRY(read_more(p, input, e));
            continue;
        }
        if (e->in.level[e->next] > level) return QFZ_OK;
        QFZ_TRY(apply_event(p, &e->in, e->next++));
    }
}

static qfz_status run(const pass *p, const qfz_omega_input *input)
{
    const qfz_graph *const graph = input->graph;
    events e = {.is_last = !input->more};
    if (input->ranges) e.in = *input->ranges;
    for (int64_t i = 0; i < graph->n_edges; i++) {
        const uint32_t level = graph->level[i], link = graph->id[i];
        QFZ_TRY(apply_events(p, input, &e, level));
        const uint32_t a = qfz_forest_root(p->forest, graph->u[link]);
        const uint32_t b = qfz_forest_root(p->forest, graph->v[link]);
        if (a != b) QFZ_TRY(join(p, a, b, level));
    }
    return apply_events(p, input, &e, p->rule->alpha_level);
}

qfz_status qfz_omega_join(qfz_forest *forest, qfz_spans *spans, const qfz_rule *rule,
                          const qfz_omega_input *input, const qfz_omega_summary *summary,
                          qfz_error *err)
{
    const pass p = {.forest = forest,
                    .spans = spans,
                    .rule = rule,
                    .span_bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands,
                    .out = summary,
                    .mark = summary ? summary->mark : NULL,
                    .err = err};
    return run(&p, input);
}

/* The climb continues along a hook of level l if the component that all hooks of level l form is
 * within omega at l. */
uint32_t qfz_omega_top(const qfz_forest *forest, const qfz_spans *spans, uint32_t v,
                       uint32_t *holds)
{
    for (;;) {
        *holds = spans->holds[v];
        if (forest->up[v] == v || *holds < forest->level[v]) return v;
        const uint32_t level = forest->level[v];
        uint32_t top = v;
        while (forest->up[top] != top && forest->level[top] == level)
            top = forest->up[top];
        if (spans->holds[top] < level) {
            *holds = level - 1;
            return v;
        }
        v = top;
    }
}
