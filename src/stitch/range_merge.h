/* SPDX-License-Identifier: MIT */
/* range_merge.h - range events of several lists (event_lists.h) as one list, some at a time. */
#ifndef QFZ_STITCH_RANGE_MERGE_H
#define QFZ_STITCH_RANGE_MERGE_H

#include "stitch/event_lists.h"

typedef struct qfz_range_source qfz_range_source;

typedef struct qfz_range_merge {
    const qfz_rule *rule;
    const uint16_t *part_of; /* of each vertex; NULL: there is one part */
    int part;                /* other vertices' events are left out */
    int n;
    qfz_range_source *sources;
    int64_t block;  /* the largest of the lists */
    qfz_ranges out; /* a block */
} qfz_range_merge;

/* The events of n lists; vertex first[i] + v is ring pixel v of list i, v itself if first is NULL.
 * The lists are borrowed. */
qfz_status qfz_range_merge_open(qfz_range_merge *merge, const qfz_rule *rule,
                                const qfz_event_list *lists, const uint32_t *first, int n,
                                qfz_error *err);
void qfz_range_merge_close(qfz_range_merge *merge);

/* Only the events of a part's vertices, before the first call of qfz_range_merge_more(). */
void qfz_range_merge_restrict(qfz_range_merge *merge, const uint16_t *part_of, int part);

/* qfz_omega_more: the next events, in order of level, then of lists; a block of them, fewer at the
 * end.  They are valid until the next call. */
qfz_status qfz_range_merge_more(void *merge, qfz_ranges *ranges, qfz_error *err);

#endif
