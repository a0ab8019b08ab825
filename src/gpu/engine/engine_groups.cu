/* SPDX-License-Identifier: MIT */
/* engine_groups.cu - stitches groups of tiles (core/engine.h) in the memory of an idle worker. */
#include "gpu/groups/group.cuh"
#include "gpu/engine/worker.cuh"

/* ---- Layout ---------------------------------------------------------------------------------- */

static void append_list(qfz_gpu_lists *lists, int64_t n, uint32_t offset, bool is_outside)
{
    const int i = lists->n++;
    lists->first[i + 1] = lists->first[i] + (uint32_t)n;
    lists->offset[i] = offset;
    lists->is_outside[i] = is_outside;
}

static qfz_gpu_group group_of(const qfz_worker *worker, const qfz_group_graph *graph)
{
    qfz_gpu_group group = {};
    group.kind = worker->spec.kind;
    group.n = graph->offset[graph->n_members];
    group.n_ring = graph->n_ring;
    group.room.forest.wide = qfz_largest_edges(&worker->spec).form >= QFZ_EDGES_WIDE;
    for (int m = 0; m < graph->n_members; m++) {
        const qfz_summary *const s = &graph->members[m];
        append_list(&group.links, s->links.n, graph->offset[m], false);
        append_list(&group.events, s->ranges.n, graph->offset[m], false);
        append_list(&group.members, s->n_ring, graph->offset[m], false);
    }
    append_list(&group.links, graph->cross->n, 0, false);
    if (graph->outside) append_list(&group.links, graph->outside->n, 0, true);
    return group;
}

bool qfz_groups_fit(const qfz_worker *worker, const qfz_group_graph *graph)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n = graph->offset[graph->n_members];
    /* An edge may have the greatest level of all, QFZ_NONE, and be within alpha.  On the device
     * such an edge does not exist (omega.cu). */
    const bool has_greatest_level =
        spec->rule->alpha_level == QFZ_NONE && qfz_largest_edges(spec).max_level == QFZ_NONE;
    int64_t n_items = n + graph->cross->n + (graph->outside ? graph->outside->n : 0);
    qfz_carve needed = {NULL, 0};
    if (spec->kind != QFZ_OMEGA && spec->kind != QFZ_LEVELS) return false;
    if (spec->kind == QFZ_OMEGA && has_greatest_level) return false;
    for (int m = 0; m < graph->n_members; m++)
        n_items += graph->members[m].links.n + graph->members[m].ranges.n;
    if (n >> (31 - QFZ_UP_BITS) > 0 || n_items + n > INT32_MAX) return false;
    qfz_gpu_group group = group_of(worker, graph);
    qfz_gpu_group_carve(&group, spec->rule, &needed);
    return needed.used <= worker->d_bytes - worker->kept_bytes;
}

/* ---- Upload ---------------------------------------------------------------------------------- */

