/* SPDX-License-Identifier: MIT */
/* task_filter.c - the steps of the area filter, before the steps of the task itself.
 *
 *   pass     each tile: its boundary summary for the filter (links and mass events)
 *   stitch   the exterior of each tile, from which filter_stage.c finds the edges of level 0
 *
 * A raster of one tile needs no summary: its steps are done before they begin. */
#include "job/task.h"

#include "job/task_steps.h"

static qfz_status summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                            qfz_error *err)
{
    (void)arg;
    const int thread = (int)(context - run->contexts.list);
    return qfz_filter_stage_summarise(&run->filter, context, thread, tile, err);
}

static bool is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_stitch_has_summary(run->filter.stitch, tile);
}

static qfz_status summarise_all(qfz_run *run, double share, qfz_error *err)
{
    run->filter.is_current = true;
    const qfz_status st = qfz_tile_pass_run(run, share, is_summarised, summarise, NULL, err);
    run->filter.is_current = false;
    return st;
}

static bool is_stitched(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_stitch_has_exterior(run->filter.stitch, tile);
}

static qfz_status stitch(qfz_run *run, double share, qfz_error *err)
{
    return qfz_step_stitch_on_host(run, run->filter.stitch, "stitching the filter", share, err);
}

const qfz_task_step qfz_filter_steps[QFZ_FILTER_STEPS] = {
    {.phase = QFZ_PHASE_SUMMARISE,
     .share = 0.4,
     .is_done = is_summarised,
     .together = summarise_all},
    {.phase = QFZ_PHASE_STITCH, .share = 0.1, .is_done = is_stitched, .together = stitch},
};
