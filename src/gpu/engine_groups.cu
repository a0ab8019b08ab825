/* SPDX-License-Identifier: MIT */
/* engine_groups.cu - groups of tiles in the memory of a worker whose tile is done with. */
#include "gpu/group.cuh"
#include "gpu/worker.cuh"

/* ---- What is where --------------------------------------------------------------------------- */

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
    for (int m = 0; m < graph->n_members; m++) {
        const qfz_summary *const s = &graph->members[m];
        append_list(&group.links, s->links.n, graph->offset[m], false);
        append_list(&group.events, s->absorbs.n, graph->offset[m], false);
        append_list(&group.members, s->n_ring, graph->offset[m], false);
    }
    append_list(&group.links, graph->cross->n, 0, false);
    if (graph->outside) append_list(&group.links, graph->outside->n, 0, true);
    return group;
}

/* Edges of the greatest key of all are real ones here, and none on the device (omega.cu). */
static bool has_greatest_key(const qfz_rule *rule)
{
    uint32_t max_key;
    qfz_error ignored = {};
    return rule->alpha_key == QFZ_NONE &&
           (qfz_max_key(rule->type, rule->n_bands, rule->distance, &max_key, &ignored) != QFZ_OK ||
            max_key == QFZ_NONE);
}

bool qfz_groups_fit(const qfz_worker *worker, const qfz_group_graph *graph)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n = graph->offset[graph->n_members];
    int64_t n_items = n + graph->cross->n + (graph->outside ? graph->outside->n : 0);
    qfz_carve needed = {NULL, 0};
    if (spec->kind != QFZ_OMEGA && spec->kind != QFZ_LEVELS) return false;
    if (graph->n_members > QFZ_GROUP_MEMBERS) return false;
    if (spec->kind == QFZ_OMEGA && has_greatest_key(spec->rule)) return false;
    for (int m = 0; m < graph->n_members; m++)
        n_items += graph->members[m].links.n + graph->members[m].absorbs.n;
    if (n >> (31 - QFZ_UP_BITS) > 0 || n_items + n > INT32_MAX) return false;
    qfz_gpu_group group = group_of(worker, graph);
    qfz_gpu_group_carve(&group, spec->rule, &needed);
    return needed.used <= worker->d_bytes;
}

/* ---- Up and down ----------------------------------------------------------------------------- */

static qfz_status send_links(qfz_worker *worker, const qfz_gpu_group *group, const qfz_links *links,
                             int list)
{
    const uint32_t first = group->links.first[list];
    const size_t bytes = (size_t)links->n * sizeof *links->u;
    QFZ_TRY(qfz_worker_up(worker, group->d_u + first, links->u, bytes));
    QFZ_TRY(qfz_worker_up(worker, group->d_v + first, links->v, bytes));
    return qfz_worker_up(worker, group->room.forest.level[0] + first, links->level, bytes);
}

static qfz_status send_member(qfz_worker *worker, const qfz_gpu_group *group, const qfz_summary *s,
                              int m)
{
    const qfz_rule *const rule = worker->spec.rule;
    const qfz_absorbs *const a = &s->absorbs;
    const size_t bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    const size_t n = (size_t)a->n, first = group->events.first[m];
    const size_t vertex = group->members.first[m];
    QFZ_TRY(send_links(worker, group, &s->links, m));
    if (group->kind != QFZ_OMEGA) return QFZ_OK;
    QFZ_TRY(qfz_worker_up(worker, (char *)group->d_values + vertex * bytes, s->values,
                          (size_t)s->n_ring * bytes));
    QFZ_TRY(qfz_worker_up(worker, group->d_at + first, a->at, n * sizeof *a->at));
    QFZ_TRY(qfz_worker_up(worker, group->d_level + first, a->level, n * sizeof *a->level));
    QFZ_TRY(qfz_worker_up(worker, (char *)group->d_lo + first * bytes, a->lo, n * bytes));
    return qfz_worker_up(worker, (char *)group->d_hi + first * bytes, a->hi, n * bytes);
}

/* Makes the forest of a group. */
static qfz_status load(qfz_worker *worker, const qfz_group_graph *graph, qfz_gpu_group *group,
                       qfz_error *err)
{
    const qfz_rule *const rule = worker->spec.rule;
    qfz_carve carve = {worker->d_memory, 0};
    QFZ_TRY(qfz_worker_enter(worker, err));
    *group = group_of(worker, graph);
    qfz_gpu_group_carve(group, rule, &carve);
    for (int m = 0; m < graph->n_members; m++)
        QFZ_TRY(send_member(worker, group, &graph->members[m], m));
    QFZ_TRY(send_links(worker, group, graph->cross, graph->n_members));
    if (graph->outside) QFZ_TRY(send_links(worker, group, graph->outside, graph->n_members + 1));
    QFZ_TRY(qfz_worker_up(worker, group->d_ring, graph->ring,
                          (size_t)graph->n_ring * sizeof *graph->ring));
    return qfz_gpu_group_join(&worker->gpu, rule, group);
}

