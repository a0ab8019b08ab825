/* SPDX-License-Identifier: MIT */
/* regions_state.h - a job `regions` under way, for the files that implement regions_run.h. */
#ifndef QFZ_REGIONS_STATE_H
#define QFZ_REGIONS_STATE_H

#include "job/label_outputs.h"
#include "job/output_names.h"

typedef struct qfz_regions_state {
    qfz_job job; /* its outputs are named without symbolic links */
    char *links[QFZ_OUTPUTS_MAX];
    qfz_source *source;
    qfz_source **readers; /* one for each thread */
    int n_readers;
    int64_t memory_bytes; /* of the job */
    qfz_step_times times;
    qfz_job_progress progress;
    qfz_label_outputs outputs;
    qfz_table *table;
} qfz_regions_state;

/* Checks the job, and opens its source. */
qfz_status qfz_regions_state_open(qfz_regions_state *state, qfz_error *err);
void qfz_regions_state_close(qfz_regions_state *state); /* also after a failure */

/* Checks the names of the outputs, and whether the memory suffices for polygons. */
qfz_status qfz_regions_state_check(const qfz_regions_state *state, qfz_error *err);

/* After open(): plans the outputs.  files: of qfz_label_outputs. */
qfz_status qfz_regions_state_plan(qfz_regions_state *state, const qfz_part_files *files,
                                  qfz_error *err);

/* After plan(): opens what the passes need. */
qfz_status qfz_regions_state_begin(qfz_regions_state *state, qfz_error *err);

#endif
