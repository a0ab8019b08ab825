/* SPDX-License-Identifier: MIT */
/* job.c - the public way in for files: checks, then the task's passes, then a report. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "job/identity.h"
#include "core/memory.h"
#include "job/passes.h"
#include "job/work.h"

const char *qfz_version(void)
{
    return QFZ_VERSION;
}

qfz_job qfz_job_default(qfz_task task)
{
    return (qfz_job){.task = task,
                     .criterion = {.connectivity = 4, .distance = QFZ_L1},
                     .retries = 3,
                     .retry_wait_s = 0.01};
}

/* What dst will be, as far as it is known before the first pass. */
static qfz_sink_spec main_spec(const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    switch (job->task) {
    case QFZ_SIMPLIFY: return qfz_spec_painted(setup, job->dst);
    case QFZ_SALIENCY: return qfz_spec_saliency(setup, job->dst, job->layout);
    default: return qfz_spec_labels(setup, job->dst, 0);
    }
}

/* Processes that write a part each; of a layout, which is made of all edges, one writes all. */
static int writers_of(const qfz_job *job, int n_parts)
{
    return qfz_outputs_has_layout(job) ? 1 : n_parts;
}

/* Everything about the outputs that can be known before the first pass. */
static qfz_status check_outputs(const qfz_setup *setup, const qfz_ranks *ranks, qfz_source *source,
                                qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const int n_parts = job->phase == QFZ_PHASE_ALL ? ranks->n : job->n_parts;
    const int n_writers = writers_of(job, n_parts);
    if (job->count_only || job->phase == QFZ_PHASE_STITCH) return QFZ_OK;
    qfz_sink_spec spec = main_spec(setup);
    qfz_outputs_place(&spec, setup, 0, n_writers);
    QFZ_TRY(qfz_sink_check(source, job, &spec, err));
    QFZ_TRY(qfz_outputs_check_edges(setup, source, n_parts, err));
    if (job->labels) {
        spec = qfz_spec_labels(setup, job->labels, 0);
        qfz_outputs_place(&spec, setup, 0, n_writers);
        QFZ_TRY(qfz_sink_check(source, job, &spec, err));
    }
    if (!job->regions) return QFZ_OK;
    return qfz_table_check(source, job, job->regions,
                           job->task == QFZ_CUT ? 0 : setup->info.n_bands, err);
}

static const qfz_passes *passes_of(qfz_task task)
{
    switch (task) {
    case QFZ_SIMPLIFY: return &qfz_simplify_passes;
    case QFZ_SALIENCY: return &qfz_saliency_passes;
    default: return &qfz_label_passes;
    }
}

static int64_t peak_rss_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

static void fill_report(const qfz_setup *setup, qfz_steps *steps, qfz_report *report)
{
    report->width = setup->info.w;
    report->height = setup->info.h;
    report->tiles = setup->tiling.n_x * setup->tiling.n_y;
    qfz_steps_end(steps, report);
    report->seconds = 0;
    for (int i = 0; i < report->n_steps; i++)
        report->seconds += report->steps[i].seconds;
    report->peak_rss_bytes = peak_rss_bytes();
    strncpy(report->engine, setup->engine->name, sizeof report->engine - 1);
    report->n_gpus = setup->choice.device_memory_bytes ? setup->choice.n_devices : 0;
    memcpy(report->warning, setup->choice.warning, sizeof report->warning);
}

