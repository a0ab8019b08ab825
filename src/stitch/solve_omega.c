/* SPDX-License-Identifier: MIT */
/* solve_omega.c - (alpha, omega)-components across a group: up, links and range events of the
 * pixels of its ring; down, the region and the omega level of each pixel on the members' rings. The
 * links are joined part by part (parts.h), and each part reads the members' range events and passes
 * over those of other parts; the vertices are resolved piece by piece. */
#include <stdlib.h>
#include <string.h>

#include "cpu/omega.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "stitch/parts.h"
#include "stitch/range_merge.h"
#include "stitch/solve.h"
#include "stitch/sound.h"
#include "stitch/thin.h"

/* The links and range events that one part adds to the summary; the first events are in the spool.
 */
typedef struct additions {
    qfz_links links;
    qfz_ranges ranges;
    qfz_event_spool spool;
} additions;

typedef struct work {
    const qfz_group *group;
    uint32_t
        *ring_vertex; /* vertex of each pixel of the group's ring; NULL: the group is the raster */
    int64_t n_ring;
    qfz_parts parts;
    qfz_forest forest;
    qfz_spans spans;

    /* On the way up. */
    uint32_t *mark;       /* of each vertex; NULL on the way down */
    additions *additions; /* of each part */

    /* On the way down. */
    qfz_group_regions found;
    uint32_t *top;    /* of each vertex: the vertex that represents its region; QFZ_NONE: invalid */
    uint32_t *number; /* of a representing vertex: number of the region */
    int64_t *n_new;   /* of each piece: representing vertices of regions inside the group */
} work;

static void work_fini(work *w)
{
    for (int p = 0; w->additions && p < w->parts.n; p++) {
        qfz_links_fini(&w->additions[p].links);
        qfz_ranges_fini(&w->additions[p].ranges);
        qfz_event_spool_close(&w->additions[p].spool);
    }
    free(w->additions);
    free(w->ring_vertex);
    free(w->mark);
    free(w->found.border_region); /* one block with the arrays that follow */
    free(w->top);
    free(w->number);
    free(w->n_new);
    qfz_parts_fini(&w->parts);
    qfz_forest_fini(&w->forest);
    qfz_spans_fini(&w->spans);
}

/* ---------------------------------------------------------------------------------------- joining
 */
/* Each vertex starts as a component with the value of its pixel. */
static qfz_status start_member(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    work *const w = arg;
    const qfz_group *const group = w->group;
    const qfz_summary *const s = &group->members[item];
    const uint32_t first = group->offset[item];
    const qfz_image values = {.h = 1,
                              .w = s->n_ring,
                              .n_bands = group->rule->n_bands,
                              .type = group->rule->type,
                              .pixels = s->values};
    qfz_spans_start(&w->spans, first, &values);
    qfz_forest_reset_some(&w->forest, first, group->offset[item + 1]);
    if (w->mark) memset(w->mark + first, 0xff, (size_t)s->n_ring * sizeof *w->mark);
    return QFZ_OK;
}

static qfz_status start_join(work *w, bool up, qfz_error *err)
{
    const qfz_group *const group = w->group;
    const int64_t n = qfz_group_n(group);
    QFZ_TRY(qfz_forest_init(&w->forest, n, err));
    QFZ_TRY(qfz_spans_init(&w->spans, n, group->rule, err));
    if (up) QFZ_TRY(QFZ_NEW(&w->mark, n, err));
    QFZ_TRY(qfz_parts_init(&w->parts, group, err));
    w->forest.n = (uint32_t)n;
    return qfz_parallel_within(group->n_threads, group->n_members, start_member, w, err);
}

static qfz_status join_sorted(work *w, int p, const qfz_graph *graph, qfz_range_merge *events,
                              qfz_error *err)
{
    const qfz_omega_input input = {
        .graph = graph, .more = qfz_range_merge_more, .more_arg = events};
    if (!w->mark) return qfz_omega_join(&w->forest, &w->spans, w->group->rule, &input, NULL, err);
    additions *const to = &w->additions[p];
    const qfz_omega_summary summary_out = {.mark = w->mark,
                                           .links = &to->links,
                                           .ranges = &to->ranges,
                                           .n_full = to->spool.block,
                                           .full = qfz_event_spool_ranges,
                                           .full_arg = &to->spool};
    QFZ_TRY(qfz_links_reserve(&to->links, graph->n_edges, err));
    return qfz_omega_join(&w->forest, &w->spans, w->group->rule, &input, &summary_out, err);
}

