/* SPDX-License-Identifier: MIT */
/* label.c - components of equal values, alpha-components, and cuts of a hierarchy: two passes. */
#include "job/passes.h"
#include "job/visits.h"

static qfz_status summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                            qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(context->worker, NULL, &partition, err));
    QFZ_TRY(qfz_visit_put_regions(run, tile, &partition, err));
    return qfz_visit_summarise(run, context, tile, arg, err);
}

static bool is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    return qfz_visit_is_summarised(run, tile, arg) && qfz_visit_has_regions(run, tile);
}

static qfz_status stitch(qfz_run *run, double share, qfz_error *err)
{
    QFZ_TRY(qfz_run_solve(run, share, err));
    return qfz_visit_number_all(run, err);
}

static bool is_stitched(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_visit_is_numbered(run, tile);
}

static void plan(const qfz_run *run, qfz_outputs *outputs)
{
    outputs->n_rasters = 1;
    outputs->specs[QFZ_MAIN] = qfz_spec_labels(run->setup, run->setup->job->dst, run->count.total);
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    qfz_outputs *const out = arg;
    const bool wide = out->specs[QFZ_MAIN].type == QFZ_OUT_U64;
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(context->worker, NULL, &partition, err));
    QFZ_TRY(qfz_visit_number(run, context, tile, &partition, err));
    QFZ_TRY(engine->labels(context->worker, wide, context->out, err));
    QFZ_TRY(qfz_outputs_write(out, QFZ_MAIN, context, tile, context->out, err));
    return qfz_outputs_regions(out, context, tile, partition.n_regions, err);
}

const qfz_passes qfz_label_passes = {
    .steps =
        {{.phase = QFZ_PHASE_SUMMARISE, .share = 0.4, .is_done = is_summarised, .visit = summarise},
         {.phase = QFZ_PHASE_STITCH, .share = 0.05, .is_done = is_stitched, .together = stitch}},
    .n_steps = 2,
    .plan = plan,
    .resolve_share = 0.5,
    .resolve = resolve,
};
