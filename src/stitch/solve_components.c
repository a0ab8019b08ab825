/* SPDX-License-Identifier: MIT */
/* solve_components.c - components of a group out of its members': a union over their slots. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "stitch/solve.h"

/* The members' slots in one list, and which of them are one component. */
typedef struct slots {
    uint32_t first[QFZ_MAX_CHILDREN + 1];
    uint32_t *parent; /* towards the least slot of the component */
    uint32_t *region; /* of each slot */
    uint32_t n_regions;
} slots;

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static uint32_t slot_at(const qfz_group *group, const slots *s, uint32_t vertex)
{
    const int m = qfz_group_member(group, vertex);
    const uint32_t slot = group->members[m].slot[vertex - group->offset[m]];
    return slot == QFZ_NONE ? QFZ_NONE : s->first[m] + slot;
}

static void join_cross(const qfz_group *group, slots *s)
{
    for (int64_t i = 0; i < group->cross.n; i++) {
        const uint32_t a = root_of(s->parent, slot_at(group, s, group->cross.u[i]));
        const uint32_t b = root_of(s->parent, slot_at(group, s, group->cross.v[i]));
        s->parent[a > b ? a : b] = a > b ? b : a;
    }
}

/* A root is the least slot of its component, so that it has its number before it is asked. */
static void number_regions(slots *s, uint32_t n)
{
    s->n_regions = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t root = root_of(s->parent, i);
        s->region[i] = root == i ? s->n_regions++ : s->region[root];
    }
}

static qfz_status find_regions(const qfz_group *group, slots *s, qfz_error *err)
{
    for (int m = 0; m < group->n_members; m++)
        s->first[m + 1] = s->first[m] + group->members[m].n_slots;
    const uint32_t n = s->first[group->n_members];
    QFZ_TRY(QFZ_NEW(&s->parent, n, err));
    QFZ_TRY(QFZ_NEW(&s->region, n, err));
    for (uint32_t i = 0; i < n; i++)
        s->parent[i] = i;
    join_cross(group, s);
    number_regions(s, n);
    return QFZ_OK;
}

/* Slots of the group by first appearance on its ring; own[slot] = region.  parent is scratch. */
static qfz_status number_slots(const qfz_group *group, slots *s, const uint32_t *ring_vertex,
                               qfz_summary *summary, uint32_t *own, qfz_error *err)
{
    uint32_t *const slot_of = s->parent;
    QFZ_TRY(QFZ_NEW(&summary->slot, summary->n_ring, err));
    memset(slot_of, 0xff, s->n_regions * sizeof *slot_of);
    summary->n_slots = 0;
    for (int64_t i = 0; i < summary->n_ring; i++) {
        const uint32_t slot = slot_at(group, s, ring_vertex[i]);
        summary->slot[i] = QFZ_NONE;
        if (slot == QFZ_NONE) continue;
        const uint32_t region = s->region[slot];
        if (slot_of[region] == QFZ_NONE) {
            own[summary->n_slots] = region;
            slot_of[region] = summary->n_slots++;
        }
        summary->slot[i] = slot_of[region];
    }
    return QFZ_OK;
}

static qfz_status write_map(const qfz_group *group, const slots *s, const uint32_t *own,
                            uint32_t n_own, qfz_map *map, qfz_error *err)
{
    uint32_t *list;
    QFZ_TRY(qfz_map_start(map, s->n_regions, err));
    QFZ_TRY(qfz_map_list(map, n_own, &list, err));
    memcpy(list, own, n_own * sizeof *list);
    for (int m = 0; m < group->n_members; m++) {
        const uint32_t n = group->members[m].n_slots;
        QFZ_TRY(qfz_map_list(map, n, &list, err));
        memcpy(list, s->region + s->first[m], n * sizeof *list);
    }
    return QFZ_OK;
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    slots s = {0};
    uint32_t *ring_vertex = NULL, *own = NULL;
    int64_t n_ring;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, find_regions(group, &s, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_ring(group, &ring_vertex, &n_ring, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&own, s.n_regions, err));
    QFZ_TRY_OR(st, cleanup, number_slots(group, &s, ring_vertex, summary, own, err));
    QFZ_TRY_OR(st, cleanup, write_map(group, &s, own, summary->n_slots, map, err));

cleanup:
    free(s.parent);
    free(s.region);
    free(ring_vertex);
    free(own);
    return st;
}

const qfz_solver qfz_solve_components = {.up = up, .down = NULL};
