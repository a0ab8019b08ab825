/* SPDX-License-Identifier: MIT */
/* solve_levels.c - minimax levels across a group: up, links between its ring's pixels; down, the
 * links that each member sees through everything outside it, and the levels of the seams. */
#include <stdlib.h>
#include <string.h>

#include "cpu/graph.h"
#include "memory.h"
#include "stitch/solve.h"

/* What both ways need: the group's graph, sorted, and room to join it. */
typedef struct work {
    uint32_t *ring_vertex;
    int64_t n_ring;
    qfz_links links;
    qfz_graph graph;
    qfz_forest forest;
    uint32_t *mark;
} work;

static void work_fini(work *w)
{
    free(w->ring_vertex);
    free(w->mark);
    qfz_links_fini(&w->links);
    qfz_graph_fini(&w->graph);
    qfz_forest_fini(&w->forest);
}

static qfz_status work_init(work *w, const qfz_group *group, const qfz_links *ghosts,
                            qfz_error *err)
{
    const int64_t n = qfz_group_n(group);
    QFZ_TRY(qfz_group_ring(group, &w->ring_vertex, &w->n_ring, err));
    QFZ_TRY(qfz_group_links(group, ghosts, w->ring_vertex, &w->links, err));
    QFZ_TRY(qfz_graph_init(&w->graph, w->links.n, err));
    QFZ_TRY(qfz_forest_init(&w->forest, n, err));
    QFZ_TRY(QFZ_NEW(&w->mark, n, err));
    qfz_graph_set_links(&w->graph, (uint32_t)n, w->links.u, w->links.v, w->links.level);
    qfz_graph_add_links(&w->graph, 0, w->links.n, group->rule->alpha_key);
    qfz_graph_sort(&w->graph);
    return QFZ_OK;
}

static void unmark(work *w)
{
    memset(w->mark, 0xff, w->graph.n * sizeof *w->mark);
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, NULL, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, qfz_links_reserve(&summary->links, w.n_ring, err));
    unmark(&w);
    for (int64_t i = 0; i < w.n_ring; i++)
        w.mark[w.ring_vertex[i]] = (uint32_t)i;
    qfz_forest_summarise(&w.forest, &w.graph, w.mark, &summary->links);

cleanup:
    work_fini(&w);
    return st;
}

static qfz_status start_answer(qfz_answer *answer, int64_t n_ring, int n_dirs, qfz_error *err)
{
    answer->n_ring = n_ring;
    QFZ_TRY(QFZ_NEW(&answer->cross, n_ring * n_dirs, err));
    QFZ_TRY(QFZ_NEW_ZERO(&answer->cross_has, n_ring, err));
    return qfz_links_reserve(&answer->ghosts, n_ring, err);
}

static void put_cross(const qfz_group *group, qfz_answer *members, uint32_t vertex, int dir,
                      uint32_t level)
{
    const int m = qfz_group_member(group, vertex);
    const uint32_t i = vertex - group->offset[m];
    members[m].cross[dir * members[m].n_ring + i] = level;
    members[m].cross_has[i] |= (uint8_t)(1u << dir);
}

/* Levels of the edges that leave the members: of those inside the group, and of those that leave
 * the group too, which its own answer knows. */
static void hand_down_cross(const qfz_group *group, const qfz_answer *own, const work *w,
                            qfz_answer *members)
{
    for (int64_t i = 0; i < group->cross.n; i++)
        put_cross(group, members, group->cross.u[i], group->cross_dir[i],
                  qfz_forest_minimax(&w->forest, group->cross.u[i], group->cross.v[i]));
    for (int64_t i = 0; i < own->n_ring; i++)
        for (int d = 0; d < qfz_n_dirs(group->rule); d++)
            if (own->cross_has[i] >> d & 1)
                put_cross(group, members, w->ring_vertex[i], d, own->cross[d * own->n_ring + i]);
}

static qfz_status down(const qfz_group *group, const qfz_answer *own, qfz_answer *members,
                       qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, work_init(&w, group, &own->ghosts, err));
    for (int m = 0; m < group->n_members; m++)
        QFZ_TRY_OR(
            st, cleanup,
            start_answer(&members[m], group->members[m].n_ring, qfz_n_dirs(group->rule), err));
    qfz_forest_grow(&w.forest, &w.graph);
    hand_down_cross(group, own, &w, members);
    for (int m = 0; m < group->n_members; m++) {
        unmark(&w);
        for (int64_t i = 0; i < members[m].n_ring; i++)
            w.mark[group->offset[m] + (uint32_t)i] = (uint32_t)i;
        qfz_forest_summarise(&w.forest, &w.graph, w.mark, &members[m].ghosts);
    }

cleanup:
    work_fini(&w);
    return st;
}

const qfz_solver qfz_solve_levels = {.up = up, .down = down};