static qfz_status sort_links(const work *w, int p, qfz_graph *graph, qfz_error *err)
{
    const qfz_links links = qfz_part_links(&w->parts, p);
    QFZ_TRY(qfz_graph_init(graph, links.n, err));
    qfz_graph_set_links(graph, qfz_group_n(w->group), links.u, links.v, links.level);
    qfz_graph_add_links(graph, 0, links.n, w->group->rule->alpha_level);
    qfz_graph_sort(graph);
    return QFZ_OK;
}

static qfz_status join_part(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    work *const w = arg;
    const qfz_group *const group = w->group;
    qfz_graph graph = {0};
    qfz_range_merge events = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, sort_links(w, (int)item, &graph, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_range_merge_open(&events, group->rule, group->events, group->offset,
                                    group->n_members, err));
    qfz_range_merge_restrict(&events, w->parts.part, (int)item);
    st = join_sorted(w, (int)item, &graph, &events, err);

cleanup:
    qfz_graph_fini(&graph);
    qfz_range_merge_close(&events);
    return st;
}

static qfz_status join_parts(work *w, qfz_error *err)
{
    return qfz_parallel_within(w->group->n_threads, w->parts.n, join_part, w, err);
}

/* --------------------------------------------------------------------------------------------- up
 */
static void append_links(qfz_links *to, const qfz_links *from)
{
    const size_t n = (size_t)from->n;
    if (n == 0) return;
    memcpy(to->u + to->n, from->u, n * sizeof *to->u);
    memcpy(to->v + to->n, from->v, n * sizeof *to->v);
    memcpy(to->level + to->n, from->level, n * sizeof *to->level);
    to->n += from->n;
}

static qfz_status gather_links(const work *w, qfz_summary *summary, qfz_error *err)
{
    int64_t n = 0;
    for (int p = 0; p < w->parts.n; p++)
        n += w->additions[p].links.n;
    QFZ_TRY(qfz_links_reserve(&summary->links, n, err));
    for (int p = 0; p < w->parts.n; p++)
        append_links(&summary->links, &w->additions[p].links);
    return QFZ_OK;
}

static qfz_event_list list_of(const work *w, const additions *from)
{
    return (qfz_event_list){.value_bytes = from->spool.value_bytes,
                            .n = from->spool.n + from->ranges.n,
                            .block = from->spool.block,
                            .n_ring = w->n_ring,
                            .box = w->group->ring.box,
                            .spool = &from->spool,
                            .rest = qfz_events_of_ranges(&from->ranges)};
}

/* The parts' events, as one list in order: whole blocks in the group's spool, the rest in the
 * summary. */
static qfz_status merge_ranges(const work *w, const qfz_event_list *lists, qfz_summary *summary,
                               qfz_error *err)
{
    qfz_range_merge all;
    qfz_ranges next = {0};
    QFZ_TRY(qfz_range_merge_open(&all, w->group->rule, lists, NULL, w->parts.n, err));
    qfz_status st = qfz_range_merge_more(&all, &next, err);
    while (st == QFZ_OK && next.n == all.block) {
        st = qfz_event_spool_ranges(w->group->spool, &next, err);
        if (st == QFZ_OK) st = qfz_range_merge_more(&all, &next, err);
    }
    summary->ranges = all.out;
    all.out = (qfz_ranges){0};
    qfz_range_merge_close(&all);
    return st;
}

static qfz_status gather_ranges(const work *w, qfz_summary *summary, qfz_error *err)
{
    qfz_event_list *lists = NULL;
    if (w->parts.n == 1) {
        additions *const only = &w->additions[0];
        *w->group->spool = only->spool;
        summary->ranges = only->ranges;
        only->spool.file = -1;
        only->ranges = (qfz_ranges){0};
        return QFZ_OK;
    }
    QFZ_TRY(QFZ_NEW(&lists, w->parts.n, err));
    for (int p = 0; p < w->parts.n; p++)
        lists[p] = list_of(w, &w->additions[p]);
    const qfz_status st = merge_ranges(w, lists, summary, err);
    free(lists);
    return st;
}

static qfz_status join_told(work *w, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(start_join(w, true, err));
    QFZ_TRY(QFZ_NEW_ZERO(&w->additions, w->parts.n, err));
    for (int p = 0; p < w->parts.n; p++)
        w->additions[p].spool = *w->group->spool; /* no file yet */
    for (int64_t i = 0; i < w->n_ring; i++)
        w->mark[w->ring_vertex[i]] = (uint32_t)i;
    QFZ_TRY(join_parts(w, err));
    QFZ_TRY(gather_links(w, summary, err));
    return gather_ranges(w, summary, err);
}

