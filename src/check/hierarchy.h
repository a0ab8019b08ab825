/* SPDX-License-Identifier: MIT */
/* hierarchy.h - checks a raster of saliency in one sweep over its rows.
 *
 * Saliency s of the edges of level l is right exactly if
 *   1. s is given where an edge exists, and nowhere else;
 *   2. no s is greater than l;
 *   3. no edge is, by s, heavier than all others of a cycle: s is a minimax level of itself;
 *   4. the minimum spanning forests by s and by l have the same weight.
 * By 2, each cut of s has at most as many regions as that of l, and the k-th lightest edge of the
 * forest by s is at most that of the forest by l.  By 4, these are therefore equal: each cut of s
 * is that of l.  By 3, s is then the saliency itself. */
#ifndef QFZ_CHECK_HIERARCHY_H
#define QFZ_CHECK_HIERARCHY_H

#include "check/faults.h"
#include "check/row.h"

typedef struct qfz_hierarchy qfz_hierarchy;

/* rule and faults are borrowed until close. */
qfz_status qfz_hierarchy_open(qfz_hierarchy **hierarchy, const qfz_rule *rule, int64_t w,
                              qfz_faults *faults, qfz_error *err);
qfz_status qfz_hierarchy_row(qfz_hierarchy *hierarchy, const qfz_check_row *row, qfz_error *err);

/* After the last row.  *same_weight: whether the two forests have the same weight; where they do
 * not, a level is too low, which has no place.  *pixels = the number of valid pixels. */
qfz_status qfz_hierarchy_end(qfz_hierarchy *hierarchy, uint64_t *pixels, bool *same_weight,
                             qfz_error *err);
void qfz_hierarchy_close(qfz_hierarchy *hierarchy); /* NULL is allowed */

/* Bytes that open() allocates for each column of the raster. */
int64_t qfz_hierarchy_bytes(const qfz_rule *rule);

#endif
