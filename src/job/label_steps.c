/* SPDX-License-Identifier: MIT */
#include "job/label_steps.h"

#include "job/output_specs.h"
#include "job/task_steps.h"

qfz_status qfz_label_stitch(qfz_run *run, double share, qfz_error *err)
{
    QFZ_TRY(qfz_step_stitch(run, share, err));
    return qfz_step_number_all(run, err);
}

bool qfz_label_is_stitched(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_step_is_numbered(run, tile);
}

void qfz_label_plan(const qfz_run *run, qfz_outputs *outputs)
{
    outputs->n_rasters = 1;
    outputs->specs[QFZ_MAIN] =
        qfz_output_spec_labels(run->setup, run->setup->job->dst, run->count.total);
}

bool qfz_label_is_wide(const qfz_outputs *outputs)
{
    return outputs->specs[QFZ_MAIN].type == QFZ_OUT_U64;
}

qfz_status qfz_label_resolve(qfz_run *run, qfz_thread_context *context, int64_t tile,
                             const qfz_outputs *outputs, uint32_t *n_regions, qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(context->worker, NULL, &partition, err));
    *n_regions = partition.n_regions;
    QFZ_TRY(qfz_step_number_tile(run, context, tile, &partition, err));
    return engine->labels(context->worker, qfz_label_is_wide(outputs), context->out, err);
}
