/* SPDX-License-Identifier: MIT */
/* parts.h - the links and events of a group, apart by connected components.
 *
 * No link leaves a part and no vertex is in two, so that each part can be joined by a thread of its
 * own.  A part has whole components: where one of them is most of the group, so is its part. */
#ifndef QFZ_STITCH_PARTS_H
#define QFZ_STITCH_PARTS_H

#include "stitch/group.h"

typedef struct qfz_parts {
    int n;
    int64_t *first_link, *first_event; /* of each part; the last entry: all */
    qfz_links links;                   /* on the group's vertices, part by part */
    qfz_ranges ranges;
} qfz_parts;

/* As many parts as there is work for with the group's threads. */
qfz_status qfz_parts_init(qfz_parts *parts, const qfz_group *group, qfz_error *err);
void qfz_parts_fini(qfz_parts *parts);

/* Part p's own, borrowed. */
qfz_links qfz_part_links(const qfz_parts *parts, int p);
qfz_ranges qfz_part_ranges(const qfz_parts *parts, const qfz_rule *rule, int p);

#endif
