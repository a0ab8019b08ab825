/* SPDX-License-Identifier: MIT */
/* solve.h - the computation on one group, for each kind: from the summaries of its members to its
 * own summary (up), and from its own exterior to the exteriors of its members (down). */
#ifndef QFZ_STITCH_SOLVE_H
#define QFZ_STITCH_SOLVE_H

#include "stitch/group.h"

/* Which border regions of a group and of its members are one region.  A flat array that is stored
 * as such: the number of regions; then, for the group itself and for each member, the number of its
 * border regions, followed by the region of each. */
typedef struct qfz_map {
    uint32_t *words;
    int64_t n;
} qfz_map;

void qfz_map_fini(qfz_map *map);

/* n_border_regions: of the group and of all members together. */
qfz_status qfz_map_start(qfz_map *map, uint32_t n_regions, int n_members, int64_t n_border_regions,
                         qfz_error *err);

/* Appends a list of n entries, to be filled by the caller. */
uint32_t *qfz_map_list(qfz_map *map, uint32_t n);

/* Returns the next list; *at is 1 before the first call. */
const uint32_t *qfz_map_next(const uint32_t *words, int64_t *at, uint32_t *n);

typedef struct qfz_solver {
    /* From a group to its summary.  QFZ_COMPONENTS fills map; QFZ_JOINS stores the histogram of the
     * joins that are settled in the group there, packed. */
    qfz_status (*up)(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err);

    /* From the exterior of a group (all zero for the raster) to the exteriors of its members. NULL:
     * the kind needs no exteriors.  Only QFZ_OMEGA fills map. */
    qfz_status (*down)(const qfz_group *group, const qfz_exterior *own, qfz_exterior *members,
                       qfz_map *map, qfz_error *err);
} qfz_solver;

extern const qfz_solver qfz_solve_components, qfz_solve_levels, qfz_solve_omega, qfz_solve_joins,
    qfz_solve_filter;

#endif
