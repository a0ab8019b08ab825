/* SPDX-License-Identifier: MIT */
/* job_identity.h - a job as text, one line "what<tab>value" for each fact that decides its result
 * or the meaning of stored intermediate data; and the first difference between two such texts.
 *
 * Two processes, or two runs, belong to the same job if their texts are equal except for tile size
 * and number of parts, which a later process takes from an earlier one. */
#ifndef QFZ_JOB_IDENTITY_H
#define QFZ_JOB_IDENTITY_H

#include "job/setup.h"

/* *text is released by free().  source NULL: without the description of the source's files, which
 * may differ between machines. */
qfz_status qfz_job_identity_make(char **text, const qfz_setup *setup, qfz_source *source,
                                 int n_parts, qfz_error *err);

/* What a complete job has of one of its alphas. */
typedef struct qfz_outcome {
    const qfz_job *job; /* with the outputs of this alpha; borrowed */
    uint64_t regions;
} qfz_outcome;

/* The outcome of a complete job: the counts of the report and of all n alphas, and a line for each
 * output file.  *text is released by free(). */
qfz_status qfz_job_identity_of_outputs(char **text, const qfz_outcome *list, int64_t n,
                                       const qfz_report *report, qfz_error *err);

/* False unless the text begins with the counts of n alphas, which go to the list and the report. */
bool qfz_job_identity_read_counts(const char *text, qfz_outcome *list, int64_t n,
                                  qfz_report *report);

/* Name of the line with the version of qfz and of the format of journals. */
#define QFZ_JOB_IDENTITY_VERSION "version"

/* Names of the two lines that may differ. */
#define QFZ_JOB_IDENTITY_TILE "tile"
#define QFZ_JOB_IDENTITY_PARTS "parts"

typedef struct qfz_job_difference {
    char what[64];              /* name of the line */
    char there[256], here[256]; /* the two values, cut off at 255 bytes */
} qfz_job_difference;

/* True if the texts differ in another line than those two; *difference is the first such line. */
bool qfz_job_identity_differs(const char *there, const char *here, qfz_job_difference *difference);

/* The value of a line within text, which ends at a newline; NULL: no such line. */
const char *qfz_job_identity_find(const char *text, const char *what);

#endif
