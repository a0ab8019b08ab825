/* SPDX-License-Identifier: MIT */
/* parts.h - the links of a group, split by connected components.
 *
 * No link leaves a part and no vertex is in two parts, so each part can be processed by a thread of
 * its own.  A part has whole components; a component that is most of the group makes a part as
 * large. */
#ifndef QFZ_STITCH_PARTS_H
#define QFZ_STITCH_PARTS_H

#include "stitch/group.h"

typedef struct qfz_parts {
    int n;
    uint16_t *part;      /* of each vertex; NULL: there is one part */
    int64_t *first_link; /* of each part; then all */
    qfz_links links;     /* on the group's vertices, part by part */
} qfz_parts;

/* Splits a group into parts, as many as its threads can use. */
qfz_status qfz_parts_init(qfz_parts *parts, const qfz_group *group, qfz_error *err);
void qfz_parts_fini(qfz_parts *parts);

/* The links of part p, borrowed. */
qfz_links qfz_part_links(const qfz_parts *parts, int p);

#endif
