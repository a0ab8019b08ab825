/* SPDX-License-Identifier: MIT */
/* solve_components.c - the components of a group: a union-find over the border regions of its
 * members. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stitch/solve.h"

/* The border regions of all members in one list, and their components. */
typedef struct border_regions {
    uint32_t first[QFZ_GROUP_CHILDREN + 1];
    uint32_t *parent; /* parent; the root is the least of its component */
    uint32_t *region; /* of each border_region */
    uint32_t n_regions;
    uint32_t *own; /* border regions of the group */
    uint32_t n_own;
} border_regions;

static void slots_fini(border_regions *s)
{
    free(s->parent);
    free(s->region);
    free(s->own);
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The border region of a valid vertex. */
static uint32_t border_region_at(const qfz_group *group, const border_regions *s, uint32_t vertex)
{
    const int m = qfz_group_member(group, vertex);
    return s->first[m] + group->members[m].border_region[vertex - group->offset[m]];
}

/* Consecutive edges mostly join the same two border regions. */
static void join_cross(const qfz_group *group, border_regions *s)
{
    const qfz_links cross = group->cross;
    uint32_t *const parent = s->parent;
    uint32_t last_u = QFZ_NONE, last_v = QFZ_NONE;
    for (int64_t i = 0; i < cross.n; i++) {
        const uint32_t u = border_region_at(group, s, cross.u[i]),
                       v = border_region_at(group, s, cross.v[i]);
        if (u == last_u && v == last_v) continue;
        const uint32_t a = root_of(parent, u), b = root_of(parent, v);
        parent[a > b ? a : b] = a > b ? b : a;
        last_u = u;
        last_v = v;
    }
}

/* A root is the least border region of its component, so it is numbered before it is read. */
static void number_regions(border_regions *s, uint32_t n)
{
    s->n_regions = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t root = root_of(s->parent, i);
        s->region[i] = root == i ? s->n_regions++ : s->region[root];
    }
}

static qfz_status find_regions(const qfz_group *group, border_regions *s, qfz_error *err)
{
    for (int m = 0; m < group->n_members; m++)
        s->first[m + 1] = s->first[m] + group->members[m].n_border_regions;
    const uint32_t n = s->first[group->n_members];
    QFZ_TRY(QFZ_NEW(&s->parent, n, err));
    QFZ_TRY(QFZ_NEW(&s->region, n, err));
    for (uint32_t i = 0; i < n; i++)
        s->parent[i] = i;
    join_cross(group, s);
    number_regions(s, n);
    return QFZ_OK;
}

/* Finds the region of each pixel of the group's ring. */
static void find_ring_regions(const qfz_group *group, const border_regions *s, uint32_t *ring)
{
    for (int i = 0; i < group->n_stretches; i++) {
        const qfz_stretch *const t = &group->stretches[i];
        const uint32_t *const border_region = group->members[t->member].border_region + t->from;
        const uint32_t *const region = s->region + s->first[t->member];
        uint32_t *const to = ring + t->to;
        for (int64_t k = 0; k < t->n; k++)
            to[k] = border_region[k] == QFZ_NONE ? QFZ_NONE : region[border_region[k]];
    }
}

/* Numbers the border regions of the group by first appearance on its ring.  parent is scratch. */
static qfz_status number_border_regions(const qfz_group *group, border_regions *s,
                                        qfz_summary *summary, qfz_error *err)
{
    uint32_t *const border_of = s->parent, n = 0;
    QFZ_TRY(QFZ_NEW(&summary->border_region, summary->n_ring, err));
    QFZ_TRY(QFZ_NEW(&s->own, s->n_regions, err));
    uint32_t *const border_region = summary->border_region, *const own = s->own;
    memset(border_of, 0xff, s->n_regions * sizeof *border_of);
    find_ring_regions(group, s, border_region);
    for (int64_t i = 0; i < summary->n_ring; i++) {
        const uint32_t region = border_region[i];
        if (region == QFZ_NONE) continue;
        if (border_of[region] == QFZ_NONE) {
            own[n] = region;
            border_of[region] = n++;
        }
        border_region[i] = border_of[region];
    }
    summary->n_border_regions = s->n_own = n;
    return QFZ_OK;
}

static qfz_status write_map(const qfz_group *group, const border_regions *s, qfz_map *map,
                            qfz_error *err)
{
    const int n_members = group->n_members;
    const int64_t n_border_regions = (int64_t)s->n_own + s->first[n_members];
    QFZ_TRY(qfz_map_start(map, s->n_regions, n_members, n_border_regions, err));
    memcpy(qfz_map_list(map, s->n_own), s->own, s->n_own * sizeof *s->own);
    for (int m = 0; m < n_members; m++) {
        const uint32_t n = group->members[m].n_border_regions;
        memcpy(qfz_map_list(map, n), s->region + s->first[m], n * sizeof *s->region);
    }
    return QFZ_OK;
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    border_regions s = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, find_regions(group, &s, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, number_border_regions(group, &s, summary, err));
    st = write_map(group, &s, map, err);

cleanup:
    slots_fini(&s);
    return st;
}

const qfz_solver qfz_solve_components = {.up = up, .down = NULL};
