/* SPDX-License-Identifier: MIT */
#include "job/task_steps.h"

/* Groups with fewer vertices are stitched on the host: moving them to a device costs more. */
enum { DEVICE_GROUP_VERTICES = 1 << 14 };

static uint64_t count_valid(const qfz_image *tile)
{
    const int64_t n = tile->h * tile->w;
    uint64_t n_valid = 0;
    if (!tile->valid) return (uint64_t)n;
    for (int64_t i = 0; i < n; i++)
        n_valid += tile->valid[i];
    return n_valid;
}

qfz_status qfz_step_put_pixels(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                               qfz_error *err)
{
    return qfz_stitch_put_pixels(run->stitch, tile, count_valid(&context->tile), err);
}

static qfz_status put_summary(qfz_run *run, qfz_thread_context *context, int64_t tile,
                              qfz_error *err)
{
    qfz_summary summary = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_summary_init(&summary, context->box, &run->setup->rule, err));
    QFZ_TRY_OR(st, cleanup, run->setup->engine->summarise(context->worker, &summary, err));
    st = qfz_stitch_put(run->stitch, tile, &summary, err);

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

qfz_status qfz_step_summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                              qfz_error *err)
{
    (void)arg;
    if (qfz_stitch_wants_summaries(run->stitch)) QFZ_TRY(put_summary(run, context, tile, err));
    return qfz_step_put_pixels(run, context, tile, err);
}

bool qfz_step_is_summarised(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_stitch_has_summary(run->stitch, tile) && qfz_stitch_has_pixels(run->stitch, tile);
}

bool qfz_step_is_stitched(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_stitch_has_exterior(run->stitch, tile);
}

static int stitch_progress(double done, void *arg)
{
    qfz_job_progress *const progress = arg;
    qfz_error ignored = {.status = QFZ_OK};
    return qfz_progress_advance_to(progress, done, &ignored) != QFZ_OK;
}

qfz_status qfz_step_stitch_on_host(qfz_run *run, qfz_stitch *stitch, const char *step, double share,
                                   qfz_error *err)
{
    qfz_progress_begin(run->progress, step, share, 0);
    return qfz_stitch_solve(stitch, stitch_progress, run->progress, err);
}

/* Workers of several alphas have the rule of one of them. */
qfz_status qfz_step_stitch(qfz_run *run, double share, qfz_error *err)
{
    const int n = run->setup->job->n_alphas > 0 ? 0 : run->contexts.n;
    qfz_stitch_use(run->stitch, run->setup->engine, run->contexts.workers, n,
                   DEVICE_GROUP_VERTICES);
    return qfz_step_stitch_on_host(run, run->stitch, "stitching", share, err);
}

qfz_status qfz_step_put_regions(qfz_run *run, int64_t tile, const qfz_partition *partition,
                                qfz_error *err)
{
    return run->setup->job->count_only
               ? qfz_stitch_put_count(run->stitch, tile, partition, err)
               : qfz_stitch_put_partition(run->stitch, tile, partition, err);
}

bool qfz_step_has_regions(qfz_run *run, int64_t tile)
{
    return run->setup->job->count_only ? qfz_stitch_has_count(run->stitch, tile)
                                       : qfz_stitch_has_partition(run->stitch, tile);
}

qfz_status qfz_step_number_all(qfz_run *run, qfz_error *err)
{
    return run->setup->job->count_only ? qfz_stitch_add_counts(run->stitch, err)
                                       : qfz_stitch_number(run->stitch, err);
}

bool qfz_step_is_numbered(qfz_run *run, int64_t tile)
{
    const bool has_labels = qfz_run_owns_tiles(run) && !run->setup->job->count_only;
    return has_labels ? qfz_stitch_is_numbered(run->stitch, tile)
                      : qfz_stitch_is_counted(run->stitch);
}

qfz_status qfz_step_number_tile(qfz_run *run, qfz_thread_context *context, int64_t tile,
                                const qfz_partition *partition, qfz_error *err)
{
    qfz_numbers numbers;
    QFZ_TRY(qfz_stitch_numbers(run->stitch, tile, partition, &numbers, err));
    const qfz_status st = run->setup->engine->number(context->worker, &numbers, err);
    qfz_numbers_fini(&numbers);
    return st;
}
