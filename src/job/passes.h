/* SPDX-License-Identifier: MIT */
/* passes.h - a task as a table of steps, and the one way to go through it.
 *
 * Every process goes through all steps in order.  A job in phases does, in each process, the steps
 * of that process's phase, and takes from the journals what others have done; it ends where
 * something is missing that is not of its phase. */
#ifndef QFZ_PASSES_H
#define QFZ_PASSES_H

#include "job/outputs.h"

typedef struct qfz_step {
    qfz_phase phase;
    double share;        /* of the whole job's time */
    qfz_tile_fn is_done; /* what the step finds out of a tile is known */

    /* One of them: each tile for itself, or all together. */
    qfz_visit_fn visit;
    qfz_status (*together)(qfz_run *run, double share, qfz_error *err);
} qfz_step;

enum { QFZ_MAX_STEPS = 4 };

typedef struct qfz_passes {
    qfz_step steps[QFZ_MAX_STEPS];
    int n_steps;

    /* Then the outputs: which rasters, and each tile into them; arg is the qfz_outputs. */
    void (*plan)(const qfz_run *run, qfz_outputs *outputs);
    double resolve_share;
    qfz_visit_fn resolve;
} qfz_passes;

/* label.c (also cuts), simplify.c, saliency.c */
extern const qfz_passes qfz_label_passes, qfz_simplify_passes, qfz_saliency_passes;

/* *next: the phase to be run next; QFZ_PHASE_ALL if the job is complete. */
qfz_status qfz_passes_run(const qfz_passes *passes, qfz_run *run, qfz_phase *next, qfz_error *err);

#endif
