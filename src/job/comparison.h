/* SPDX-License-Identifier: MIT */
/* comparison.h - a job whose result is compared with a raster instead of written. */
#ifndef QFZ_COMPARISON_H
#define QFZ_COMPARISON_H

#include <pthread.h>

#include "check/check.h"
#include "raster/raster.h"

typedef struct qfz_comparison {
    qfz_made *made;
    qfz_content content; /* of the raster; other outputs of the job are ignored */
    qfz_faults *faults;
    pthread_mutex_t lock;
} qfz_comparison;

/* made and faults are borrowed until fini().  Differences are added to *faults. */
void qfz_comparison_init(qfz_comparison *comparison, qfz_made *made, qfz_content content,
                         qfz_faults *faults);
void qfz_comparison_fini(qfz_comparison *comparison);

/* Compares the pixels of a tile, as the spec says, with the raster.  Any thread. */
qfz_status qfz_comparison_tile(qfz_comparison *comparison, const qfz_sink_spec *spec, qfz_box box,
                               const void *pixels, qfz_error *err);

/* As qfz_job_run() of a complete job, of one process and without a work folder. */
qfz_status qfz_job_compare(const qfz_job *job, qfz_comparison *comparison, qfz_report *report,
                           qfz_error *err);

#endif
