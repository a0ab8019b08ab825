/* SPDX-License-Identifier: MIT */
/* alphas.h - a job of several alphas: a run for each of them.
 *
 * The runs share the source, the tiles, the threads and the area filter, which the first run has.
 * Each has a job with outputs of its own, a rule, and a stitching.  A pass loads a tile once, and
 * visits it for one alpha after the other.  A pass of a resumed job loads a tile if an alpha lacks
 * it, and visits it for those that do. */
#ifndef QFZ_ALPHAS_H
#define QFZ_ALPHAS_H

#include "job/run.h"

/* The run of an alpha that is not the first. */
typedef struct qfz_alpha_run {
    qfz_job job;                  /* its outputs are named without the place of an alpha */
    char *names[QFZ_OUTPUTS_MAX]; /* of its outputs; owned */
    qfz_setup setup; /* of the first alpha, but for job and alpha_level; what it points to is
                        borrowed */
    qfz_run run;
} qfz_alpha_run;

typedef struct qfz_alphas {
    int64_t n; /* alphas but the first; 0 also for a job of one alpha */
    qfz_alpha_run *list;
    qfz_outcome *outcomes; /* of all alphas, the first included */
} qfz_alphas;

/* QFZ_EARG unless the list of alphas and the rest of the job agree.  The first of several alphas
 * becomes that of the criterion. */
qfz_status qfz_alphas_take(qfz_job *job, qfz_error *err);

/* Replaces the names of the outputs of the first alpha, as qfz_output_names_follow(). */
qfz_status qfz_alphas_first_names(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err);

/* Makes the jobs and setups of all alphas but the first, whose setup is complete, and whose job has
 * the names of the first alpha.  job: with the places of the alpha; borrowed, as setup.  QFZ_EARG:
 * two outputs have one name.  After a failure qfz_alphas_close() releases what was opened. */
qfz_status qfz_alphas_init(qfz_alphas *alphas, const qfz_job *job, const qfz_setup *setup,
                           qfz_error *err);

/* Takes over what has changed in the setup of the first alpha, and in its leave to overwrite. */
void qfz_alphas_follow(qfz_alphas *alphas, const qfz_setup *setup);

/* Opens their runs, and makes them follow the first one. */
qfz_status qfz_alphas_open(qfz_alphas *alphas, qfz_run *first, qfz_error *err);

/* Before the first run is closed. */
void qfz_alphas_close(qfz_alphas *alphas);

/* Sets the numbers of regions of the outcomes. */
void qfz_alphas_count(qfz_alphas *alphas, const qfz_run *first);

/* Lets the worker of a context process the tile for a run. */
qfz_status qfz_alphas_load(const qfz_run *run, qfz_thread_context *context, const qfz_image *tile,
                           qfz_error *err);

#endif
