/* SPDX-License-Identifier: MIT */
/* identity.h - a job as text, a line "what<tab>which" for everything that decides its result or the
 * meaning of what is stored on the way; and what differs between two such texts. */
#ifndef QFZ_IDENTITY_H
#define QFZ_IDENTITY_H

#include "job/run.h"

/* *text is released by free().  source NULL: without what the source itself and its files tell. */
qfz_status qfz_identity_make(char **text, const qfz_setup *setup, qfz_source *source, int n_parts,
                             qfz_error *err);

/* What a job of that report has left: its counts, and what lies under the names of its outputs, a
 * line for each.  Released by free(). */
qfz_status qfz_identity_of_end(char **text, const qfz_job *job, const qfz_report *report,
                               qfz_error *err);

/* Lines that are there for whoever comes later to take over. */
#define QFZ_IDENTITY_TILE "tile"
#define QFZ_IDENTITY_PARTS "parts"

/* The first line in which the texts differ, but for those two: false if there is none. */
typedef struct qfz_difference {
    char what[64];
    char there[256], here[256];
} qfz_difference;
bool qfz_identity_differs(const char *there, const char *here, qfz_difference *difference);

/* What a line says, up to its end; NULL: there is no such line. */
const char *qfz_identity_find(const char *text, const char *what);

#endif
