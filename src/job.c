/* SPDX-License-Identifier: MIT */
/* job.c - the public way in for files: checks, then the task's passes, then a report. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "run.h"

const char *qfz_version(void)
{
    return QFZ_VERSION;
}

qfz_job qfz_job_default(qfz_task task)
{
    return (qfz_job){.task = task, .method = {.connectivity = 4, .distance = QFZ_L1}};
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

/* Everything about the outputs that can be known before the first pass. */
static qfz_status check_outputs(const qfz_setup *setup, const qfz_source *source, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    qfz_sink_spec spec = main_spec(setup);
    QFZ_TRY(qfz_sink_check(source, job, &spec, err));
    if (job->labels) {
        spec = qfz_spec_labels(setup, job->labels, 0);
        QFZ_TRY(qfz_sink_check(source, job, &spec, err));
    }
    if (!job->regions) return QFZ_OK;
    return qfz_table_check(source, job, job->regions,
                           job->task == QFZ_CUT ? 0 : setup->info.n_bands, err);
}

static qfz_status run_task(qfz_run *run, qfz_error *err)
{
    switch (run->setup->job->task) {
    case QFZ_SIMPLIFY: return qfz_run_simplify(run, err);
    case QFZ_SALIENCY: return qfz_run_saliency(run, err);
    default: return qfz_run_label(run, err);
    }
}

static double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t peak_rss_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

static void fill_report(const qfz_run *run, double started, qfz_report *report)
{
    const qfz_setup *const setup = run->setup;
    *report = (qfz_report){.regions = run->n_regions,
                           .width = setup->info.w,
                           .height = setup->info.h,
                           .tiles = run->n_tiles,
                           .seconds = seconds_now() - started,
                           .peak_rss_bytes = peak_rss_bytes()};
    for (int i = 0; i < run->n_hands; i++)
        report->pixels += run->hands[i].n_valid;
    strncpy(report->engine, setup->engine->name, sizeof report->engine - 1);
}

qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    const double started = seconds_now();
    qfz_setup setup = {0};
    qfz_source *source = NULL;
    qfz_run run = {0};
    qfz_status st;
    err->status = QFZ_OK;
    QFZ_TRY_OR(st, cleanup, qfz_setup_init(&setup, job, &source, err));
    QFZ_TRY_OR(st, cleanup, check_outputs(&setup, source, err));
    QFZ_TRY_OR(st, cleanup, qfz_run_open(&run, &setup, source, err));
    QFZ_TRY_OR(st, cleanup, run_task(&run, err));
    if (job->progress) (void)job->progress(1, job->progress_arg);
    fill_report(&run, started, report);

cleanup:
    qfz_run_close(&run);
    qfz_source_close(source);
    qfz_setup_fini(&setup);
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

static void plan_raster(qfz_plan *plan, const qfz_job *job, const qfz_sink_spec *spec)
{
    const int i = plan->n_outputs++;
    plan->outputs[i].path = spec->path;
    plan->outputs[i].n_bands = spec->n_bands;
    plan->outputs[i].width = spec->w;
    plan->outputs[i].height = spec->h;
    strncpy(plan->outputs[i].format, job->format ? job->format : "by name",
            sizeof plan->outputs[i].format - 1);
    strncpy(plan->outputs[i].type, job->type ? job->type : out_type_name(spec->type),
            sizeof plan->outputs[i].type - 1);
}

static void plan_outputs(qfz_plan *plan, const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    qfz_sink_spec spec = main_spec(setup);
    plan_raster(plan, job, &spec);
    if (job->labels) {
        spec = qfz_spec_labels(setup, job->labels, 0);
        plan_raster(plan, job, &spec);
    }
    if (job->regions) {
        const int i = plan->n_outputs++;
        plan->outputs[i].path = job->regions;
        strncpy(plan->outputs[i].format, "table", sizeof plan->outputs[i].format - 1);
    }
}

/* What a border pixel costs in summaries and answers, over all levels (the levels above the
 * tiles add as much again): values, validity, and two links or one slot and its numbers. */
static int64_t border_px_bytes(const qfz_setup *setup)
{
    const int64_t value = (int64_t)qfz_type_bytes(setup->info.type) * setup->info.n_bands + 1;
    switch (setup->kind) {
    case QFZ_LEVELS: return 2 * (value + 12 + 12 + 5 * qfz_n_dirs(&setup->rule));
    case QFZ_OMEGA: return 2 * (value + 12 + 8 + 2 * value + 8);
    default: return 2 * (value + 4 + 4) + 16;
    }
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
                       .border_bytes = t->n_x * t->n_y * qfz_ring_size(t->tile_h, t->tile_w) *
                                       border_px_bytes(&setup),
                       .store_bytes = setup.store_bytes};
    strncpy(plan->engine, setup.engine->name, sizeof plan->engine - 1);
    plan_outputs(plan, &setup);
    qfz_source_close(source);
    qfz_setup_fini(&setup);
    return QFZ_OK;
}
