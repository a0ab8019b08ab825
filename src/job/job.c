/* SPDX-License-Identifier: MIT */
/* job.c - qfz_job_run(): checks of job and outputs, the task's passes, the report. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "job/alphas.h"
#include "job/comparison.h"
#include "job/defaults.h"
#include "job/output_specs.h"
#include "job/outputs_labels.h"
#include "job/raster_options.h"
#include "job/regions_run.h"
#include "job/regions_target.h"
#include "job/same_job.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"
#include "job/task_run.h"

/* The number of processes that write a part of the output each.  One process writes all of a layout
 * that is converted from the raster of edges. */
static int writers_of(const qfz_job *job, int n_parts)
{
    return qfz_outputs_has_layout(job) ? 1 : n_parts;
}

static qfz_status check_raster(const qfz_setup *setup, qfz_sink_spec spec, int n_writers,
                               qfz_source *source, qfz_error *err)
{
    const qfz_sink_options options = qfz_job_sink_options(setup->job, spec.path);
    qfz_outputs_place(&spec, setup, options.format, 0, n_writers);
    return qfz_sink_check(source, &options, &spec, err);
}

/* Checks everything about the outputs that is known before the first pass. */
static qfz_status check_outputs(const qfz_setup *setup, const qfz_ranks *ranks, qfz_source *source,
                                qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const int n_parts = job->phase == QFZ_PHASE_ALL ? ranks->n : job->n_parts;
    const int n_writers = writers_of(job, n_parts);
    if (job->count_only || job->phase == QFZ_PHASE_STITCH || setup->comparison) return QFZ_OK;
    if (job->attribute_table)
        QFZ_TRY(qfz_attributes_check(job->format, qfz_job_label_raster(job), err));
    QFZ_TRY(check_raster(setup, qfz_output_spec_main(setup), n_writers, source, err));
    QFZ_TRY(qfz_outputs_check_edges(setup, source, n_parts, err));
    if (job->labels)
        QFZ_TRY(check_raster(setup, qfz_output_spec_labels(setup, job->labels, 0), n_writers,
                             source, err));
    QFZ_TRY(qfz_label_outputs_check(job, source, qfz_outputs_labels_bytes(setup), err));
    const qfz_output_options options = qfz_job_output_options(job);
    if (job->forest) QFZ_TRY(qfz_table_check(source, &options, job->forest, QFZ_POINTS, err));
    if (!job->regions) return QFZ_OK;
    if (n_parts > 1 && qfz_object_is(job->regions))
        return qfz_fail(
            err, QFZ_EARG,
            "%s: several processes write their table to a local file; name one, or make "
            "the table of the labels with qfz regions",
            job->regions);
    return qfz_table_check(source, &options, job->regions, QFZ_POINTS, err);
}

static const qfz_task_passes *passes_of(qfz_task task)
{
    switch (task) {
    case QFZ_SIMPLIFY: return &qfz_task_simplify;
    case QFZ_SALIENCY: return &qfz_task_saliency;
    case QFZ_CURVE: return &qfz_task_curve;
    case QFZ_FOREST: return &qfz_task_forest;
    default: return &qfz_task_label;
    }
}

static void fill_report(const qfz_setup *setup, qfz_step_times *times, qfz_report *report)
{
    report->width = setup->info.w;
    report->height = setup->info.h;
    report->tiles = setup->tiling.n_x * setup->tiling.n_y;
    qfz_step_times_end(times, report);
    strncpy(report->engine, setup->engine->name, sizeof report->engine - 1);
    report->n_gpus = setup->choice.device_memory_bytes ? setup->choice.n_devices : 0;
    memcpy(report->warning, setup->choice.warning, sizeof report->warning);
}

/* -------------------------------------------------------------------------------------- the run */
typedef struct job_run {
    const qfz_job *job; /* own */
    qfz_comparison *comparison;
    qfz_regions_target target; /* of a job with a largest number of regions */
    qfz_job own; /* the caller's job; its outputs are named without symbolic links, and those of
                    several alphas for the first */
    char *outputs[QFZ_OUTPUTS_MAX];
    const qfz_ranks *ranks;
    qfz_setup setup;
    qfz_source *source;
    qfz_work_folder *work;
    qfz_run run;
    qfz_alphas alphas;
    qfz_step_times times;
} job_run;

