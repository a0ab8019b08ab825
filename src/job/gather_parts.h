/* SPDX-License-Identifier: MIT */
/* gather_parts.h - records (regions/gather.h) that each process of a job gathers, added up by the
 * process that joins the parts.
 *
 * Each process saves its records in a file beside the output that is made from them. */
#ifndef QFZ_GATHER_PARTS_H
#define QFZ_GATHER_PARTS_H

#include "regions/regions.h"

enum { QFZ_GATHERS_MAX = 8 };

/* Some gatherings, saved together.  A member may be NULL. */
typedef struct qfz_gather_list {
    qfz_gather *list[QFZ_GATHERS_MAX];
    int n;
} qfz_gather_list;

/* Writes the file of part `part`, from 0, of n_parts, which appears when complete.  The gatherings
 * are read by it. */
qfz_status qfz_gather_parts_save(const qfz_gather_list *gathers, const char *output, int part,
                                 int n_parts, qfz_error *err);

/* Adds the records that were saved of a part to gatherings of the same formats, in the thread of
 * this number.  QFZ_EIO: the file is missing, damaged, or belongs to another job. */
qfz_status qfz_gather_parts_add(const qfz_gather_list *gathers, int thread, const char *output,
                                int part, int n_parts, qfz_error *err);

/* True if the file of a part exists. */
bool qfz_gather_parts_have(const char *output, int part, int n_parts);

/* Deletes the file of a part, if it exists. */
void qfz_gather_parts_delete(const char *output, int part, int n_parts);

#endif
