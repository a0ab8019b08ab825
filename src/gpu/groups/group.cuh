/* SPDX-License-Identifier: MIT */
/* group.cuh - stitching of a group of tiles (core/engine.h) on a device.  The group is a graph
 * whose vertices are the ring pixels of its members and whose edges are links.  The kernels for the
 * graph of all blocks of a tile (forest/boruvka_parts.cuh, omega/omega_parts.cuh) process it.
 *
 * The vertices for which links are requested are the marks.  For these kernels the marks are the
 * ring of a tile of one row: mark i is pixel i, and forest.rim[i] is its vertex. */
#pragma once

#include "core/engine.h"
#include "gpu/omega/omega_parts.cuh"

/* Lists of links: one of each member, one of the edges between members, one of external links. */
enum { QFZ_GROUP_LISTS = QFZ_GROUP_MEMBERS + 2 };

/* Lists that are adjacent in memory. */
typedef struct qfz_gpu_lists {
    int n;
    uint32_t first[QFZ_GROUP_LISTS + 1]; /* first item of each list; then the number of items */
    uint32_t offset[QFZ_GROUP_LISTS];    /* added to the list's vertices gives the group's */
    bool is_outside[QFZ_GROUP_LISTS];    /* the list has pixels of the group's ring, not vertices */
} qfz_gpu_lists;

/* A group in one scratch memory.  The first arrays are uploaded: in the order of the members, each
 * aligned as by qfz_carve, list after list in the layout of the host. */
typedef struct qfz_gpu_group {
    qfz_kind kind;
    int64_t n, n_ring; /* number of vertices; number of pixels of the group's own ring */
    qfz_gpu_lists links, events, members;
    uint32_t *d_u, *d_v;    /* ends of links */
    uint32_t *d_link_level; /* free once the forest is complete */
    uint32_t *d_ring;       /* the vertex of each pixel of the group's ring */

    /* QFZ_OMEGA, uploaded: values, validity and range events of members; the group's exterior. */
    void *d_values;
    uint8_t *d_valid;
    uint32_t *d_at, *d_level;
    void *d_lo, *d_hi;
    uint32_t *d_own_border_region, *d_own_omega_level;

    /* QFZ_OMEGA: the results of qfz_group_regions; d_counts has n_border_regions and n_regions. */
    uint32_t *d_border_region, *d_omega_level, *d_region;
    uint32_t *d_counts;

    /* QFZ_OMEGA: scratch memory of group_regions.cu. */
    uint32_t *d_top, *d_named;
    uint32_t *d_first, *d_n_before, *d_new_before;
    void *d_scan;

    /* QFZ_LEVELS: room for one link per vertex; their number; scratch of qfz_gpu_border_links(). */
    qfz_gpu_links found;
    uint32_t *d_n_found;
    void *d_border;
    qfz_omega_room room; /* forest and graph */
} qfz_gpu_group;

/* Carves the memory of a group.  The caller has set kind, n, n_ring, the three lists and
 * room.forest.wide. */
void qfz_gpu_group_carve(qfz_gpu_group *group, const qfz_rule *rule, qfz_carve *carve);

/* Builds the forest of the group's links. */
qfz_status qfz_gpu_group_join(qfz_gpu *gpu, qfz_gpu_group *group);

/* Sets the marks: the pixels of the group's own ring; or all vertices, with a cut between members,
 * so that no link connects two members. */
qfz_status qfz_gpu_group_mark_ring(qfz_gpu *gpu, qfz_gpu_group *group);
qfz_status qfz_gpu_group_mark_members(qfz_gpu *gpu, qfz_gpu_group *group);

/* d_level[i] = the minimax level of the two ends of the i-th link of list number `list`. */
qfz_status qfz_gpu_group_levels(qfz_gpu *gpu, const qfz_gpu_group *group, int list,
                                uint32_t *d_level);

/* Finds the levels at which vertices break; the marks are the pixels of the group's ring.  down:
 * d_own_omega_level has been uploaded, and applies. */
qfz_status qfz_gpu_group_break(qfz_gpu *gpu, const qfz_rule *rule, bool down, qfz_gpu_group *group);

/* Afterwards, with down: computes the results of qfz_group_regions.  n_own: number of border
 * regions of the group itself. */
qfz_status qfz_gpu_group_regions(qfz_gpu *gpu, const qfz_gpu_group *group, uint32_t n_own);
void qfz_gpu_group_regions_carve(qfz_gpu_group *group, qfz_carve *carve);

/* The number of the list that has item i. */
QFZ_DEVICE int qfz_list_of(const qfz_gpu_lists &lists, uint32_t i)
{
    int list = 0;
    while (i >= lists.first[list + 1])
        list++;
    return list;
}