static qfz_status summarise_levels(qfz_worker *worker, qfz_gpu_group *group, qfz_links *links)
{
    uint32_t n;
    QFZ_TRY(qfz_gpu_border_links(&worker->gpu, &group->room.forest, group->d_border, &group->found,
                                 group->d_n_found));
    QFZ_TRY(qfz_worker_down(worker, &n, group->d_n_found, sizeof n));
    return qfz_worker_down_links(worker, &group->found, n, links);
}

static qfz_status summarise_omega(qfz_worker *worker, qfz_gpu_group *group, qfz_summary *summary)
{
    const qfz_rule *const rule = worker->spec.rule;
    qfz_omega_room *const room = &group->room;
    qfz_gpu_absorbs absorbs;
    uint32_t n[2];
    QFZ_TRY(qfz_gpu_group_break(&worker->gpu, rule, false, group));
    QFZ_TRY(qfz_omega_tell_links(&worker->gpu, rule, NULL, room));
    QFZ_TRY(qfz_worker_down(worker, n, room->d_counts, sizeof n));
    QFZ_TRY(qfz_worker_down_links(worker, &room->links, n[0], &summary->links));
    QFZ_TRY(qfz_omega_tell_absorbs(&worker->gpu, rule, n[1], room, &absorbs));
    return qfz_worker_down_absorbs(worker, &absorbs, n[1], &summary->absorbs);
}

qfz_status qfz_groups_summarise(qfz_worker *worker, const qfz_group_graph *graph,
                                qfz_summary *summary, qfz_error *err)
{
    qfz_gpu_group group;
    QFZ_TRY(load(worker, graph, &group, err));
    QFZ_TRY(qfz_gpu_group_mark(&worker->gpu, &group, group.d_ring, 0, graph->n_ring));
    return group.kind == QFZ_OMEGA ? summarise_omega(worker, &group, summary)
                                   : summarise_levels(worker, &group, &summary->links);
}

/* Where a member's links go. */
static qfz_gpu_links found_by(const qfz_gpu_group *group, int m)
{
    const uint32_t first = group->members.first[m];
    qfz_gpu_links links = group->found;
    links.d_u += first;
    links.d_v += first;
    links.d_level += first;
    return links;
}

/* All that is to be found is asked for before anything is waited for. */
qfz_status qfz_groups_levels(qfz_worker *worker, const qfz_group_graph *graph, qfz_answer *members,
                             uint32_t *cross_level, qfz_error *err)
{
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_group group;
    uint32_t n[QFZ_GROUP_MEMBERS];
    QFZ_TRY(load(worker, graph, &group, err));
    uint32_t *const d_level = group.room.forest.level[1]; /* rounds are done */
    QFZ_TRY(qfz_gpu_group_levels(gpu, &group, graph->n_members, d_level));
    for (int m = 0; m < graph->n_members; m++) {
        const qfz_gpu_links links = found_by(&group, m);
        QFZ_TRY(qfz_gpu_group_mark(gpu, &group, NULL, graph->offset[m], graph->members[m].n_ring));
        QFZ_TRY(qfz_gpu_border_links(gpu, &group.room.forest, group.d_border, &links,
                                     group.d_n_found + m));
    }
    QFZ_TRY(qfz_worker_down(worker, n, group.d_n_found, sizeof n));
    QFZ_TRY(qfz_worker_down(worker, cross_level, d_level,
                            (size_t)graph->cross->n * sizeof *cross_level));
    for (int m = 0; m < graph->n_members; m++) {
        const qfz_gpu_links links = found_by(&group, m);
        QFZ_TRY(qfz_worker_down_links(worker, &links, n[m], &members[m].ghosts));
    }
    return QFZ_OK;
}

qfz_status qfz_groups_regions(qfz_worker *worker, const qfz_group_graph *graph,
                              const uint32_t *holds_to, uint32_t *top, uint32_t *holds,
                              qfz_error *err)
{
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_group group;
    QFZ_TRY(load(worker, graph, &group, err));
    const size_t n = (size_t)group.n;
    QFZ_TRY(qfz_worker_up(worker, group.d_out, holds_to, (size_t)graph->n_ring * sizeof *holds_to));
    QFZ_TRY(qfz_gpu_group_mark(gpu, &group, group.d_ring, 0, graph->n_ring));
    QFZ_TRY(qfz_gpu_group_break(gpu, worker->spec.rule, true, &group));
    QFZ_TRY(qfz_gpu_group_regions(gpu, &group));
    QFZ_TRY(qfz_worker_down(worker, top, group.d_out, n * sizeof *top));
    return qfz_worker_down(worker, holds, group.d_out + n, n * sizeof *holds);
}
