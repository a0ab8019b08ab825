/* SPDX-License-Identifier: MIT */
/* task_forest.c - the hierarchy as a table: labels of the regions of level 0, and the edges of the
 * minimum spanning forest between them.
 *
 *   filter   the steps of task_filter.c, with a least area of one pixel where the job has none: the
 *            exterior of each tile says which edges are in the forest
 *   pass 1   each tile: its regions of level 0, as if the tile were alone; its boundary summary;
 *            which border region each pixel of its ring is in
 *   stitch   joins the border regions of all tiles, then numbers all regions
 *   pass 2   each tile: the labels; the edges of the forest that start from its pixels, with the
 *            labels of their two ends */
#include "job/label_steps.h"
#include "job/task.h"
#include "job/task_steps.h"

static qfz_status put_summary(qfz_run *run, qfz_thread_context *context, int64_t tile,
                              qfz_error *err)
{
    qfz_summary summary = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_summary_init(&summary, context->box, &run->setup->rule, err));
    QFZ_TRY_OR(st, cleanup, run->setup->engine->summarise(context->worker, &summary, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_stitch_put_ring(run->stitch, tile, summary.border_region, summary.n_ring, err));
    st = qfz_stitch_put(run->stitch, tile, &summary, err);

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

static qfz_status summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                            qfz_error *err)
{
    (void)arg;
    qfz_partition partition;
    QFZ_TRY(run->setup->engine->partition(context->worker, NULL, &partition, err));
    QFZ_TRY(qfz_step_put_regions(run, tile, &partition, err));
    if (qfz_stitch_wants_summaries(run->stitch)) QFZ_TRY(put_summary(run, context, tile, err));
    return qfz_step_put_pixels(run, context, tile, err);
}

static bool is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    return qfz_step_is_summarised(run, tile, arg) && qfz_step_has_regions(run, tile) &&
           qfz_stitch_has_ring(run->stitch, tile);
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    qfz_outputs *const outputs = arg;
    uint32_t n_regions;
    QFZ_TRY(qfz_label_resolve(run, context, tile, outputs, &n_regions, err));
    QFZ_TRY(
        qfz_outputs_forest(outputs, context, tile, context->out, qfz_label_is_wide(outputs), err));
    QFZ_TRY(qfz_outputs_write(outputs, QFZ_MAIN, context, tile, context->out, err));
    return qfz_outputs_regions(outputs, context, tile, n_regions, err);
}

const qfz_task_passes qfz_task_forest = {
    .steps = {{.phase = QFZ_PHASE_SUMMARISE,
               .share = 0.25,
               .is_done = is_summarised,
               .visit = summarise},
              {.phase = QFZ_PHASE_STITCH,
               .share = 0.05,
               .is_done = qfz_label_is_stitched,
               .together = qfz_label_stitch}},
    .n_steps = 2,
    .plan = qfz_label_plan,
    .resolve_share = 0.7,
    .resolve = resolve,
};