/* All ranks use the tiles of rank 0, whatever memory each has. */
static qfz_status share_tiles(job_run *c, qfz_error *err)
{
    int64_t sides[2] = {c->setup.tiling.tile_w, c->setup.tiling.tile_h};
    QFZ_TRY(qfz_ranks_share(c->ranks, sides, sizeof sides, err));
    const qfz_status st = qfz_setup_retile(&c->setup, sides[0], sides[1], err);
    return qfz_ranks_agree(c->ranks, st, err);
}

static qfz_status prepare(job_run *c, qfz_error *err)
{
    const qfz_job given = c->own;
    qfz_status st = qfz_alphas_first_names(&c->own, c->outputs, err);
    if (st == QFZ_OK) st = qfz_setup_init(&c->setup, c->job, &c->source, err);
    if (st == QFZ_OK) st = qfz_parallel_check(c->setup.n_threads, c->setup.choice.n_devices, err);
    QFZ_TRY(qfz_ranks_agree(c->ranks, st, err));
    c->setup.comparison = c->comparison;
    if (c->ranks->n > 1) {
        QFZ_TRY(qfz_same_job_check(&c->setup, c->ranks, err));
        QFZ_TRY(share_tiles(c, err));
    }
    st = qfz_alphas_init(&c->alphas, &given, &c->setup, err);
    QFZ_TRY(qfz_ranks_agree(c->ranks, st, err));
    if (c->job->work) QFZ_TRY(qfz_work_folder_open(&c->work, &c->setup, c->ranks, c->source, err));
    return QFZ_OK;
}

/* Deletes what the parts have saved for the process that joins them; not before the job is recorded
 * as complete, as a process that is killed until then joins once more. */
static void delete_parts(const job_run *c)
{
    const int n_parts = c->work ? qfz_work_folder_n_parts(c->work) : c->ranks->n;
    if (c->ranks->rank > 0) return;
    qfz_outputs_delete_parts(c->job, n_parts);
    for (int64_t i = 0; i < c->alphas.n; i++)
        qfz_outputs_delete_parts(c->alphas.list[i].setup.job, n_parts);
}

/* *done: a resumed job is complete already; its counts are in *report. */
static qfz_status look_for_end(job_run *c, qfz_report *report, bool *done, qfz_error *err)
{
    qfz_outcome *const list = c->alphas.outcomes;
    *done = c->work && c->ranks->rank == 0 && qfz_work_folder_is_done(c->work, list, report);
    if (*done) qfz_work_folder_clean(c->work);
    if (*done) delete_parts(c);
    QFZ_TRY(qfz_ranks_share(c->ranks, done, sizeof *done, err));
    for (int64_t i = 0; i <= c->alphas.n; i++)
        QFZ_TRY(qfz_ranks_share(c->ranks, &list[i].regions, sizeof list[i].regions, err));
    return qfz_ranks_share(c->ranks, report, sizeof *report, err);
}

/* Outputs that a killed run of the same job left under their final names may be replaced. */
static qfz_status check_names(job_run *c, qfz_error *err)
{
    c->own.overwrite |= c->work && qfz_work_folder_is_finishing(c->work);
    qfz_alphas_follow(&c->alphas, &c->setup);
    qfz_status st = check_outputs(&c->setup, c->ranks, c->source, err);
    for (int64_t i = 0; i < c->alphas.n && st == QFZ_OK; i++)
        st = check_outputs(&c->alphas.list[i].setup, c->ranks, c->source, err);
    st = qfz_ranks_agree(c->ranks, st, err);
    if (st != QFZ_OK && c->work) qfz_work_folder_forget(c->work);
    return st;
}

/* A job with a largest number of regions begins again with the alpha that it finds, in the same
 * tiles.  Its source is closed meanwhile: the memory is the curve's. */
static qfz_status find_alpha(job_run *c, qfz_error *err)
{
    const qfz_tiling t = c->setup.tiling;
    if (c->own.regions_target == 0) return QFZ_OK;
    qfz_source_close(c->source);
    c->source = NULL;
    qfz_setup_fini(&c->setup);
    qfz_step_times_begin(&c->times, "curve");
    QFZ_TRY(qfz_regions_target_find(&c->target, &c->own, err));
    qfz_status st = qfz_setup_init(&c->setup, c->job, &c->source, err);
    if (st == QFZ_OK) st = qfz_setup_retile(&c->setup, t.tile_w, t.tile_h, err);
    return qfz_ranks_agree(c->ranks, st, err);
}