/* A device reports all range events, the host only new ones; where the difference may matter, the
 * device's events are thinned. */
static qfz_status summarise_on_device(const qfz_group *group, const qfz_group_graph *graph,
                                      qfz_summary *summary, qfz_error *err)
{
    qfz_ranges thinned = {0};
    QFZ_TRY(group->engine->groups->summarise(group->worker, graph, summary, err));
    if (summary->ranges.n <= summary->n_ring / 2) return QFZ_OK;
    QFZ_TRY(qfz_thin_ranges(summary, group->rule, &thinned, err));
    qfz_ranges_fini(&summary->ranges);
    summary->ranges = thinned;
    return QFZ_OK;
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {.group = group};
    qfz_group_graph graph;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_ring(group, &w.ring_vertex, &w.n_ring, err));
    st = qfz_group_on_device(group, w.ring_vertex, w.n_ring, NULL, &graph)
             ? summarise_on_device(group, &graph, summary, err)
             : join_told(&w, summary, err);

cleanup:
    work_fini(&w);
    return st;
}

/* ------------------------------------------------------------------------------------------- down
 *
 * The vertices are visited in pieces, each of one member. */
typedef struct piece {
    int member;
    uint32_t first, end; /* vertices */
} piece;

static piece piece_of(const qfz_group *group, int64_t item)
{
    const int n_pieces = qfz_group_pieces(group), m = (int)(item / n_pieces);
    const int64_t i = item % n_pieces, n = group->members[m].n_ring;
    return (piece){.member = m,
                   .first = group->offset[m] + (uint32_t)(n * i / n_pieces),
                   .end = group->offset[m] + (uint32_t)(n * (i + 1) / n_pieces)};
}

static int64_t n_pieces_of(const qfz_group *group)
{
    return group->n_members * (int64_t)qfz_group_pieces(group);
}

static qfz_status each_piece(work *w, qfz_item_fn fn, qfz_error *err)
{
    return qfz_parallel_within(w->group->n_threads, n_pieces_of(w->group), fn, w, err);
}

static qfz_status find_tops(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    work *const w = arg;
    const piece it = piece_of(w->group, item);
    const uint8_t *const valid = w->group->members[it.member].valid;
    uint32_t *const holds = w->found.omega_level;
    for (uint32_t v = it.first; v < it.end; v++) {
        const bool is_valid = valid[v - w->group->offset[it.member]];
        holds[v] = UINT32_MAX;
        w->number[v] = QFZ_NONE;
        w->top[v] = is_valid ? qfz_omega_top(&w->forest, &w->spans, v, &holds[v]) : QFZ_NONE;
    }
    return QFZ_OK;
}

static bool is_new(const work *w, uint32_t v)
{
    return w->top[v] == v && w->number[v] == QFZ_NONE;
}

static qfz_status count_new(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    work *const w = arg;
    const piece it = piece_of(w->group, item);
    int64_t n = 0;
    for (uint32_t v = it.first; v < it.end; v++)
        n += is_new(w, v);
    w->n_new[item] = n;
    return QFZ_OK;
}

static qfz_status number_new(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    work *const w = arg;
    const piece it = piece_of(w->group, item);
    uint32_t next = (uint32_t)w->n_new[item];
    for (uint32_t v = it.first; v < it.end; v++)
        if (is_new(w, v)) w->number[v] = next++;
    return QFZ_OK;
}

/* The border regions of the group are the first regions; all other regions lie inside the group. */
static qfz_status number_regions(work *w, const qfz_exterior *own, qfz_error *err)
{
    const int64_t n = qfz_group_n(w->group);
    const int64_t n_pieces = n_pieces_of(w->group);
    QFZ_TRY(QFZ_NEW(&w->top, n, err));
    QFZ_TRY(QFZ_NEW(&w->number, n, err));
    QFZ_TRY(QFZ_NEW(&w->n_new, n_pieces, err));
    QFZ_TRY(each_piece(w, find_tops, err));
    for (int64_t i = 0; i < own->n_ring; i++) {
        const uint32_t top = w->top[w->ring_vertex[i]];
        if (own->border_region[i] == QFZ_NONE) continue;
        if (top == QFZ_NONE) return qfz_unsound(w->group->ring.box, "exterior", err);
        w->number[top] = own->border_region[i];
    }
    QFZ_TRY(each_piece(w, count_new, err));
    w->found.n_regions = own->n_border_regions;
    for (int64_t i = 0; i < n_pieces; i++) {
        const uint32_t some = (uint32_t)w->n_new[i];
        w->n_new[i] = w->found.n_regions;
        w->found.n_regions += some;
    }
    return each_piece(w, number_new, err);
}

