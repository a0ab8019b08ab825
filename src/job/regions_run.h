/* SPDX-License-Identifier: MIT */
/* regions_run.h - the job `regions`: tables from a raster of labels that is read, of any origin.
 *
 * One pass over the labels gathers records (label_outputs.h); there are no engine and no stitching,
 * since labels say what belongs together. */
#ifndef QFZ_REGIONS_RUN_H
#define QFZ_REGIONS_RUN_H

#include "core/status.h"

/* Runs a complete job (qfz_job_read()) of task QFZ_REGIONS. */
qfz_status qfz_regions_run(const qfz_job *job, qfz_report *report, qfz_error *err);

/* Fills the plan of such a job, except its outputs; *plan is zeroed. */
qfz_status qfz_regions_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err);

#endif
