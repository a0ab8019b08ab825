/* SPDX-License-Identifier: MIT */
/* hands.h - what the threads of a job work with: sources, workers of devices, memory. */
#ifndef QFZ_HANDS_H
#define QFZ_HANDS_H

#include "run.h"

/* While devices start, tiles are read, as many as may be kept.  What was opened before a failure
 * is closed by qfz_hands_close(). */
qfz_status qfz_hands_open(qfz_run *run, int n_hands, qfz_error *err);
void qfz_hands_close(qfz_run *run);

#endif