/* Numbers the border regions of one member by first appearance on its ring.  Summaries that
 * contradict each other leave tops without a region. */
static qfz_status number_border_regions(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    work *const w = arg;
    qfz_status st = QFZ_OK;
    const uint32_t first = w->group->offset[item], end = w->group->offset[item + 1];
    uint32_t *const n_border_regions = &w->found.n_border_regions[item];
    uint32_t *border_of = NULL;
    QFZ_TRY(QFZ_NEW(&border_of, w->found.n_regions, err));
    memset(border_of, 0xff, w->found.n_regions * sizeof *border_of);
    for (uint32_t v = first; v < end; v++) {
        const uint32_t top = w->top[v];
        w->found.border_region[v] = QFZ_NONE;
        if (top == QFZ_NONE) continue;
        const uint32_t region = w->number[top];
        if (region >= w->found.n_regions)
            QFZ_TRY_OR(st, cleanup, qfz_unsound(w->group->ring.box, "summary", err));
        if (border_of[region] == QFZ_NONE) {
            w->found.region[first + *n_border_regions] = region;
            border_of[region] = (*n_border_regions)++;
        }
        w->found.border_region[v] = border_of[region];
    }

cleanup:
    free(border_of);
    return st;
}

static qfz_status find_regions(work *w, const qfz_exterior *own, qfz_error *err)
{
    const qfz_group *const group = w->group;
    QFZ_TRY(start_join(w, false, err));
    for (int64_t i = 0; i < own->n_ring; i++)
        w->spans.holds[w->ring_vertex[i]] = own->omega_level[i];
    QFZ_TRY(join_parts(w, err));
    QFZ_TRY(number_regions(w, own, err));
    return qfz_parallel_within(group->n_threads, group->n_members, number_border_regions, w, err);
}

static qfz_status find_or_ask(work *w, const qfz_exterior *own, qfz_error *err)
{
    const qfz_group *const group = w->group;
    const int64_t n = qfz_group_n(group);
    qfz_group_graph graph;
    QFZ_TRY(QFZ_NEW_LARGE(&w->found.border_region, 3 * n, err));
    w->found.omega_level = w->found.border_region + n;
    w->found.region = w->found.border_region + 2 * n;
    return qfz_group_on_device(group, w->ring_vertex, own->n_ring, NULL, &graph)
               ? group->engine->groups->regions(group->worker, &graph, own, &w->found, err)
               : find_regions(w, own, err);
}

/* The exteriors are views of the arrays of w->found; the first one owns them. */
static void set_member_exteriors(work *w, qfz_exterior *members)
{
    const qfz_group *const group = w->group;
    for (int m = 0; m < group->n_members; m++)
        members[m] = (qfz_exterior){.n_ring = group->members[m].n_ring,
                                    .n_border_regions = w->found.n_border_regions[m],
                                    .border_region = w->found.border_region + group->offset[m],
                                    .omega_level = w->found.omega_level + group->offset[m],
                                    .is_view = true};
    members[0].packed = w->found.border_region;
    w->found.border_region = NULL;
}

static qfz_status write_map(const work *w, uint32_t n_own, qfz_map *map, qfz_error *err)
{
    const int n_members = w->group->n_members;
    const uint32_t *const n_border_regions = w->found.n_border_regions;
    int64_t n = n_own;
    for (int m = 0; m < n_members; m++)
        n += n_border_regions[m];
    QFZ_TRY(qfz_map_start(map, w->found.n_regions, n_members, n, err));
    uint32_t *const own = qfz_map_list(map, n_own);
    for (uint32_t s = 0; s < n_own; s++)
        own[s] = s;
    for (int m = 0; m < n_members; m++)
        memcpy(qfz_map_list(map, n_border_regions[m]), w->found.region + w->group->offset[m],
               n_border_regions[m] * sizeof *own);
    return QFZ_OK;
}

static qfz_status down(const qfz_group *group, const qfz_exterior *own, qfz_exterior *members,
                       qfz_map *map, qfz_error *err)
{
    work w = {.group = group};
    qfz_status st;
    if (own->n_ring > 0)
        QFZ_TRY_OR(st, cleanup, qfz_group_ring(group, &w.ring_vertex, &w.n_ring, err));
    QFZ_TRY_OR(st, cleanup, find_or_ask(&w, own, err));
    QFZ_TRY_OR(st, cleanup, write_map(&w, own->n_border_regions, map, err));
    set_member_exteriors(&w, members);

cleanup:
    work_fini(&w);
    return st;
}

const qfz_solver qfz_solve_omega = {.up = up, .down = down};
