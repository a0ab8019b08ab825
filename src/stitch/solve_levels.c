/* SPDX-License-Identifier: MIT */
/* solve_levels.c - minimax levels across a group: up, links between the pixels of its ring; down,
 * the external links of each member, and the levels of the edges that cross seams. */
#include <stdlib.h>
#include <string.h>

#include "cpu/graph.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "stitch/level_bytes.h"
#include "stitch/solve.h"

/* Shared by both ways. */
typedef struct work {
    const qfz_group *group;
    uint32_t *ring_vertex;
    int64_t n_ring;
    qfz_links links;
    qfz_graph graph; /* of the group, sorted */

    const qfz_exterior *own; /* on the way down */
    qfz_exterior *members;
    uint32_t *cross_level; /* of group->cross */
    uint32_t *largest;     /* level of a join of the whole graph */

    qfz_histogram *settled; /* NULL: joins are not counted */
} work;

static void work_fini(work *w)
{
    free(w->ring_vertex);
    free(w->cross_level);
    qfz_links_fini(&w->links);
    qfz_graph_fini(&w->graph);
}

static qfz_status work_init(work *w, const qfz_group *group, qfz_error *err)
{
    *w = (work){.group = group};
    return qfz_group_ring(group, &w->ring_vertex, &w->n_ring, err);
}

static qfz_status sort_links(work *w, const qfz_links *external, qfz_error *err)
{
    const qfz_group *const group = w->group;
    QFZ_TRY(qfz_group_links(group, external, w->ring_vertex, &w->links, err));
    QFZ_TRY(qfz_graph_init(&w->graph, w->links.n, err));
    qfz_graph_set_links(&w->graph, qfz_group_n(group), w->links.u, w->links.v, w->links.level);
    qfz_graph_add_links(&w->graph, 0, w->links.n, group->rule->alpha_level);
    qfz_graph_sort(&w->graph);
    return QFZ_OK;
}

static qfz_status new_marks(const work *w, uint32_t **mark, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(mark, w->graph.n, err));
    memset(*mark, 0xff, w->graph.n * sizeof **mark);
    return QFZ_OK;
}

/* Links between n marked vertices, from the whole graph; and the largest level of a join that no
 * link stands for. */
static qfz_status summarise(const work *w, uint32_t *mark, int64_t n, qfz_links *links,
                            uint32_t *largest, qfz_error *err)
{
    qfz_forest forest;
    QFZ_TRY(qfz_links_reserve(links, n, err));
    QFZ_TRY(qfz_forest_init(&forest, w->graph.n, err));
    *largest = qfz_forest_summarise(&forest, &w->graph, mark, links, w->settled);
    qfz_forest_fini(&forest);
    return QFZ_OK;
}

static int32_t wider(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t members_level_bytes(const qfz_group *group)
{
    int32_t bytes = 1;
    for (int m = 0; m < group->n_members; m++)
        bytes = wider(bytes, group->members[m].level_bytes);
    return bytes;
}

static qfz_status find_links(work *w, qfz_summary *summary, qfz_error *err)
{
    uint32_t *mark = NULL, largest = 0;
    QFZ_TRY(sort_links(w, NULL, err));
    QFZ_TRY(new_marks(w, &mark, err));
    for (int64_t i = 0; i < w->n_ring; i++)
        mark[w->ring_vertex[i]] = (uint32_t)i;
    const qfz_status st = summarise(w, mark, w->n_ring, &summary->links, &largest, err);
    summary->level_bytes = qfz_level_bytes(largest);
    free(mark);
    return st;
}

/* By the group's worker, if it can, else here. */
static qfz_status find_summary(work *w, qfz_summary *summary, qfz_error *err)
{
    const qfz_group *const group = w->group;
    qfz_group_graph graph;
    if (!qfz_group_on_device(group, w->ring_vertex, w->n_ring, NULL, &graph))
        return find_links(w, summary, err);
    QFZ_TRY(group->engine->groups->summarise(group->worker, &graph, summary, err));
    return qfz_group_level_bytes(group, w->ring_vertex, &summary->links, &summary->level_bytes,
                                 err);
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    (void)map;
    work w;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, find_summary(&w, summary, err));
    summary->level_bytes = wider(summary->level_bytes, members_level_bytes(group));

cleanup:
    work_fini(&w);
    return st;
}

static qfz_status start_exterior(qfz_exterior *exterior, int64_t n_ring, int n_dirs, qfz_error *err)
{
    exterior->n_ring = n_ring;
    QFZ_TRY(QFZ_NEW_ZERO(&exterior->cross, n_ring * n_dirs, err)); /* goes to files as it is */
    QFZ_TRY(QFZ_NEW_ZERO(&exterior->cross_has, n_ring, err));
    return qfz_links_reserve(&exterior->external, n_ring, err);
}

static void put_cross(const qfz_group *group, qfz_exterior *members, uint32_t vertex, int dir,
                      uint32_t level)
{
    const int m = qfz_group_member(group, vertex);
    const uint32_t i = vertex - group->offset[m];
    members[m].cross[dir * members[m].n_ring + i] = level;
    members[m].cross_has[i] |= (uint8_t)(1u << dir);
}

