/* SPDX-License-Identifier: MIT */
#include "job/regions_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "job/label_outputs.h"
#include "job/output_names.h"
#include "job/raster_options.h"
#include "job/regions_check.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"
#include "job/setup_seconds.h"
#include "job/zone_rows.h"

typedef struct regions_run {
    qfz_job job; /* its outputs are named without symbolic links */
    char *links[QFZ_OUTPUTS_MAX];
    qfz_source *source;
    qfz_source **readers; /* one for each thread */
    int n_readers;
    qfz_step_times times;
    qfz_job_progress progress;
    qfz_label_outputs outputs;
    qfz_table *table;
} regions_run;

static qfz_status read_labels(void *arg, int thread, qfz_box box, qfz_label_grid labels,
                              qfz_error *err)
{
    regions_run *const run = arg;
    return qfz_source_read_labels(run->readers[thread], box, labels, err);
}

static qfz_status check_outputs(regions_run *run, int64_t memory_bytes, qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(&run->job);
    if (run->job.regions)
        QFZ_TRY(qfz_table_check(run->source, &options, run->job.regions, QFZ_POINTS, err));
    return qfz_label_outputs_check(&run->job, run->source, memory_bytes, err);
}

static qfz_status open_readers(regions_run *run, int n, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&run->readers, n, err));
    run->n_readers = n;
    for (int i = 0; i < n; i++)
        QFZ_TRY(qfz_source_open_reader(&run->readers[i], run->source, err));
    return QFZ_OK;
}

/* The budget: some for the program itself and its libraries; an eighth of it for GDAL's blocks;
 * half of the rest for tiles and records, since tables and heaps need theirs too. */
static int64_t outputs_bytes(int64_t budget)
{
    const int64_t program = 68 << 20, least = 8 << 20;
    const int64_t bytes = (budget - budget / 8 - program) / 2;
    return bytes > least ? bytes : least;
}

/* Polygons alone read each block of a file once: no more of them stay in memory than a thread needs
 * for a row of blocks. */
static void limit_cache(const regions_run *run)
{
    const qfz_job *const job = &run->job;
    const qfz_source_info *const info = qfz_source_get_info(run->source);
    const int64_t usual = qfz_setup_first_cache(job);
    const bool alone =
        job->polygons && !job->regions && !job->neighbours && !job->colors && !job->quicklook;
    if (!alone || qfz_source_cache_bytes(run->source, info->w) == 0) return;
    const int64_t bytes = 2 * info->w * info->block_h * info->px_bytes * run->n_readers;
    if (bytes < usual) qfz_raster_set_cache(job->config, bytes);
}

/* Less than this does not hold the program with its tables; more may be needed for a polygon with
 * long borders. */
static qfz_status check_budget(const qfz_job *job, int64_t picture_bytes, qfz_error *err)
{
    const int64_t mb = 1000000,
                  least = (job->polygons ? 120 : 80) * mb + (picture_bytes + mb - 1) / mb * mb;
    if (job->memory_bytes == 0 || job->memory_bytes >= least) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: %.4g MB of memory are too little for this job; use --memory %lldMB or "
                    "more",
                    job->src, (double)job->memory_bytes / 1e6, (long long)least / 1000000);
}

/* Checks the job and plans its pass. */
static qfz_status prepare(regions_run *run, qfz_error *err)
{
    qfz_job *const job = &run->job;
    const qfz_source_options options = qfz_job_source_options(job);
    int64_t bytes;
    QFZ_TRY(qfz_regions_check(job, err));
    QFZ_TRY(qfz_job_budget(job, &bytes, err));
    QFZ_TRY(check_budget(job, 0, err));
    QFZ_TRY(qfz_output_names_follow(job, run->links, err));
    QFZ_TRY(qfz_raster_setup(job->config, qfz_setup_first_cache(job), err));
    QFZ_TRY(qfz_source_open(&run->source, &options, err));
    const qfz_source_info *const info = qfz_source_get_info(run->source);
    QFZ_TRY(check_budget(job, qfz_picture_bytes(job, info->w, info->h), err));
    QFZ_TRY(check_outputs(run, outputs_bytes(bytes), err));
    qfz_zone_needs needs = qfz_zone_columns_needs(job->columns);
    needs.zones = job->regions || !job->polygons; /* polygons are counted, too */
    run->outputs = (qfz_label_outputs){
        .job = job,
        .source = run->source,
        .pass = {.read = read_labels,
                 .arg = run,
                 .is_narrow = qfz_source_has_narrow_labels(run->source),
                 .n_threads = qfz_job_threads(job),
                 .progress = &run->progress},
        .memory_bytes = outputs_bytes(bytes),
        .needs = needs,
    };
    return qfz_label_outputs_plan(&run->outputs, err);
}

