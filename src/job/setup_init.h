/* SPDX-License-Identifier: MIT */
/* setup_init.h - makes a setup from a job and the size and types of its source. */
#ifndef QFZ_SETUP_INIT_H
#define QFZ_SETUP_INIT_H

#include "job/setup.h"

/* Checks the job, opens its source, chooses the engine and plans the memory.  The caller closes
 * *source and, after success only, calls qfz_setup_fini().  QFZ_EARG: the job contradicts itself or
 * its source; QFZ_ENOMEM: not even one thread with one tile fits the budget. */
qfz_status qfz_setup_init(qfz_setup *setup, const qfz_job *job, qfz_source **source,
                          qfz_error *err);
void qfz_setup_fini(qfz_setup *setup);

/* The number of threads that the job requests, or has processors for. */
int qfz_job_threads(const qfz_job *job);

/* Replans after workers failed to open with status `why` and the message in err.
 *
 * QFZ_ENOMEM: halves the device memory in use, which gives smaller tiles or fewer threads.  When
 * that is exhausted, or after QFZ_EGPU: the CPU engine, where the job leaves the engine to qfz.
 * Returns QFZ_OK with a changed setup, or `why` if no other plan is left. */
qfz_status qfz_setup_shrink(qfz_setup *setup, qfz_status why, qfz_error *err);

#endif
