/* SPDX-License-Identifier: MIT */
/* tiles.h - tiles that stay in memory between the passes of a job, as far as the budget has room:
 * their pixels, and what an engine has found out of them.
 *
 * Pixels come first, since a byte of them saves more time: what was found is kept in what the
 * pixels of all tiles leave of the budget. */
#ifndef QFZ_TILES_H
#define QFZ_TILES_H

#include "job/run.h"

qfz_status qfz_tiles_open(qfz_run *run, qfz_error *err);
void qfz_tiles_close(qfz_run *run);

/* Room for a tile's pixels in run->kept if the budget has it: they stay NULL if not.  Any thread.
 */
qfz_status qfz_tile_keep(qfz_run *run, int64_t tile, qfz_error *err);
void qfz_tile_drop(qfz_run *run, int64_t tile);

/* Keeps what the context's worker has found out of the tile, if there is room and a pass to come.
 * Any thread, as all that follow. */
qfz_status qfz_tile_keep_result(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                                qfz_error *err);

/* Loads the context's tile with what was kept of it; false if that was nothing of use. */
bool qfz_tile_resume(qfz_run *run, const qfz_thread_context *context, int64_t tile);

#endif