static qfz_status open_run(regions_run *run, qfz_error *err)
{
    QFZ_TRY(qfz_parallel_check(qfz_job_threads(&run->job), 0, err));
    QFZ_TRY(prepare(run, err));
    QFZ_TRY(open_readers(run, run->outputs.pass.n_threads, err));
    limit_cache(run);
    return qfz_label_outputs_open(&run->outputs, err);
}

static void close_run(regions_run *run)
{
    qfz_table_close(run->table);
    qfz_label_outputs_close(&run->outputs);
    for (int i = 0; i < run->n_readers; i++)
        qfz_source_close(run->readers[i]);
    free(run->readers);
    qfz_source_close(run->source);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        free(run->links[i]);
}

/* The outputs are complete on disk before the first of them gets its name. */
static qfz_status write_outputs(regions_run *run, qfz_report *report, qfz_error *err)
{
    qfz_label_outputs *const outputs = &run->outputs;
    if (outputs->needs.zones)
        QFZ_TRY(qfz_zone_rows_write(outputs, &run->table, &report->regions, &report->pixels, err));
    if (run->table) QFZ_TRY(qfz_table_finish(run->table, err));
    QFZ_TRY(qfz_label_outputs_finish(outputs, err));
    if (!outputs->needs.zones) {
        report->regions = outputs->counts.labels;
        report->pixels = outputs->counts.pixels;
    }
    if (run->table) QFZ_TRY(qfz_table_place(run->table, err));
    QFZ_TRY(qfz_label_outputs_place(outputs, err));
    if (run->table) QFZ_TRY(qfz_table_commit(run->table, err));
    return qfz_label_outputs_commit(outputs, err);
}

static void fill_report(regions_run *run, qfz_report *report)
{
    const qfz_tiling *const t = &run->outputs.pass.tiling;
    report->width = t->w;
    report->height = t->h;
    report->tiles = t->n_x * t->n_y;
    memcpy(report->engine, "cpu", sizeof "cpu");
    qfz_step_times_end(&run->times, report);
}

qfz_status qfz_regions_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    regions_run run = {.job = *job};
    qfz_report found = {0};
    qfz_status st;
    qfz_step_times_begin(&run.times, "start");
    qfz_progress_init(&run.progress, &run.job, &alone, &run.times);
    run.progress.scale =
        1 / (2 * QFZ_LABEL_OUTPUTS_SHARE + (job->polygons ? QFZ_POLYGONS_SHARE : 0));
    QFZ_TRY_OR(st, cleanup, open_run(&run, err));
    QFZ_TRY_OR(st, cleanup, qfz_label_outputs_gather(&run.outputs, err));
    QFZ_TRY_OR(st, cleanup, write_outputs(&run, &found, err));
    const qfz_progress all = {.struct_size = sizeof all, .done = 1, .step = "end"};
    if (job->progress) (void)job->progress(&all, job->progress_arg);
    fill_report(&run, &found);
    *report = found;

cleanup:
    close_run(&run);
    return st;
}

/* ------------------------------------------------------------------------------------- the plan */
/* One pass gathers records, one paints colours, one traces outlines. */
static int count_passes(const regions_run *run)
{
    const qfz_job *const job = &run->job;
    const bool paints = job->colors || job->quicklook;
    return (run->outputs.needs.zones || job->neighbours || paints) + (job->colors != NULL) +
           (job->polygons != NULL);
}

qfz_status qfz_regions_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    regions_run run = {.job = *job};
    int64_t bytes;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, prepare(&run, err));
    QFZ_TRY_OR(st, cleanup, qfz_job_budget(job, &bytes, err));
    const qfz_source_info *const info = qfz_source_get_info(run.source);
    const qfz_tiling *const t = &run.outputs.pass.tiling;
    plan->width = info->w;
    plan->height = info->h;
    plan->n_bands = 1;
    plan->type = info->type;
    plan->tile_w = t->tile_w;
    plan->tile_h = t->tile_h;
    plan->tiles_x = t->n_x;
    plan->tiles_y = t->n_y;
    plan->passes = count_passes(&run);
    plan->n_threads = run.outputs.pass.n_threads;
    memcpy(plan->engine, "cpu", sizeof "cpu");
    (void)snprintf(plan->engine_reason, sizeof plan->engine_reason, "%s", "no engine is needed");
    plan->memory_bytes = bytes;
    plan->tile_bytes = run.outputs.memory_bytes;
    plan->cache_bytes = qfz_setup_first_cache(job);
    plan->n_ranks = plan->n_local_ranks = 1;
    plan->rank_tiles = t->n_x * t->n_y;
    plan->rank_pixels = info->w * info->h;
    plan->rank_seconds = qfz_regions_seconds(plan->rank_pixels, plan->n_threads);

cleanup:
    close_run(&run);
    return st;
}