/* Tries smaller tiles, fewer threads, then the CPU, where memory or devices do not suffice. */
static qfz_status open_run(job_run *c, qfz_error *err)
{
    for (;;) {
        qfz_status st = qfz_setup_check_device(&c->setup, err);
        if (st == QFZ_OK)
            st = qfz_run_open(&c->run, &c->setup, c->ranks, c->source, c->work, &c->times, err);
        if (st != QFZ_ENOMEM && st != QFZ_EGPU) return st;
        QFZ_TRY(qfz_setup_shrink(&c->setup, st, err));
    }
}

static qfz_status run_passes(job_run *c, qfz_report *report, qfz_error *err)
{
    qfz_status st = open_run(c, err);
    if (st == QFZ_OK) st = qfz_alphas_open(&c->alphas, &c->run, err);
    QFZ_TRY(qfz_ranks_agree(c->ranks, st, err));
    QFZ_TRY(qfz_task_run(passes_of(c->job->task), &c->run, &report->next, err));
    qfz_alphas_count(&c->alphas, &c->run);
    report->regions = c->run.count.total;
    report->pixels = c->run.pixels;
    report->wide_pixels = c->run.wide;
    if (c->own.regions_target > 0) report->alpha = c->own.criterion.alpha;
    const bool is_complete = report->next == QFZ_PHASE_ALL && c->job->task != QFZ_CURVE;
    if (c->work)
        QFZ_TRY(is_complete ? qfz_work_folder_end(c->work, c->alphas.outcomes, report, err)
                            : qfz_work_folder_sync(c->work, err));
    if (is_complete) delete_parts(c);
    return QFZ_OK;
}

static void move_curve(qfz_run *run, qfz_curve *curve)
{
    qfz_api_write(curve, &run->curve, sizeof run->curve);
    run->curve = (qfz_curve){0};
}

static qfz_status run(const qfz_job *job, qfz_comparison *comparison, qfz_report *report,
                      qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    job_run c = {.own = *job, .comparison = comparison, .ranks = job->ranks ? job->ranks : &alone};
    qfz_report found = {0};
    bool done;
    qfz_status st;
    c.job = &c.own;
    qfz_step_times_begin(&c.times, "start");
    QFZ_TRY_OR(st, cleanup, prepare(&c, err));
    QFZ_TRY_OR(st, cleanup, look_for_end(&c, &found, &done, err));
    if (!done) {
        QFZ_TRY_OR(st, cleanup, check_names(&c, err));
        QFZ_TRY_OR(st, cleanup, find_alpha(&c, err));
        QFZ_TRY_OR(st, cleanup, run_passes(&c, &found, err));
    }
    const qfz_progress all = {.struct_size = sizeof all, .done = 1, .step = "end"};
    if (job->progress) (void)job->progress(&all, job->progress_arg);
    fill_report(&c.setup, &c.times, &found);
    *report = found;
    if (job->task == QFZ_CURVE && found.next == QFZ_PHASE_ALL) move_curve(&c.run, job->curve);
    for (int64_t i = 0; i < job->n_alphas && job->alpha_regions; i++)
        job->alpha_regions[i] = c.alphas.outcomes[i].regions;

cleanup:
    if (st != QFZ_OK && c.work)
        (void)qfz_work_folder_sync(c.work, err); /* err holds the reason already */
    qfz_alphas_close(&c.alphas);
    qfz_run_close(&c.run);
    qfz_work_folder_close(c.work);
    qfz_source_close(c.source);
    qfz_setup_fini(&c.setup);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        free(c.outputs[i]);
    return st;
}

qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    qfz_error own;
    qfz_job complete;
    qfz_report found;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_job_read(&complete, job, err));
    if (report) QFZ_TRY(qfz_api_check(report, sizeof *report, "qfz_report", err));
    if (complete.task == QFZ_CURVE)
        QFZ_TRY(qfz_api_check(complete.curve, sizeof *complete.curve, "qfz_curve", err));
    QFZ_TRY(qfz_alphas_take(&complete, err));
    QFZ_TRY(qfz_regions_target_take(&complete, err));
    QFZ_TRY(complete.task == QFZ_REGIONS ? qfz_regions_run(&complete, &found, err)
                                         : run(&complete, NULL, &found, err));
    if (report) qfz_api_write(report, &found, sizeof found);
    return QFZ_OK;
}

qfz_status qfz_job_compare(const qfz_job *job, qfz_comparison *comparison, qfz_report *report,
                           qfz_error *err)
{
    return run(job, comparison, report, err);
}
