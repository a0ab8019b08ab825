/* SPDX-License-Identifier: MIT */
/* contexts.h - what the threads of a job work with: sources, workers of devices, memory. */
#ifndef QFZ_CONTEXTS_H
#define QFZ_CONTEXTS_H

#include "job/run.h"

/* While devices start, tiles are read, as many as may be kept.  What was opened before a failure
 * is closed by qfz_contexts_close(). */
qfz_status qfz_contexts_open(qfz_run *run, int n_contexts, qfz_error *err);
void qfz_contexts_close(qfz_run *run);

#endif
