/* SPDX-License-Identifier: MIT */
/* task.h - a task (label, simplify, saliency, curve, forest) as a table of steps, followed by its
 * last pass, which writes the outputs. */
#ifndef QFZ_TASK_H
#define QFZ_TASK_H

#include "job/outputs.h"
#include "job/tile_pass.h"

typedef struct qfz_task_step {
    qfz_phase phase; /* in a job of phases, the phase that does this step */
    double share;    /* of the whole job's run time */

    /* True if the result of the step for this tile is known already, from a journal. */
    qfz_tile_is_done_fn is_done;

    /* One of the two: a pass over the tiles, or work on all summaries together (collective). */
    qfz_tile_visit_fn visit;
    qfz_status (*together)(qfz_run *run, double share, qfz_error *err);
} qfz_task_step;

enum { QFZ_MAX_STEPS = 4 };

/* The steps of the area filter (task_filter.c), which come first in a job with a least area. */
enum { QFZ_FILTER_STEPS = 2 };
extern const qfz_task_step qfz_filter_steps[QFZ_FILTER_STEPS];

typedef struct qfz_task_passes {
    qfz_task_step steps[QFZ_MAX_STEPS];
    int n_steps;

    /* Sets outputs->n_rasters and outputs->specs; the number of regions is known by then. */
    void (*plan)(const qfz_run *run, qfz_outputs *outputs);

    /* The last pass: writes one tile into the outputs; arg is the qfz_outputs. */
    double resolve_share;
    qfz_tile_visit_fn resolve;
} qfz_task_passes;

/* Labels of equal values and of alpha-components, and cuts: task_label.c. */
extern const qfz_task_passes qfz_task_label;

/* (alpha, omega)-components, painted with their means: task_simplify.c. */
extern const qfz_task_passes qfz_task_simplify;

/* Saliency of every edge: task_saliency.c. */
extern const qfz_task_passes qfz_task_saliency;

/* The number of alpha-components for every alpha: task_curve.c. */
extern const qfz_task_passes qfz_task_curve;

/* The hierarchy as a table: task_forest.c. */
extern const qfz_task_passes qfz_task_forest;

#endif