/* What all ranks have found together. */
static qfz_status add_up(qfz_run *run, qfz_report *report, qfz_error *err)
{
    uint64_t own, before;
    qfz_status st = qfz_stitch_pixels(run->stitch, &own, err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    report->regions = run->count.total;
    return qfz_ranks_sum(run->ranks, own, &before, &report->pixels, err);
}

/* ---------------------------------------------------------------------------------------- the run
 */
typedef struct context {
    const qfz_job *job;
    const qfz_ranks *ranks;
    qfz_setup setup;
    qfz_source *source;
    qfz_work *work;
    qfz_run run;
    qfz_steps steps;
} context;

/* Tiles are the same for all ranks, whatever memory each has. */
static qfz_status settle_tiles(context *c, qfz_error *err)
{
    int64_t sides[2] = {c->setup.tiling.tile_w, c->setup.tiling.tile_h};
    QFZ_TRY(qfz_ranks_share(c->ranks, sides, sizeof sides, err));
    const qfz_status st = qfz_setup_retile(&c->setup, sides[0], sides[1], err);
    return qfz_ranks_agree(c->ranks, st, err);
}

static qfz_status compare_with_first(context *c, const char *here, const char *first,
                                     bool first_works, qfz_error *err)
{
    qfz_difference d;
    if (qfz_identity_differs(first, here, &d))
        return qfz_fail(err, QFZ_EARG,
                        "the processes of one job were given different ones: the %s of rank 0 is "
                        "\"%s\", that of rank %d is \"%s\"",
                        d.what, d.there, c->ranks->rank, d.here);
    if (first_works == (c->job->work != NULL)) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "a folder of work must be named to all processes of a job");
}

/* A launcher may have been used to start many jobs at a time; these would wait for each other. */
static qfz_status check_same_job(context *c, qfz_error *err)
{
    char *here = NULL, *first = NULL;
    bool first_works = c->job->work != NULL;
    qfz_status st = qfz_identity_make(&here, &c->setup, NULL, c->ranks->n, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(c->ranks, st, err));
    int64_t bytes = (int64_t)strlen(here) + 1;
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(c->ranks, &bytes, sizeof bytes, err));
    st = QFZ_NEW(&first, bytes, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(c->ranks, st, err));
    if (c->ranks->rank == 0) memcpy(first, here, (size_t)bytes);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(c->ranks, first, bytes, err));
    QFZ_TRY_OR(st, cleanup, qfz_ranks_share(c->ranks, &first_works, sizeof first_works, err));
    st = compare_with_first(c, here, first, first_works, err);
    st = qfz_ranks_agree(c->ranks, st, err);

cleanup:
    free(here);
    free(first);
    return st;
}

static qfz_status prepare(context *c, qfz_error *err)
{
    const qfz_status st = qfz_setup_init(&c->setup, c->job, &c->source, err);
    QFZ_TRY(qfz_ranks_agree(c->ranks, st, err));
    if (c->ranks->n > 1) {
        QFZ_TRY(check_same_job(c, err));
        QFZ_TRY(settle_tiles(c, err));
    }
    if (c->job->work) QFZ_TRY(qfz_work_open(&c->work, &c->setup, c->ranks, c->source, err));
    return QFZ_OK;
}

/* Is this a job that is resumed although it came to its end? */
static qfz_status look_for_end(context *c, qfz_report *report, bool *done, qfz_error *err)
{
    *done = c->work && c->ranks->rank == 0 && qfz_work_is_done(c->work, c->job, report);
    QFZ_TRY(qfz_ranks_share(c->ranks, done, sizeof *done, err));
    return qfz_ranks_share(c->ranks, report, sizeof *report, err);
}

/* What a killed run of this very job has left under its names may be replaced. */
static qfz_status check_names(context *c, qfz_error *err)
{
    qfz_job own = *c->job;
    qfz_setup setup = c->setup;
    own.overwrite |= c->work && qfz_work_is_finishing(c->work);
    setup.job = &own;
    qfz_status st = check_outputs(&setup, c->ranks, c->source, err);
    st = qfz_ranks_agree(c->ranks, st, err);
    if (st != QFZ_OK && c->work) qfz_work_forget(c->work);
    return st;
}

/* What does not fit the devices, or does not start, is done in smaller tiles, or elsewhere. */
static qfz_status open_run(context *c, qfz_error *err)
{
    for (;;) {
        qfz_status st = qfz_setup_check_device(&c->setup, err);
        if (st == QFZ_OK) st = qfz_run_open(&c->run, &c->setup, c->ranks, c->source, c->work, err);
        if (st != QFZ_ENOMEM && st != QFZ_EGPU) return st;
        QFZ_TRY(qfz_setup_shrink(&c->setup, st, err));
    }
}

