/* SPDX-License-Identifier: MIT */
/* group.cuh - a group of tiles (engine.h) on a device: the graph of its members' rings, made and
 * asked by the kernels that do the same for the graph of a tile's blocks (boruvka_parts.cuh,
 * omega_parts.cuh).
 *
 * Vertices that are asked about, marks, are to those kernels the ring of a tile of one row: mark i
 * is its pixel i, whose seat in forest.rim is a vertex. */
#ifndef QFZ_GPU_GROUP_CUH
#define QFZ_GPU_GROUP_CUH

#include "core/engine.h"
#include "gpu/omega/omega_parts.cuh"

/* Links come of the members, then of what crosses, then of the outside. */
enum { QFZ_GROUP_LISTS = QFZ_GROUP_MEMBERS + 2 };

/* Lists that lie one after the other. */
typedef struct qfz_gpu_lists {
    int n;
    uint32_t first[QFZ_GROUP_LISTS + 1]; /* of each list; the last entry: all */
    uint32_t offset[QFZ_GROUP_LISTS];    /* to be added to its vertices */
    bool is_outside[QFZ_GROUP_LISTS];    /* it names pixels of the group's ring, not vertices */
} qfz_gpu_lists;

/* Everything lies in one scratch memory, first what is sent to it: in this order, each aligned as
 * qfz_carve does, and list after list as it is on the host. */
typedef struct qfz_gpu_group {
    qfz_kind kind;
    int64_t n, n_ring; /* vertices; pixels of the group's own ring */
    qfz_gpu_lists links, events, members;
    uint32_t *d_u, *d_v;    /* links' ends */
    uint32_t *d_link_level; /* free for others when links have become the forest */
    uint32_t *d_ring;       /* the vertices of the ring */
    void *d_values;         /* from here on QFZ_OMEGA: of members, planes of their rings */
    uint8_t *d_valid;
    uint32_t *d_at, *d_level; /* events */
    void *d_lo, *d_hi;
    uint32_t *d_own_slot, *d_own_holds; /* of the ring, on the way down */

    uint32_t *d_border_region, *d_holds, *d_region; /* what is found (qfz_group_regions), */
    uint32_t *d_counts;                             /* n_border_regions and n_regions */
    uint32_t *d_top, *d_named;                      /* (group_regions.cu) */
    uint32_t *d_first, *d_n_before, *d_new_before;
    void *d_scan;

    qfz_gpu_links found; /* from here on QFZ_LEVELS: room for a link a vertex, and how many */
    uint32_t *d_n_found;
    void *d_border; /* for qfz_gpu_border_links() */
    qfz_omega_room room;
} qfz_gpu_group;

/* Cuts the memory for a group of so many vertices, links and events on a ring of so many pixels,
 * whose forest has wide levels or not. */
void qfz_gpu_group_carve(qfz_gpu_group *group, const qfz_rule *rule, qfz_carve *carve);

/* Links make the forest. */
qfz_status qfz_gpu_group_join(qfz_gpu *gpu, qfz_gpu_group *group);

/* The marks are the pixels of the group's own ring; or those of the members' rings, all vertices,
 * the ring being cut between members. */
qfz_status qfz_gpu_group_mark_ring(qfz_gpu *gpu, qfz_gpu_group *group);
qfz_status qfz_gpu_group_mark_members(qfz_gpu *gpu, qfz_gpu_group *group);

/* d_level[i] = minimax level of the ends of the i-th link of a list. */
qfz_status qfz_gpu_group_levels(qfz_gpu *gpu, const qfz_gpu_group *group, int list,
                                uint32_t *d_level);

/* At which levels vertices break; the ring's pixels are the marks.  down: d_own_holds is there. */
qfz_status qfz_gpu_group_break(qfz_gpu *gpu, const qfz_rule *rule, bool down, qfz_gpu_group *group);

/* Then, on the way down, what is found; n_own: border_regions of the group itself. */
qfz_status qfz_gpu_group_regions(qfz_gpu *gpu, const qfz_gpu_group *group, uint32_t n_own);
void qfz_gpu_group_regions_carve(qfz_gpu_group *group, qfz_carve *carve);

/* The list that item i is in. */
static __device__ __forceinline__ int qfz_list_of(const qfz_gpu_lists &lists, uint32_t i)
{
    int list = 0;
    while (i >= lists.first[list + 1])
        list++;
    return list;
}

#endif
