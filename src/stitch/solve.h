/* SPDX-License-Identifier: MIT */
/* solve.h - what a group does with summaries on the way up and with answers on the way down: one
 * pair of functions for each kind of question. */
#ifndef QFZ_STITCH_SOLVE_H
#define QFZ_STITCH_SOLVE_H

#include "stitch/group.h"

/* Which border_regions of a group and of its members are one region?  Flat, to be stored as it is:
 * the number of regions, then for the group itself and for each member the number of
 * border_regions, followed by the region of each. */
typedef struct qfz_map {
    uint32_t *words;
    int64_t n;
} qfz_map;

void qfz_map_fini(qfz_map *map);

/* For lists of n_border_regions in all: the group's, and each member's. */
qfz_status qfz_map_start(qfz_map *map, uint32_t n_regions, int n_members, int64_t n_border_regions,
                         qfz_error *err);

/* Appends a list of n entries, to be filled by the caller. */
uint32_t *qfz_map_list(qfz_map *map, uint32_t n);

/* Reads list by list; *at starts as 1 and moves on. */
const uint32_t *qfz_map_next(const uint32_t *words, int64_t *at, uint32_t *n);

typedef struct qfz_solver {
    /* From a group to its summary.  map is filled by QFZ_COMPONENTS only. */
    qfz_status (*up)(const qfz_group *group, qfz_summary *summary, qfz_map *map, qfz_error *err);

    /* From a group's own answer (all zero if it is the raster) to its members'.  NULL: nothing to
     * context down.  map is filled by QFZ_OMEGA only. */
    qfz_status (*down)(const qfz_group *group, const qfz_exterior *own, qfz_exterior *members,
                       qfz_map *map, qfz_error *err);
} qfz_solver;

extern const qfz_solver qfz_solve_components, qfz_solve_levels, qfz_solve_omega;

#endif
