/* SPDX-License-Identifier: MIT */
/* task_run.h - runs a task: all of its steps in order, or those of one phase.
 *
 * Without phases, every process goes through all steps.  In a job of phases, a process does the
 * steps of its own phase, reads the results of the other steps from the journals of the work
 * folder, and ends at the first step of another phase whose results are missing. */
#ifndef QFZ_TASK_RUN_H
#define QFZ_TASK_RUN_H

#include "job/task.h"

/* *next: the phase to be run next, QFZ_PHASE_ALL when the job is complete.  QFZ_EARG: an earlier
 * phase is not complete; the message names it.  Collective. */
qfz_status qfz_task_run(const qfz_task_passes *passes, qfz_run *run, qfz_phase *next,
                        qfz_error *err);

#endif
