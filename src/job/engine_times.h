/* SPDX-License-Identifier: MIT */
/* engine_times.h - which engine finishes a job first, by rates that were measured on one machine.
 */
#ifndef QFZ_ENGINE_TIMES_H
#define QFZ_ENGINE_TIMES_H

#include "core/engine.h"

/* One process's share of a job. */
typedef struct qfz_engine_work {
    qfz_task task;
    bool has_area;    /* the area filter runs first */
    bool counts_only; /* nothing is written */
    int64_t n_px;     /* for each alpha */
    int n_threads;
    int n_gpus; /* that the CUDA engine would start; at least 1 */
} qfz_engine_work;

typedef struct qfz_engine_times {
    double cpu_s, gpu_s; /* gpu_s: INFINITY if the CUDA engine has not this task */
} qfz_engine_times;

/* Seconds of the whole process by each engine, to compare the two: on other machines both are
 * longer or shorter. */
qfz_engine_times qfz_engine_times_of(const qfz_engine_work *work);

#endif
