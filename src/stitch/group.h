/* SPDX-License-Identifier: MIT */
/* group.h - the members of a group side by side: the pixels of their rings are one list of
 * vertices, and the edges that cross between members are found along the seams. */
#ifndef QFZ_STITCH_GROUP_H
#define QFZ_STITCH_GROUP_H

#include "core/engine.h"
#include "core/ring.h"
#include "stitch/group_tree.h"

/* Pixels that follow each other both on a member's ring, from number `from` on, and on the
 * group's, from `to` on. */
typedef struct qfz_stretch {
    int member;
    int64_t from, to, n;
} qfz_stretch;

enum { QFZ_MAX_STRETCHES = 3 * 4 * QFZ_GROUP_CHILDREN }; /* a side is at most three of them */

typedef struct qfz_group {
    const qfz_rule *rule;
    int n_threads; /* that may work on it (qfz_parallel_within()) */
    qfz_ring ring; /* its own */
    int n_members;
    qfz_summary members[QFZ_GROUP_CHILDREN];
    qfz_ring rings[QFZ_GROUP_CHILDREN];      /* theirs */
    uint32_t offset[QFZ_GROUP_CHILDREN + 1]; /* a member's first vertex; the last entry: all */

    int n_stretches; /* all of the group's ring; a corner may come twice */
    qfz_stretch stretches[QFZ_MAX_STRETCHES];

    qfz_links cross; /* edges between members up to alpha_level, in no order of level */
    uint8_t *cross_dir;

    const qfz_engine *engine; /* whose worker may solve it; */
    qfz_worker *worker;       /* NULL: threads do */
} qfz_group;

/* On a ring of its own.  Takes the members' summaries over (they are released by qfz_group_fini()).
 */
qfz_status qfz_group_init(qfz_group *group, const qfz_rule *rule, int n_threads, qfz_ring ring,
                          int n_members, qfz_summary *take_members, qfz_error *err);
void qfz_group_fini(qfz_group *group);

static inline uint32_t qfz_group_n(const qfz_group *group)
{
    return group->offset[group->n_members];
}

/* In how many pieces threads share a member: together the members have one for each thread. */
static inline int qfz_group_pieces(const qfz_group *group)
{
    return (group->n_threads + QFZ_GROUP_CHILDREN - 1) / QFZ_GROUP_CHILDREN;
}

/* The member that a vertex belongs to. */
static inline int qfz_group_member(const qfz_group *group, uint32_t vertex)
{
    int m = 0;
    while (vertex >= group->offset[m + 1])
        m++;
    return m;
}

/* The vertex of each pixel of the group's own ring; the caller frees. */
qfz_status qfz_group_ring(const qfz_group *group, uint32_t **vertex, int64_t *n, qfz_error *err);

/* *graph = the group as an engine gets it (borrowed).  Is there a worker that can solve it? */
bool qfz_group_on_device(const qfz_group *group, const uint32_t *ring_vertex, int64_t n_ring,
                         const qfz_links *outside, qfz_group_graph *graph);

/* A summary of the group's box with the ring's values and validity, and nothing else. */
qfz_status qfz_group_start_summary(const qfz_group *group, qfz_summary *summary, qfz_error *err);

/* All links of the group on its vertices: the members', then the crossing edges, then `extra` (on
 * the pixels of the group's ring; may be NULL). */
qfz_status qfz_group_links(const qfz_group *group, const qfz_links *extra,
                           const uint32_t *ring_vertex, qfz_links *links, qfz_error *err);

#endif
