/* SPDX-License-Identifier: MIT */
/* task_curve.c - the number of alpha-components for every alpha.
 *
 *   pass 1   each tile: its boundary summary (links), and the levels of the joins of its minimum
 *            spanning forest that are settled in the tile
 *   stitch   the joins that are settled in groups; the sum over all tiles and groups
 *
 * No tile needs its exterior.  There is no last pass; the work folder keeps its journals, so that a
 * resumed job has its result from them. */
#include "job/task.h"
#include "job/task_steps.h"

static qfz_status summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                            qfz_error *err)
{
    (void)arg;
    const bool alone = !qfz_stitch_wants_summaries(run->stitch);
    const qfz_histogram *settled;
    qfz_summary summary = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_summary_init(&summary, context->box, &run->setup->rule, err));
    QFZ_TRY_OR(st, cleanup,
               run->setup->engine->joins(context->worker, alone ? NULL : &summary, &settled, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_put_joins(run->stitch, tile, settled, err));
    if (!alone) QFZ_TRY_OR(st, cleanup, qfz_stitch_put(run->stitch, tile, &summary, err));
    st = qfz_step_put_pixels(run, context, tile, err);

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

static bool is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    return qfz_step_is_summarised(run, tile, arg) && qfz_stitch_has_joins(run->stitch, tile);
}

static qfz_status stitch(qfz_run *run, double share, qfz_error *err)
{
    QFZ_TRY(qfz_step_stitch(run, share, err));
    return qfz_stitch_add_joins(run->stitch, err);
}

static bool is_stitched(qfz_run *run, int64_t tile, void *arg)
{
    (void)tile;
    (void)arg;
    return qfz_stitch_are_joins_added(run->stitch);
}

const qfz_task_passes qfz_task_curve = {
    .steps =
        {{.phase = QFZ_PHASE_SUMMARISE,
          .share = 0.95,
          .is_done = is_summarised,
          .visit = summarise},
         {.phase = QFZ_PHASE_STITCH, .share = 0.05, .is_done = is_stitched, .together = stitch}},
    .n_steps = 2,
};
