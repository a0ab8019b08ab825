/* SPDX-License-Identifier: MIT */
/* label_steps.h - steps of the tasks whose main output are labels (task_label.c, task_forest.c). */
#ifndef QFZ_LABEL_STEPS_H
#define QFZ_LABEL_STEPS_H

#include "job/outputs.h"
#include "job/tile_pass.h"

/* Stitches the boundary summaries of all tiles, then numbers the regions.  Collective. */
qfz_status qfz_label_stitch(qfz_run *run, double share, qfz_error *err);
bool qfz_label_is_stitched(qfz_run *run, int64_t tile, void *arg);

/* One output, of labels. */
void qfz_label_plan(const qfz_run *run, qfz_outputs *outputs);

/* Makes the labels of the loaded tile, in context->out. */
qfz_status qfz_label_resolve(qfz_run *run, qfz_thread_context *context, int64_t tile,
                             const qfz_outputs *outputs, uint32_t *n_regions, qfz_error *err);

/* True if labels have 64 bits. */
bool qfz_label_is_wide(const qfz_outputs *outputs);

#endif
