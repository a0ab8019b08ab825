/* SPDX-License-Identifier: MIT */
/* solve_filter.c - the area filter (core/filter.h) across a group: up, links and mass events of the
 * pixels of its ring; down, the same of each member as seen from inside the member, and which of
 * the edges that cross seams have filtered level 0, or are in the forest with a level above 0. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/position.h"
#include "core/filter.h"
#include "stitch/solve.h"

_Static_assert((int)QFZ_GROUP_CHILDREN <= (int)QFZ_FILTER_LISTS,
               "each member has a list of events");

/* Shared by both ways. */
typedef struct work {
    const qfz_group *group;
    uint32_t *ring_vertex;
    int64_t n_ring;
    qfz_filter_items items;
    uint32_t first[QFZ_GROUP_CHILDREN + 1]; /* links of each member; then the crossing edges */

    const qfz_exterior *own; /* on the way down */
    qfz_exterior *members;
    uint8_t *found; /* by item: as of qfz_filter_resolve() */
} work;

/* The items of one pass, with readers of the members' events. */
typedef struct pass {
    qfz_filter_items items; /* borrowed arrays */
    qfz_event_reader readers[QFZ_GROUP_CHILDREN];
} pass;

static qfz_status pass_open(const work *w, pass *p, qfz_error *err)
{
    const qfz_group *const group = w->group;
    *p = (pass){.items = w->items};
    p->items.n_lists = group->n_members;
    for (int m = 0; m < group->n_members; m++) {
        QFZ_TRY(qfz_event_reader_open(&p->readers[m], &group->events[m], err));
        p->items.lists[m] = (qfz_filter_events){.n = group->events[m].n,
                                                .first = group->offset[m],
                                                .read = qfz_event_read_masses,
                                                .arg = &p->readers[m]};
    }
    return QFZ_OK;
}

/* The first failure, if st is none. */
static qfz_status pass_close(pass *p, qfz_status st)
{
    for (int m = 0; m < QFZ_GROUP_CHILDREN; m++) {
        if (st == QFZ_OK) st = p->readers[m].st;
        qfz_event_reader_close(&p->readers[m]);
    }
    return st;
}

static void work_fini(work *w)
{
    free(w->ring_vertex);
    free(w->found);
    qfz_filter_items_fini(&w->items);
}

static int64_t count_items(const qfz_group *group, const qfz_exterior *own)
{
    int64_t n = group->cross.n + (own ? own->external.n + own->masses.n : 0);
    for (int m = 0; m < group->n_members; m++)
        n += group->members[m].links.n;
    return n;
}

static void add_cross(work *w)
{
    const qfz_group *const group = w->group;
    const qfz_links *const cross = &group->cross;
    for (int64_t i = 0; i < cross->n; i++) {
        const int m = qfz_group_member(group, cross->u[i]);
        int64_t y, x;
        qfz_ring_pixel(&group->rings[m], cross->u[i] - group->offset[m], &y, &x);
        qfz_filter_add(&w->items, cross->level[i], qfz_position(y, x, group->cross_dir[i]),
                       cross->u[i], cross->v[i], 0);
    }
}

/* own: the group's exterior; NULL on the way up. */
static qfz_status sort_items(work *w, const qfz_exterior *own, qfz_error *err)
{
    const qfz_group *const group = w->group;
    const int64_t n = count_items(group, own);
    if (n >= UINT32_MAX)
        return qfz_fail(err, QFZ_EARG, "a group of tiles has %lld links; 2^32 are the most",
                        (long long)n);
    QFZ_TRY(qfz_filter_items_reserve(&w->items, n, err));
    for (int m = 0; m < group->n_members; m++) {
        w->first[m] = (uint32_t)w->items.n;
        qfz_filter_add_links(&w->items, &group->members[m].links, group->offset[m], NULL);
    }
    w->first[group->n_members] = (uint32_t)w->items.n;
    add_cross(w);
    if (own) {
        qfz_filter_add_links(&w->items, &own->external, 0, w->ring_vertex);
        qfz_filter_add_masses(&w->items, &own->masses, 0, w->ring_vertex);
    }
    qfz_filter_sort(&w->items);
    return QFZ_OK;
}

/* Components of all vertices, each with its pixel's weight. */
static qfz_status start_sets(const qfz_group *group, qfz_filter_sets *sets, qfz_error *err)
{
    const uint64_t least = group->rule->min_mass;
    QFZ_TRY(qfz_filter_sets_init(sets, qfz_group_n(group), err));
    for (int m = 0; m < group->n_members; m++) {
        const qfz_summary *const s = &group->members[m];
        for (int64_t i = 0; i < s->n_ring; i++) {
            const uint64_t own = s->weight ? s->weight[i] : 1;
            sets->weight[group->offset[m] + (uint32_t)i] = own < least ? own : least;
        }
    }
    return QFZ_OK;
}

/* The vertices of the group's ring are marks. */
static qfz_status mark_ring(const work *w, qfz_filter_sets *sets, qfz_filter_outside *outside,
                            qfz_error *err)
{
    QFZ_TRY(start_sets(w->group, sets, err));
    QFZ_TRY(qfz_links_reserve_placed(outside->links, w->n_ring, err));
    QFZ_TRY(QFZ_NEW(&outside->mark, sets->n, err));
    memset(outside->mark, 0xff, sets->n * sizeof *outside->mark);
    for (int64_t i = 0; i < w->n_ring; i++)
        outside->mark[w->ring_vertex[i]] = (uint32_t)i;
    return QFZ_OK;
}

