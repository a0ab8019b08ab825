/* SPDX-License-Identifier: MIT */
/* solve_omega.c - (alpha, omega)-components across a group: up, the events that its ring's pixels
 * see; down, for each pixel on the members' rings its region and how long it holds. */
#include <stdlib.h>
#include <string.h>

#include "cpu/omega.h"
#include "memory.h"
#include "stitch/solve.h"

typedef struct work {
    uint32_t *ring_vertex;
    int64_t n_ring;
    qfz_links links;
    qfz_absorbs absorbs;
    qfz_graph graph;
    qfz_forest forest;
    qfz_spans spans;
    uint32_t *per_vertex; /* marks on the way up; down: what is known, then regions */
} work;

static void work_fini(work *w)
{
    free(w->ring_vertex);
    free(w->per_vertex);
    qfz_links_fini(&w->links);
    qfz_absorbs_fini(&w->absorbs);
    qfz_graph_fini(&w->graph);
    qfz_forest_fini(&w->forest);
    qfz_spans_fini(&w->spans);
}

static void append_absorb(qfz_absorbs *to, const qfz_absorbs *from, int64_t i, uint32_t offset,
                          size_t span_bytes)
{
    to->at[to->n] = from->at[i] + offset;
    to->level[to->n] = from->level[i];
    memcpy((char *)to->lo + (size_t)to->n * span_bytes,
           (const char *)from->lo + (size_t)i * span_bytes, span_bytes);
    memcpy((char *)to->hi + (size_t)to->n * span_bytes,
           (const char *)from->hi + (size_t)i * span_bytes, span_bytes);
    to->n++;
}

/* The members' lists are sorted; four of them are merged by looking at their heads. */
static qfz_status merge_absorbs(const qfz_group *group, qfz_absorbs *to, qfz_error *err)
{
    const size_t span_bytes = qfz_type_bytes(group->rule->type) * (size_t)group->rule->n_bands;
    int64_t head[QFZ_MAX_CHILDREN] = {0}, n = 0;
    for (int m = 0; m < group->n_members; m++)
        n += group->members[m].absorbs.n;
    QFZ_TRY(qfz_absorbs_reserve(to, n, group->rule, err));
    while (to->n < n) {
        int best = -1;
        for (int m = 0; m < group->n_members; m++) {
            const qfz_absorbs *const a = &group->members[m].absorbs;
            if (head[m] == a->n) continue;
            if (best < 0 || a->level[head[m]] < group->members[best].absorbs.level[head[best]])
                best = m;
        }
        append_absorb(to, &group->members[best].absorbs, head[best]++, group->offset[best],
                      span_bytes);
    }
    return QFZ_OK;
}

/* Each vertex has its pixel's value. */
static void start_spans(work *w, const qfz_group *group)
{
    for (int m = 0; m < group->n_members; m++) {
        const qfz_summary *const s = &group->members[m];
        const qfz_image values = {.h = 1,
                                  .w = s->n_ring,
                                  .n_bands = group->rule->n_bands,
                                  .type = group->rule->type,
                                  .pixels = s->values};
        qfz_spans_start(&w->spans, group->offset[m], &values);
    }
}

static qfz_status work_init(work *w, const qfz_group *group, qfz_error *err)
{
    const int64_t n = qfz_group_n(group);
    QFZ_TRY(qfz_group_ring(group, &w->ring_vertex, &w->n_ring, err));
    QFZ_TRY(qfz_group_links(group, NULL, w->ring_vertex, &w->links, err));
    QFZ_TRY(merge_absorbs(group, &w->absorbs, err));
    QFZ_TRY(qfz_graph_init(&w->graph, w->links.n, err));
    QFZ_TRY(qfz_forest_init(&w->forest, n, err));
    QFZ_TRY(qfz_spans_init(&w->spans, n, group->rule, err));
    QFZ_TRY(QFZ_NEW(&w->per_vertex, n, err));
    memset(w->per_vertex, 0xff, (size_t)n * sizeof *w->per_vertex);
    qfz_graph_set_links(&w->graph, (uint32_t)n, w->links.u, w->links.v, w->links.level);
    qfz_graph_add_links(&w->graph, 0, w->links.n, group->rule->alpha_key);
    qfz_graph_sort(&w->graph);
    qfz_forest_reset(&w->forest, (uint32_t)n);
    start_spans(w, group);
    return QFZ_OK;
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, qfz_links_reserve(&summary->links, w.n_ring, err));
    for (int64_t i = 0; i < w.n_ring; i++)
        w.per_vertex[w.ring_vertex[i]] = (uint32_t)i;
    const qfz_omega_input input = {.graph = &w.graph, .absorbs = &w.absorbs};
    const qfz_omega_told told = {
        .mark = w.per_vertex, .links = &summary->links, .absorbs = &summary->absorbs};
    QFZ_TRY_OR(st, cleanup, qfz_omega_join(&w.forest, &w.spans, group->rule, &input, &told, err));

