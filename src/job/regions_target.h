/* SPDX-License-Identifier: MIT */
/* regions_target.h - a job with a largest number of regions: the curve of the same raster gives the
 * least alpha that has no more. */
#ifndef QFZ_REGIONS_TARGET_H
#define QFZ_REGIONS_TARGET_H

#include "core/status.h"

/* Of a job in two halves. */
typedef struct qfz_regions_target {
    qfz_progress_fn progress; /* the caller's */
    void *progress_arg;
    double from; /* part of the whole that is done before the present half */
} qfz_regions_target;

/* QFZ_EARG unless the largest number of regions, if there is one, and the rest of the job agree.
 * Alpha becomes 0 until it is found. */
qfz_status qfz_regions_target_take(qfz_job *job, qfz_error *err);

/* The job that computes the curve, into *curve; its pointers are those of both arguments. */
qfz_job qfz_regions_target_curve(const qfz_job *job, qfz_curve *curve);

/* Runs the curve of the job, with a work folder within that of the job, and sets the job's alpha.
 * The job then reports the second half of the progress, through target.  Collective. */
qfz_status qfz_regions_target_find(qfz_regions_target *target, qfz_job *job, qfz_error *err);

#endif