namespace
{
/* An upload of arrays that are adjacent on the device. */
typedef struct parcel {
    qfz_worker *worker;
    char *d_to;
    size_t sent;
} parcel;

qfz_status put(parcel *p, const void *from, size_t bytes)
{
    QFZ_TRY(qfz_worker_up(p->worker, p->d_to + p->sent, from, bytes));
    p->sent += bytes;
    return QFZ_OK;
}

/* Advances to the start of the next array. */
void align(parcel *p)
{
    qfz_carve at = {NULL, 0};
    (void)qfz_carve_bytes(&at, p->sent);
    p->sent = at.used;
}

struct piece {
    const void *from;
    size_t bytes;
};

/* Appends an array that consists of n pieces: piece_of(0), piece_of(1), ... */
template <typename PIECE> qfz_status put_pieces(parcel *p, int n, PIECE piece_of)
{
    for (int i = 0; i < n; i++) {
        const piece next = piece_of(i);
        QFZ_TRY(put(p, next.from, next.bytes));
    }
    align(p);
    return QFZ_OK;
}

/* Appends one array (u, v or level) of all links. */
qfz_status put_links(parcel *p, const qfz_group_graph *graph, uint32_t *qfz_links::*array)
{
    const int n = graph->n_members;
    return put_pieces(p, n + (graph->outside ? 2 : 1), [=](int i) {
        const qfz_links *const list = i < n    ? &graph->members[i].links
                                      : i == n ? graph->cross
                                               : graph->outside;
        return piece{list->*array, (size_t)list->n * sizeof(uint32_t)};
    });
}

/* Appends one array of the range events of all members; `bytes` is the size of an item. */
template <typename T>
qfz_status put_events(parcel *p, const qfz_group_graph *graph, T *qfz_ranges::*array, size_t bytes)
{
    return put_pieces(p, graph->n_members, [=](int m) {
        const qfz_ranges &events = graph->members[m].ranges;
        return piece{events.*array, (size_t)events.n * bytes};
    });
}

qfz_status put_omega(parcel *p, const qfz_group_graph *graph, const qfz_exterior *own)
{
    const qfz_rule *const rule = p->worker->spec.rule;
    const size_t bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands,
                 word = sizeof(uint32_t);
    const int n = graph->n_members;
    const qfz_summary *const members = graph->members;
    QFZ_TRY(put_pieces(p, n, [=](int m) {
        return piece{members[m].values, (size_t)members[m].n_ring * bytes};
    }));
    QFZ_TRY(put_pieces(p, n, [=](int m) {
        return piece{members[m].valid, (size_t)members[m].n_ring};
    }));
    QFZ_TRY(put_events(p, graph, &qfz_ranges::at, word));
    QFZ_TRY(put_events(p, graph, &qfz_ranges::level, word));
    QFZ_TRY(put_events(p, graph, &qfz_ranges::lo, bytes));
    QFZ_TRY(put_events(p, graph, &qfz_ranges::hi, bytes));
    if (!own) return QFZ_OK;
    QFZ_TRY(put(p, own->border_region, (size_t)own->n_ring * word));
    align(p);
    return put(p, own->omega_level, (size_t)own->n_ring * word);
}

/* Uploads a group and builds its forest.  own: the exterior of the group, for exteriors of members
 * of kind QFZ_OMEGA; else NULL. */
qfz_status load(qfz_worker *worker, const qfz_group_graph *graph, const qfz_exterior *own,
                qfz_gpu_group *group, qfz_error *err)
{
    const qfz_rule *const rule = worker->spec.rule;
    char *const d_memory = worker->d_memory + worker->kept_bytes;
    qfz_carve carve = {d_memory, 0};
    parcel p = {worker, d_memory, 0};
    QFZ_TRY(qfz_worker_enter(worker, err));
    *group = group_of(worker, graph);
    qfz_gpu_group_carve(group, rule, &carve);
    QFZ_TRY(put_links(&p, graph, &qfz_links::u));
    QFZ_TRY(put_links(&p, graph, &qfz_links::v));
    QFZ_TRY(put_links(&p, graph, &qfz_links::level));
    QFZ_TRY(put(&p, graph->ring, (size_t)graph->n_ring * sizeof *graph->ring));
    align(&p);
    if (group->kind == QFZ_OMEGA) QFZ_TRY(put_omega(&p, graph, own));
    return qfz_gpu_group_join(&worker->gpu, group);
}

/* ---- Summaries and exteriors ----------------------------------------------------------------- */

qfz_status find_links(qfz_worker *worker, qfz_gpu_group *group, qfz_links *links)
{
    uint32_t n;
    QFZ_TRY(qfz_gpu_border_links(&worker->gpu, &group->room.forest, group->d_border, &group->found,
                                 group->d_n_found));
    QFZ_TRY(qfz_worker_down(worker, &n, group->d_n_found, sizeof n));
    return qfz_worker_down_links(worker, &group->found, n, links);
}

qfz_status summarise_omega(qfz_worker *worker, qfz_gpu_group *group, qfz_summary *summary)
{
    const qfz_rule *const rule = worker->spec.rule;
    qfz_omega_room *const room = &group->room;
    qfz_gpu_ranges ranges;
    uint32_t n[2];
    QFZ_TRY(qfz_gpu_group_break(&worker->gpu, rule, false, group));
    QFZ_TRY(qfz_omega_summary_links(&worker->gpu, rule, NULL, room));
    QFZ_TRY(qfz_worker_down(worker, n, room->events.counts, sizeof n));
    QFZ_TRY(qfz_worker_down_links(worker, &room->links, n[0], &summary->links));
    QFZ_TRY(qfz_omega_summary_ranges(&worker->gpu, rule, n[1], room, &ranges));
    return qfz_worker_down_ranges(worker, &ranges, n[1], &summary->ranges);
}
} // namespace