static qfz_status summarise(const work *w, qfz_summary *summary, qfz_error *err)
{
    qfz_event_spool *const spool = w->group->spool;
    qfz_filter_outside outside = {.links = &summary->links,
                                  .masses = &summary->masses,
                                  .n_full = spool->block,
                                  .full = qfz_event_spool_masses,
                                  .full_arg = spool};
    qfz_filter_sets sets = {0};
    pass p = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, mark_ring(w, &sets, &outside, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&outside.at_zero, sets.n, err));
    QFZ_TRY_OR(st, cleanup, pass_open(w, &p, err));
    st = qfz_filter_summarise(&p.items, &sets, w->group->rule->min_mass, &outside, err);

cleanup:
    st = pass_close(&p, st);
    qfz_filter_sets_fini(&sets);
    free(outside.mark);
    free(outside.at_zero);
    return st;
}

static qfz_status up(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {.group = group};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_group_start_summary(group, summary, err));
    QFZ_TRY_OR(st, cleanup, qfz_group_ring(group, &w.ring_vertex, &w.n_ring, err));
    QFZ_TRY_OR(st, cleanup, sort_items(&w, NULL, err));
    st = summarise(&w, summary, err);

cleanup:
    work_fini(&w);
    return st;
}

/* ------------------------------------------------------------------------------------------- down
 */
static qfz_status start_members(const work *w, qfz_filter_member *members, qfz_error *err)
{
    const qfz_group *const group = w->group;
    for (int m = 0; m < group->n_members; m++) {
        qfz_exterior *const e = &w->members[m];
        QFZ_TRY(qfz_links_reserve_placed(&e->external, e->n_ring, err));
        members[m] = (qfz_filter_member){.first = group->offset[m],
                                         .end = group->offset[m] + (uint32_t)e->n_ring,
                                         .first_item = w->first[m],
                                         .end_item = w->first[m + 1],
                                         .links = &e->external,
                                         .masses = &e->masses};
    }
    return QFZ_OK;
}

static qfz_status find_exteriors(const work *w, qfz_error *err)
{
    const qfz_group *const group = w->group;
    qfz_filter_member members[QFZ_GROUP_CHILDREN];
    qfz_filter_sets sets = {0};
    pass p = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, start_members(w, members, err));
    QFZ_TRY_OR(st, cleanup, start_sets(group, &sets, err));
    QFZ_TRY_OR(st, cleanup, pass_open(w, &p, err));
    st = qfz_filter_find_exteriors(&p.items, &sets, group->rule->min_mass, members,
                                   group->n_members, w->found, err);

cleanup:
    st = pass_close(&p, st);
    qfz_filter_sets_fini(&sets);
    return st;
}

static void put_zeroed(const work *w, uint32_t vertex, uint8_t bits)
{
    const int m = qfz_group_member(w->group, vertex);
    w->members[m].zeroed[vertex - w->group->offset[m]] |= bits;
}

static void put_level(const work *w, uint32_t vertex, int dir, uint32_t level)
{
    const int m = qfz_group_member(w->group, vertex);
    qfz_exterior *const e = &w->members[m];
    e->cross[dir * e->n_ring + vertex - w->group->offset[m]] = level;
}

/* Edges that leave members: known here inside the group, taken from the group's own exterior if
 * they leave the group, too. */
static void set_zeroed(const work *w)
{
    const qfz_group *const group = w->group;
    const uint8_t *const found = w->found + w->first[group->n_members];
    for (int64_t i = 0; i < group->cross.n; i++)
        if (found[i] == QFZ_FILTER_ZEROED)
            put_zeroed(w, group->cross.u[i], (uint8_t)(1u << group->cross_dir[i]));
    for (int64_t i = 0; i < w->own->n_ring; i++)
        put_zeroed(w, w->ring_vertex[i], w->own->zeroed[i]);
}

static void set_levels(const work *w)
{
    const qfz_group *const group = w->group;
    const uint8_t *const found = w->found + w->first[group->n_members];
    const int64_t n_ring = w->own->n_ring;
    for (int64_t i = 0; i < group->cross.n; i++)
        if (found[i] == QFZ_FILTER_KEPT)
            put_level(w, group->cross.u[i], group->cross_dir[i], group->cross.level[i]);
    for (int64_t i = 0; i < n_ring * qfz_n_dirs(group->rule); i++)
        if (w->own->cross[i] > 0)
            put_level(w, w->ring_vertex[i % n_ring], (int)(i / n_ring), w->own->cross[i]);
}

static qfz_status exterior_init(const qfz_rule *rule, int64_t n_ring, qfz_exterior *exterior,
                                qfz_error *err)
{
    exterior->n_ring = n_ring;
    QFZ_TRY(QFZ_NEW_ZERO(&exterior->zeroed, n_ring, err));
    return rule->wants_forest ? QFZ_NEW_ZERO(&exterior->cross, n_ring * qfz_n_dirs(rule), err)
                              : QFZ_OK;
}

static qfz_status down(const qfz_group *group, const qfz_exterior *own, qfz_exterior *members,
                       qfz_map *map, qfz_error *err)
{
    (void)map;
    work w = {.group = group, .own = own, .members = members};
    qfz_status st;
    for (int m = 0; m < group->n_members; m++)
        QFZ_TRY_OR(st, cleanup,
                   exterior_init(group->rule, group->members[m].n_ring, &members[m], err));
    QFZ_TRY_OR(st, cleanup, qfz_group_ring(group, &w.ring_vertex, &w.n_ring, err));
    QFZ_TRY_OR(st, cleanup, sort_items(&w, own, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&w.found, w.items.n, err));
    QFZ_TRY_OR(st, cleanup, find_exteriors(&w, err));
    set_zeroed(&w);
    if (group->rule->wants_forest) set_levels(&w);

cleanup:
    work_fini(&w);
    return st;
}

const qfz_solver qfz_solve_filter = {.up = up, .down = down};
