/* SPDX-License-Identifier: MIT */
/* same_job.h - whether all processes of a job have been started for the same job. */
#ifndef QFZ_SAME_JOB_H
#define QFZ_SAME_JOB_H

#include "job/setup.h"

/* Refuses different jobs that one launcher has started: they would wait for each other for ever.
 * Of the setup, job, rule and tiling are read.  Collective. */
qfz_status qfz_same_job_check(const qfz_setup *setup, const qfz_ranks *ranks, qfz_error *err);

#endif