static qfz_status go_through(context *c, qfz_report *report, qfz_error *err)
{
    const qfz_status st = open_run(c, err);
    QFZ_TRY(qfz_ranks_agree(c->ranks, st, err));
    c->run.steps = &c->steps;
    QFZ_TRY(qfz_passes_run(passes_of(c->job->task), &c->run, &report->next, err));
    QFZ_TRY(add_up(&c->run, report, err));
    if (!c->work) return QFZ_OK;
    if (report->next == QFZ_PHASE_ALL) return qfz_work_end(c->work, c->job, report, err);
    return qfz_work_sync(c->work, err);
}

qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    context c = {.job = job, .ranks = job->ranks ? job->ranks : &alone};
    qfz_report found = {0};
    bool done;
    qfz_status st;
    err->status = QFZ_OK;
    qfz_steps_begin(&c.steps, "start");
    QFZ_TRY_OR(st, cleanup, prepare(&c, err));
    QFZ_TRY_OR(st, cleanup, look_for_end(&c, &found, &done, err));
    if (!done) {
        QFZ_TRY_OR(st, cleanup, check_names(&c, err));
        QFZ_TRY_OR(st, cleanup, go_through(&c, &found, err));
    }
    const qfz_progress all = {.done = 1, .step = "end"};
    if (job->progress) (void)job->progress(&all, job->progress_arg);
    fill_report(&c.setup, &c.steps, &found);
    *report = found;

cleanup:
    if (st != QFZ_OK && c.work) (void)qfz_work_sync(c.work, err); /* err holds the reason already */
    qfz_run_close(&c.run);
    qfz_work_close(c.work);
    qfz_source_close(c.source);
    qfz_setup_fini(&c.setup);
    return st;
}

/* ------------------------------------------------------------------------------------------- plan
 */
static const char *out_type_name(qfz_out_type type)
{
    switch (type) {
    case QFZ_OUT_U8: return "Byte";
    case QFZ_OUT_I8: return "Int8";
    case QFZ_OUT_U16: return "UInt16";
    case QFZ_OUT_I16: return "Int16";
    case QFZ_OUT_U32: return "UInt32";
    case QFZ_OUT_I32: return "Int32";
    case QFZ_OUT_U64: return "UInt64";
    case QFZ_OUT_F32: return "Float32";
    case QFZ_OUT_F64: return "Float64";
    }
    return "";
}

static qfz_status plan_raster(qfz_plan *plan, const qfz_job *job, const qfz_sink_spec *spec,
                              qfz_error *err)
{
    const char *format;
    QFZ_TRY(qfz_output_format(job, spec->path, &format, err));
    const int i = plan->n_outputs++;
    plan->outputs[i].path = spec->path;
    plan->outputs[i].n_bands = spec->n_bands;
    plan->outputs[i].width = spec->w;
    plan->outputs[i].height = spec->h;
    strncpy(plan->outputs[i].format, format, sizeof plan->outputs[i].format - 1);
    strncpy(plan->outputs[i].type, job->type ? job->type : out_type_name(spec->type),
            sizeof plan->outputs[i].type - 1);
    return QFZ_OK;
}

static qfz_status plan_outputs(qfz_plan *plan, const qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    if (job->count_only) return QFZ_OK;
    qfz_sink_spec spec = main_spec(setup);
    QFZ_TRY(plan_raster(plan, job, &spec, err));
    if (job->labels) {
        spec = qfz_spec_labels(setup, job->labels, 0);
        QFZ_TRY(plan_raster(plan, job, &spec, err));
    }
    if (job->regions) {
        const int i = plan->n_outputs++;
        plan->outputs[i].path = job->regions;
        strncpy(plan->outputs[i].format, "table", sizeof plan->outputs[i].format - 1);
    }
    return QFZ_OK;
}

/* What a border pixel costs in summaries and answers, over all levels (the levels above the
 * tiles add as much again): values, validity, and two links or one border_region and its numbers.
 */
