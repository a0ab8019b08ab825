/* SPDX-License-Identifier: MIT */
/* tile_pass.h - one pass over the tiles of this process: read or resume each tile, visit it, keep
 * its result for the next pass. */
#ifndef QFZ_TILE_PASS_H
#define QFZ_TILE_PASS_H

#include "job/run.h"

/* Processes the tile that is loaded in the context.  Called by the context's thread. */
typedef qfz_status (*qfz_tile_visit_fn)(qfz_run *run, qfz_thread_context *context, int64_t tile,
                                        void *arg, qfz_error *err);

/* True if the tile needs no visit in this pass: a journal holds what the visit would find. */
typedef bool (*qfz_tile_is_done_fn)(qfz_run *run, int64_t tile, void *arg);

/* Calls visit(arg) for each tile of this process for which is_done(arg) is false, on all threads,
 * each tile loaded into the engine.  share: of the job's run time.  Collective: every rank returns
 * the same status. */
qfz_status qfz_tile_pass_run(qfz_run *run, double share, qfz_tile_is_done_fn is_done,
                             qfz_tile_visit_fn visit, void *arg, qfz_error *err);

#endif
