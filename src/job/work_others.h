/* SPDX-License-Identifier: MIT */
/* work_others.h - what runs with other numbers of processes have left in a work folder, so that a
 * job can be continued with more or fewer processes than it was begun with. */
#ifndef QFZ_WORK_OTHERS_H
#define QFZ_WORK_OTHERS_H

#include "core/status.h"

/* Part `part`, from 1, of n_parts. */
typedef struct qfz_work_part {
    int part, n_parts;
} qfz_work_part;

typedef struct qfz_work_others {
    int64_t n;
    qfz_work_part *parts;
} qfz_work_others;

/* Lists the parts of other numbers than n_parts that have a journal in the folder, in order of
 * n_parts, then of part.  check: QFZ_EARG if a process still appends to one of them; two processes
 * must not check at a time. */
qfz_status qfz_work_others_list(qfz_work_others *others, const char *folder, int n_parts,
                                bool check, qfz_error *err);
void qfz_work_others_fini(qfz_work_others *others);

#endif