/* Sets the levels of the edges that leave members: computed here inside the group, taken from the
 * group's own exterior for edges that leave the group, too. */
static void set_cross_levels(const work *w)
{
    const qfz_group *const group = w->group;
    const qfz_exterior *const own = w->own;
    for (int64_t i = 0; i < group->cross.n; i++)
        put_cross(group, w->members, group->cross.u[i], group->cross_dir[i], w->cross_level[i]);
    for (int64_t i = 0; i < own->n_ring; i++)
        for (int d = 0; d < qfz_n_dirs(group->rule); d++)
            if (own->cross_has[i] >> d & 1)
                put_cross(group, w->members, w->ring_vertex[i], d, own->cross[d * own->n_ring + i]);
}

static qfz_status find_cross(const work *w, qfz_error *err)
{
    const qfz_links *const cross = &w->group->cross;
    qfz_forest forest;
    QFZ_TRY(qfz_forest_init(&forest, w->graph.n, err));
    *w->largest = qfz_forest_grow(&forest, &w->graph);
    for (int64_t i = 0; i < cross->n; i++)
        w->cross_level[i] = qfz_forest_minimax(&forest, cross->u[i], cross->v[i]);
    qfz_forest_fini(&forest);
    return QFZ_OK;
}

static qfz_status find_external(const work *w, int m, qfz_error *err)
{
    const int64_t n = w->members[m].n_ring;
    uint32_t *mark = NULL, ignored;
    QFZ_TRY(new_marks(w, &mark, err));
    for (int64_t i = 0; i < n; i++)
        mark[w->group->offset[m] + (uint32_t)i] = (uint32_t)i;
    const qfz_status st = summarise(w, mark, n, &w->members[m].external, &ignored, err);
    free(mark);
    return st;
}

/* Items are independent passes over the whole graph: item 0 for the crossing edges, then one per
 * member. */
static qfz_status find_item(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const work *const w = arg;
    return item == 0 ? find_cross(w, err) : find_external(w, (int)item - 1, err);
}

/* *level_bytes: of the joins of the group, if it is the whole raster. */
static qfz_status find_all(work *w, int32_t *level_bytes, qfz_error *err)
{
    const qfz_group *const group = w->group;
    uint32_t largest = 0;
    w->largest = &largest;
    QFZ_TRY(sort_links(w, &w->own->external, err));
    QFZ_TRY(qfz_parallel_within(group->n_threads, 1 + group->n_members, find_item, w, err));
    *level_bytes = qfz_level_bytes(largest);
    return QFZ_OK;
}

/* By the group's worker, if it can, else here. */
static qfz_status find_exteriors(work *w, int32_t *level_bytes, qfz_error *err)
{
    const qfz_group *const group = w->group;
    const qfz_exterior *const own = w->own;
    qfz_group_graph graph;
    if (!qfz_group_on_device(group, w->ring_vertex, own->n_ring, &own->external, &graph))
        return find_all(w, level_bytes, err);
    QFZ_TRY(group->engine->groups->levels(group->worker, &graph, w->members, w->cross_level, err));
    return own->n_ring ? QFZ_OK
                       : qfz_group_level_bytes(group, w->ring_vertex, NULL, level_bytes, err);
}

/* The members learn from the whole raster how wide its levels are. */
static void set_level_bytes(const work *w, int32_t level_bytes)
{
    const qfz_group *const group = w->group;
    if (w->own->n_ring)
        level_bytes = w->own->level_bytes;
    else
        level_bytes = wider(level_bytes, members_level_bytes(group));
    for (int m = 0; m < group->n_members; m++)
        w->members[m].level_bytes = level_bytes;
}

static qfz_status down(const qfz_group *group, const qfz_exterior *own, qfz_exterior *members,
                       qfz_map *map, qfz_error *err)
{
    (void)map;
    int32_t level_bytes = 1;
    work w;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&w.cross_level, group->cross.n, err));
    w.own = own;
    w.members = members;
    for (int m = 0; m < group->n_members; m++)
        QFZ_TRY_OR(
            st, cleanup,
            start_exterior(&members[m], group->members[m].n_ring, qfz_n_dirs(group->rule), err));
    QFZ_TRY_OR(st, cleanup, find_exteriors(&w, &level_bytes, err));
    set_cross_levels(&w);
    set_level_bytes(&w, level_bytes);

cleanup:
    work_fini(&w);
    return st;
}

/* The levels of the joins that are settled in the group, packed, are the map. */
static qfz_status up_joins(const qfz_group *group, qfz_summary *summary, qfz_map *map,
                           qfz_error *err)
{
    qfz_histogram settled = {0};
    work w;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, err));
    QFZ_TRY_OR(st, cleanup, qfz_histogram_init(&settled, group->rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    w.settled = &settled;
    QFZ_TRY_OR(st, cleanup, find_links(&w, summary, err));
    st = qfz_histogram_pack(&settled, &map->words, &map->n, err);

cleanup:
    qfz_histogram_fini(&settled);
    work_fini(&w);
    return st;
}

const qfz_solver qfz_solve_levels = {.up = up, .down = down};
const qfz_solver qfz_solve_joins = {.up = up_joins};
