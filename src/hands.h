/* SPDX-License-Identifier: MIT */
/* hands.h - what the threads of a job work with: sources, workers of devices, memory; and the tiles
 * that stay in memory. */
#ifndef QFZ_HANDS_H
#define QFZ_HANDS_H

#include "run.h"

/* While devices start, tiles are read, as many as may be kept.  What was opened before a failure
 * is closed by qfz_hands_close(). */
qfz_status qfz_hands_open(qfz_run *run, int n_hands, qfz_error *err);
void qfz_hands_close(qfz_run *run);

/* Room for a tile in run->kept if the budget has it: pixels stay NULL if not.  Any thread. */
qfz_status qfz_tile_keep(qfz_run *run, int64_t tile, qfz_error *err);

#endif