static int64_t border_px_bytes(const qfz_setup *setup)
{
    const int64_t value = (int64_t)qfz_type_bytes(setup->info.type) * setup->info.n_bands + 1;
    switch (setup->kind) {
    case QFZ_LEVELS: return 2 * (value + 12 + 12 + 5 * qfz_n_dirs(&setup->rule));
    case QFZ_OMEGA: return 2 * (value + 12 + 8 + 2 * value + 8);
    default: return 2 * (value + 4 + 4) + 16;
    }
}

static int64_t border_bytes(const qfz_setup *setup, int64_t n_tiles)
{
    const qfz_tiling *const t = &setup->tiling;
    return n_tiles * qfz_ring_size(t->tile_h, t->tile_w) * border_px_bytes(setup);
}

/* Processes have whole rows of tiles; some have one row more than others. */
static void plan_ranks(qfz_plan *plan, const qfz_setup *setup)
{
    const qfz_ranks alone = {.n = 1, .n_local = 1};
    const qfz_ranks *const ranks = setup->job->ranks ? setup->job->ranks : &alone;
    const qfz_tiling *const t = &setup->tiling;
    const int64_t rows = (t->n_y - 1) / ranks->n + 1, h = rows * t->tile_h;
    plan->n_ranks = ranks->n;
    plan->n_local_ranks = ranks->n_local;
    plan->rank_tiles = rows * t->n_x;
    plan->rank_pixels = (h < t->h ? h : t->h) * t->w;
    plan->rank_border_bytes = border_bytes(setup, plan->rank_tiles);
    plan->rank_seconds = qfz_setup_seconds(setup, plan->rank_pixels);
}

static int64_t spec_bytes(const qfz_sink_spec *spec)
{
    const int64_t px_bytes = (int64_t)qfz_out_type_bytes(spec->type) * spec->n_bands;
    return spec->w * spec->h * (px_bytes + (spec->has_mask ? 1 : 0));
}

/* Layouts of saliency are made of edges, which are what the folder holds. */
static void plan_work(qfz_plan *plan, const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    plan->work_bytes = plan->border_bytes;
    if (job->count_only) return;
    qfz_sink_spec spec = job->task == QFZ_SALIENCY ? qfz_spec_saliency(setup, job->dst, QFZ_EDGES)
                                                   : main_spec(setup);
    plan->work_bytes += spec_bytes(&spec);
    if (job->labels) {
        spec = qfz_spec_labels(setup, job->labels, 0);
        plan->work_bytes += spec_bytes(&spec);
    }
    if (job->regions)
        plan->record_bytes =
            qfz_record_words(setup->info.type, setup->info.n_bands) * (int64_t)sizeof(uint64_t);
}

qfz_status qfz_job_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    qfz_setup setup = {0};
    qfz_source *source = NULL;
    err->status = QFZ_OK;
    QFZ_TRY(qfz_setup_init(&setup, job, &source, err));
    const qfz_tiling *const t = &setup.tiling;
    *plan = (qfz_plan){.width = setup.info.w,
                       .height = setup.info.h,
                       .n_bands = setup.info.n_bands,
                       .type = setup.info.type,
                       .tile_w = t->tile_w,
                       .tile_h = t->tile_h,
                       .tiles_x = t->n_x,
                       .tiles_y = t->n_y,
                       .passes = setup.passes,
                       .n_threads = setup.n_threads,
                       .memory_bytes = setup.memory_bytes,
                       .tile_bytes = setup.worker_bytes * setup.n_threads,
                       .cache_bytes = setup.cache_bytes,
                       .border_bytes = border_bytes(&setup, t->n_x * t->n_y),
                       .store_bytes = setup.store_bytes};
    strncpy(plan->engine, setup.engine->name, sizeof plan->engine - 1);
    plan->n_gpus = setup.choice.device_memory_bytes ? setup.choice.n_devices : 0;
    plan->gpu_memory_bytes = setup.choice.device_memory_bytes;
    const qfz_status st = plan_outputs(plan, &setup, err);
    plan_ranks(plan, &setup);
    plan_work(plan, &setup);
    qfz_source_close(source);
    qfz_setup_fini(&setup);
    return st;
}