qfz_status qfz_groups_summarise(qfz_worker *worker, const qfz_group_graph *graph,
                                qfz_summary *summary, qfz_error *err)
{
    qfz_gpu_group group;
    QFZ_TRY(load(worker, graph, NULL, &group, err));
    QFZ_TRY(qfz_gpu_group_mark_ring(&worker->gpu, &group));
    return group.kind == QFZ_OMEGA ? summarise_omega(worker, &group, summary)
                                   : find_links(worker, &group, &summary->links);
}

/* Distributes the links to the members: both ends of a link belong to one member. */
static qfz_status share_out(const qfz_links *links, const qfz_group_graph *graph,
                            qfz_exterior *members, qfz_error *err)
{
    for (int m = 0; m < graph->n_members; m++)
        QFZ_TRY(qfz_links_reserve(&members[m].external, graph->members[m].n_ring, err));
    for (int64_t i = 0; i < links->n; i++) {
        int m = 0;
        while (links->u[i] >= graph->offset[m + 1])
            m++;
        qfz_links *const to = &members[m].external;
        to->u[to->n] = links->u[i] - graph->offset[m];
        to->v[to->n] = links->v[i] - graph->offset[m];
        to->level[to->n++] = links->level[i];
    }
    return QFZ_OK;
}

qfz_status qfz_groups_levels(qfz_worker *worker, const qfz_group_graph *graph,
                             qfz_exterior *members, uint32_t *cross_level, qfz_error *err)
{
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_group group;
    qfz_links links = {};
    qfz_status st;
    QFZ_TRY(load(worker, graph, NULL, &group, err));
    uint32_t *const d_level = group.d_link_level; /* free: the forest has a copy of the levels */
    QFZ_TRY(qfz_gpu_group_levels(gpu, &group, graph->n_members, d_level));
    QFZ_TRY(qfz_gpu_group_mark_members(gpu, &group));
    QFZ_TRY_OR(st, cleanup, find_links(worker, &group, &links));
    QFZ_TRY_OR(st, cleanup,
               qfz_worker_down(worker, cross_level, d_level,
                               (size_t)graph->cross->n * sizeof *cross_level));
    st = share_out(&links, graph, members, err);

cleanup:
    qfz_links_fini(&links);
    return st;
}

qfz_status qfz_groups_regions(qfz_worker *worker, const qfz_group_graph *graph,
                              const qfz_exterior *own, qfz_group_regions *found, qfz_error *err)
{
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_group group;
    uint32_t counts[QFZ_GROUP_MEMBERS + 1];
    QFZ_TRY(load(worker, graph, own, &group, err));
    QFZ_TRY(qfz_gpu_group_mark_ring(gpu, &group));
    QFZ_TRY(qfz_gpu_group_break(gpu, worker->spec.rule, true, &group));
    QFZ_TRY(qfz_gpu_group_regions(gpu, &group, own->n_border_regions));
    QFZ_TRY(qfz_worker_down(worker, counts, group.d_counts, sizeof counts));
    QFZ_TRY(qfz_worker_down(worker, found->border_region, group.d_border_region,
                            3 * (size_t)group.n * sizeof *found->border_region));
    for (int m = 0; m < graph->n_members; m++)
        found->n_border_regions[m] = counts[m];
    found->n_regions = counts[QFZ_GROUP_MEMBERS];
    return QFZ_OK;
}