cleanup:
    work_fini(&w);
    return st;
}

/* per_vertex[v] = number of v's region, QFZ_NONE where invalid.  The group's own slots are the
 * first regions; all others lie inside the group. */
static uint32_t number_regions(const qfz_group *group, const qfz_answer *own, work *w)
{
    uint32_t *const at_top = w->forest.find; /* shortcuts are of no more use */
    const uint32_t n = w->graph.n;
    uint32_t n_regions = own->n_slots, holds;
    memset(at_top, 0xff, n * sizeof *at_top);
    for (int64_t i = 0; i < own->n_ring; i++)
        if (own->slot[i] != QFZ_NONE)
            at_top[qfz_omega_top(&w->forest, &w->spans, w->ring_vertex[i], &holds)] = own->slot[i];
    for (uint32_t v = 0; v < n; v++) {
        w->per_vertex[v] = QFZ_NONE;
        const int m = qfz_group_member(group, v);
        if (!group->members[m].valid[v - group->offset[m]]) continue;
        const uint32_t top = qfz_omega_top(&w->forest, &w->spans, v, &holds);
        if (at_top[top] == QFZ_NONE) at_top[top] = n_regions++;
        w->per_vertex[v] = at_top[top];
    }
    return n_regions;
}

/* Slots of one member, by first appearance on its ring; list[slot] = region. */
static qfz_status answer_member(const qfz_group *group, int m, const work *w, uint32_t *slot_of,
                                qfz_answer *answer, uint32_t *list, qfz_error *err)
{
    const int64_t n = group->members[m].n_ring;
    answer->n_ring = n;
    answer->n_slots = 0;
    QFZ_TRY(QFZ_NEW(&answer->slot, n, err));
    QFZ_TRY(QFZ_NEW(&answer->holds_to, n, err));
    for (int64_t i = 0; i < n; i++) {
        const uint32_t v = group->offset[m] + (uint32_t)i, region = w->per_vertex[v];
        answer->slot[i] = QFZ_NONE;
        answer->holds_to[i] = UINT32_MAX;
        if (region == QFZ_NONE) continue;
        (void)qfz_omega_top(&w->forest, &w->spans, v, &answer->holds_to[i]);
        if (slot_of[region] == QFZ_NONE) {
            list[answer->n_slots] = region;
            slot_of[region] = answer->n_slots++;
        }
        answer->slot[i] = slot_of[region];
    }
    for (uint32_t s = 0; s < answer->n_slots; s++)
        slot_of[list[s]] = QFZ_NONE;
    return QFZ_OK;
}

static qfz_status answer_members(const qfz_group *group, const qfz_answer *own, const work *w,
                                 uint32_t n_regions, qfz_answer *members, qfz_map *map,
                                 qfz_error *err)
{
    uint32_t *slot_of = NULL, *list = NULL, *to;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&slot_of, n_regions, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&list, n_regions, err));
    memset(slot_of, 0xff, n_regions * sizeof *slot_of);
    QFZ_TRY_OR(st, cleanup, qfz_map_start(map, n_regions, err));
    QFZ_TRY_OR(st, cleanup, qfz_map_list(map, own->n_slots, &to, err));
    for (uint32_t s = 0; s < own->n_slots; s++)
        to[s] = s;
    for (int m = 0; m < group->n_members; m++) {
        QFZ_TRY_OR(st, cleanup, answer_member(group, m, w, slot_of, &members[m], list, err));
        QFZ_TRY_OR(st, cleanup, qfz_map_list(map, members[m].n_slots, &to, err));
        memcpy(to, list, members[m].n_slots * sizeof *to);
    }

cleanup:
    free(slot_of);
    free(list);
    return st;
}

static qfz_status down(const qfz_group *group, const qfz_answer *own, qfz_answer *members,
                       qfz_map *map, qfz_error *err)
{
    work w = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, err));
    for (int64_t i = 0; i < own->n_ring; i++)
        w.spans.holds[w.ring_vertex[i]] = own->holds_to[i];
    const qfz_omega_input input = {.graph = &w.graph, .absorbs = &w.absorbs};
    QFZ_TRY_OR(st, cleanup, qfz_omega_join(&w.forest, &w.spans, group->rule, &input, NULL, err));
    const uint32_t n_regions = number_regions(group, own, &w);
    QFZ_TRY_OR(st, cleanup, answer_members(group, own, &w, n_regions, members, map, err));

cleanup:
    work_fini(&w);
    return st;
}

const qfz_solver qfz_solve_omega = {.up = up, .down = down};
