/* SPDX-License-Identifier: MIT */
/* group.h - a group of tiles or smaller groups as one graph.
 *
 * The ring pixels of all members, one member after the other, are the vertices.  The edges are the
 * links of the members and the edges that cross a seam between two members. */
#ifndef QFZ_STITCH_GROUP_H
#define QFZ_STITCH_GROUP_H

#include "core/engine.h"
#include "core/ring.h"
#include "stitch/group_tree.h"
#include "stitch/event_lists.h"

/* n pixels that are consecutive both on a member's ring, from index `from`, and on the ring of the
 * group, from index `to`. */
typedef struct qfz_stretch {
    int member;
    int64_t from, to, n;
} qfz_stretch;

enum { QFZ_MAX_STRETCHES = 3 * 4 * QFZ_GROUP_CHILDREN }; /* at most three on a side */

typedef struct qfz_group {
    const qfz_rule *rule;
    int n_threads; /* threads that may share the group (qfz_parallel_within()) */
    qfz_ring ring; /* of the group */
    int n_members;
    qfz_summary members[QFZ_GROUP_CHILDREN];
    qfz_ring rings[QFZ_GROUP_CHILDREN];      /* of the members */
    uint32_t offset[QFZ_GROUP_CHILDREN + 1]; /* first vertex; then all vertices */

    int n_stretches; /* cover the group's ring; a corner may be in two */
    qfz_stretch stretches[QFZ_MAX_STRETCHES];

    qfz_links cross; /* edges between members of level <= alpha_level, unsorted */
    uint8_t *cross_dir;

    /* QFZ_FILTER, QFZ_OMEGA: the events of the members, and whole blocks of the group's own on the
     * way up */
    qfz_event_list events[QFZ_GROUP_CHILDREN];
    qfz_event_spool *spool;
    qfz_ranges loaded[QFZ_GROUP_CHILDREN]; /* those of qfz_group_load_ranges() */

    const qfz_engine *engine; /* of worker */
    qfz_worker *worker;       /* may stitch the group on its device; NULL: the host does */
} qfz_group;

/* ring: of the group.  Takes ownership of the members' summaries; qfz_group_fini() releases them.
 */
qfz_status qfz_group_init(qfz_group *group, const qfz_rule *rule, int n_threads, qfz_ring ring,
                          int n_members, qfz_summary *take_members, qfz_error *err);
void qfz_group_fini(qfz_group *group);

static inline uint32_t qfz_group_n(const qfz_group *group)
{
    return group->offset[group->n_members];
}

/* Pieces of one member for its threads; all members together have at least one piece per thread. */
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

/* Sets *graph to the group in an engine's form, which borrows from the arguments.  True if the
 * group has a worker whose memory suffices for the graph. */
bool qfz_group_on_device(const qfz_group *group, const uint32_t *ring_vertex, int64_t n_ring,
                         const qfz_links *outside, qfz_group_graph *graph);

/* QFZ_OMEGA: copies the range events of the members to their summaries, for the worker.  Where they
 * are many for the group's size, the group has no worker instead: the host reads them in blocks. */
qfz_status qfz_group_load_ranges(qfz_group *group, qfz_error *err);

/* Initialises a summary of the group's box with the ring's values and validity only. */
qfz_status qfz_group_start_summary(const qfz_group *group, qfz_summary *summary, qfz_error *err);

/* All links of the group on its vertices: the members' links, the crossing edges, then `extra` (on
 * the pixels of the group's ring; may be NULL). */
qfz_status qfz_group_links(const qfz_group *group, const qfz_links *extra,
                           const uint32_t *ring_vertex, qfz_links *links, qfz_error *err);

#endif
