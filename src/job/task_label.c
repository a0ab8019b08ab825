/* SPDX-License-Identifier: MIT */
/* task_label.c - labels of equal values, of alpha-components, and of cuts of a saliency raster.
 *
 *   pass 1   each tile: its regions, as if the tile were alone; its boundary summary (one component
 *            id per ring pixel); its border regions, and the number of inner regions in each row
 *   stitch   joins the border regions of all tiles, then numbers all regions
 *   pass 2   each tile: the regions again, their labels, and their region records
 *
 * No pixel needs its exterior: the label of a border region says which region of the raster it is.
 * A job that only counts ends after the stitching. */
#include "job/label_steps.h"
#include "job/task.h"
#include "job/task_steps.h"

static qfz_status summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                            qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(context->worker, NULL, &partition, err));
    QFZ_TRY(qfz_step_put_regions(run, tile, &partition, err));
    return qfz_step_summarise(run, context, tile, arg, err);
}

static bool is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    return qfz_step_is_summarised(run, tile, arg) && qfz_step_has_regions(run, tile);
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    qfz_outputs *const outputs = arg;
    uint32_t n_regions;
    QFZ_TRY(qfz_label_resolve(run, context, tile, outputs, &n_regions, err));
    QFZ_TRY(qfz_outputs_write(outputs, QFZ_MAIN, context, tile, context->out, err));
    return qfz_outputs_regions(outputs, context, tile, n_regions, err);
}

const qfz_task_passes qfz_task_label = {
    .steps =
        {{.phase = QFZ_PHASE_SUMMARISE, .share = 0.4, .is_done = is_summarised, .visit = summarise},
         {.phase = QFZ_PHASE_STITCH,
          .share = 0.05,
          .is_done = qfz_label_is_stitched,
          .together = qfz_label_stitch}},
    .n_steps = 2,
    .plan = qfz_label_plan,
    .resolve_share = 0.5,
    .resolve = resolve,
};
