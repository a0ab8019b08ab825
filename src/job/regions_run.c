/* SPDX-License-Identifier: MIT */
/* regions_run.c - a job of one process makes its outputs from a pass over the labels.  Of several
 * processes, or with a work folder, each saves what it gathers of the rows of its part, whole
 * blocks of the source; then one process joins the parts and makes the outputs. */
#include "job/regions_run.h"

#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "job/label_output_parts.h"
#include "job/temp_folder.h"
#include "job/regions_state.h"
#include "job/same_job.h"
#include "job/setup_init.h"
#include "job/work_folder.h"
#include "job/zone_rows.h"

typedef struct regions_run {
    qfz_regions_state state;
    const qfz_ranks *ranks;
    qfz_setup setup; /* job, rule and tiling alone: what the job is for its work folder */
    qfz_work_folder *work;
    qfz_part_files files; /* n_parts = 0: one process, without a work folder */
    int part;             /* of this process, from 0 */
    char base[4096];      /* files.output */
} regions_run;

static bool is_first(const regions_run *run)
{
    return run->ranks->rank == 0;
}

/* ------------------------------------------------------------------------------------------ parts
 */
/* Files of parts lie in the work folder; without one, beside the first output. */
static qfz_status name_files(regions_run *run, qfz_error *err)
{
    qfz_job *const job = &run->state.job;
    const char **names[QFZ_OUTPUTS_MAX], *output = NULL;
    qfz_output_names_of(job, names);
    for (int i = 0; i < QFZ_OUTPUTS_MAX && !output; i++)
        if (*names[i] && !qfz_object_is(*names[i])) output = *names[i];
    if (!job->work && !output)
        return qfz_fail(err, QFZ_EARG,
                        "%s: several processes need a folder for their records; name one as work "
                        "folder",
                        job->src);
    const int n = job->work ? snprintf(run->base, sizeof run->base, "%s/regions", job->work)
                            : snprintf(run->base, sizeof run->base, "%s", output);
    if (n < 0 || (size_t)n >= sizeof run->base)
        return qfz_fail(err, QFZ_EARG, "%s: the name is too long", job->work ? job->work : output);
    run->files.output = run->base;
    return QFZ_OK;
}

static void number_parts(regions_run *run)
{
    const qfz_job *const job = &run->state.job;
    if (job->phase == QFZ_PHASE_ALL) {
        run->part = run->ranks->rank;
        run->files.n_parts = run->ranks->n;
    } else {
        run->part = job->part - 1;
        run->files.n_parts = qfz_work_folder_n_parts(run->work);
    }
}

/* What the job is, whatever its tiles are: blocks take their place. */
static void describe_job(regions_run *run)
{
    const qfz_source_info *const info = qfz_source_get_info(run->state.source);
    run->setup =
        (qfz_setup){.job = &run->state.job,
                    .rule = {.connectivity = 4, .distance = run->state.job.criterion.distance},
                    .tiling = {.w = info->w,
                               .h = info->h,
                               .tile_w = info->block_w,
                               .tile_h = info->block_h,
                               .n_x = (info->w - 1) / info->block_w + 1,
                               .n_y = (info->h - 1) / info->block_h + 1}};
}

static qfz_status find_part(regions_run *run, qfz_error *err)
{
    const qfz_job *const job = &run->state.job;
    describe_job(run);
    if (run->ranks->n > 1) QFZ_TRY(qfz_same_job_check(&run->setup, run->ranks, err));
    if (job->work)
        QFZ_TRY(qfz_work_folder_open(&run->work, &run->setup, run->ranks, run->state.source, err));
    if (run->ranks->n == 1 && !run->work) return QFZ_OK;
    number_parts(run);
    return qfz_ranks_agree(run->ranks, name_files(run, err), err);
}

static int64_t first_row(const regions_run *run, int part)
{
    const qfz_tiling *const blocks = &run->setup.tiling;
    const int64_t y = qfz_part_first_row(blocks->n_y, part, run->files.n_parts) * blocks->tile_h;
    return y < blocks->h ? y : blocks->h;
}

/* Saves what this process gathers, unless a run that was killed has. */
static qfz_status save_part(regions_run *run, qfz_error *err)
{
    static const qfz_part_files none = {.n_parts = 0};
    qfz_regions_state *const state = &run->state;
    if (run->work && qfz_label_output_parts_have(&run->files, run->part)) return QFZ_OK;
    QFZ_TRY(qfz_regions_state_plan(state, &none, err));
    state->outputs.pass.is_part = true;
    state->outputs.pass.y0 = first_row(run, run->part);
    state->outputs.pass.y1 = first_row(run, run->part + 1);
    QFZ_TRY(qfz_regions_state_begin(state, err));
    const qfz_status st = qfz_label_output_parts_save(&state->outputs, &run->files, run->part, err);
    state->outputs = (qfz_label_outputs){0};
    return st;
}

static qfz_status check_parts(const regions_run *run, qfz_error *err)
{
    for (int part = 0; part < run->files.n_parts; part++)
        if (!qfz_label_output_parts_have(&run->files, part))
            return qfz_fail(err, QFZ_EARG,
                            "%s: part %d of %d is not complete; run its --phase summarise first",
                            run->state.job.work, part + 1, run->files.n_parts);
    return QFZ_OK;
}

/* Without a work folder nobody needs the files of parts any more, whatever has failed; with one,
 * they stay until the job is complete. */
static void delete_parts(const regions_run *run, bool is_complete)
{
    if (run->files.n_parts == 0) return;
    if (!run->work)
        qfz_label_output_parts_delete(&run->files, run->part);
    else if (is_complete && is_first(run))
        qfz_part_files_delete_all(run->base);
}

/* ---------------------------------------------------------------------------------------- outputs
 */
/* The outputs are complete on disk before the first of them gets its name. */
static qfz_status write_outputs(regions_run *run, qfz_report *report, qfz_error *err)
{
    qfz_regions_state *const state = &run->state;
    qfz_label_outputs *const outputs = &state->outputs;
    qfz_table **const table = &state->table;
    if (outputs->needs.zones)
        QFZ_TRY(qfz_zone_rows_write(outputs, table, &report->regions, &report->pixels, err));
    if (*table) QFZ_TRY(qfz_table_finish(*table, err));
    QFZ_TRY(qfz_label_outputs_finish(outputs, err));
    if (!outputs->needs.zones) {
        report->regions = outputs->counts.labels;
        report->pixels = outputs->counts.pixels;
    }
    if (run->work) QFZ_TRY(qfz_work_folder_finish(run->work, err));
    if (*table) QFZ_TRY(qfz_table_place(*table, err));
    QFZ_TRY(qfz_label_outputs_place(outputs, err));
    if (*table) QFZ_TRY(qfz_table_commit(*table, err));
    return qfz_label_outputs_commit(outputs, err);
}

/* Temporary files of outputs that killed runs have left. */
static void clean_outputs(const qfz_job *job)
{
    qfz_label_outputs_clean(job);
    if (job->regions) qfz_output_clean(job->regions, qfz_temp_folder_local(job));
}

static qfz_status make_outputs(regions_run *run, qfz_report *report, qfz_error *err)
{
    qfz_regions_state *const state = &run->state;
    if (run->files.n_parts > 0) QFZ_TRY(check_parts(run, err));
    if (run->work) clean_outputs(&state->job);
    QFZ_TRY(qfz_regions_state_plan(state, &run->files, err));
    QFZ_TRY(qfz_regions_state_begin(state, err));
    QFZ_TRY(run->files.n_parts > 0 ? qfz_label_output_parts_add(&state->outputs, err)
                                   : qfz_label_outputs_gather(&state->outputs, err));
    return write_outputs(run, report, err);
}

/* -------------------------------------------------------------------------------------- the job */
/* *done: a resumed job is complete already; its counts are in *report. */
static qfz_status look_for_end(regions_run *run, qfz_report *report, bool *done, qfz_error *err)
{
    qfz_outcome all = {.job = &run->state.job};
    *done = run->work && is_first(run) && qfz_work_folder_is_done(run->work, &all, report);
    if (*done) qfz_work_folder_clean(run->work);
    QFZ_TRY(qfz_ranks_share(run->ranks, done, sizeof *done, err));
    return qfz_ranks_share(run->ranks, report, sizeof *report, err);
}

/* Outputs that a killed run of the same job left under their final names may be replaced. */
static qfz_status check_names(regions_run *run, qfz_error *err)
{
    run->state.job.overwrite |= run->work && qfz_work_folder_is_finishing(run->work);
    const qfz_status st =
        qfz_ranks_agree(run->ranks, qfz_regions_state_check(&run->state, err), err);
    if (st != QFZ_OK && run->work) qfz_work_folder_forget(run->work);
    return st;
}

/* The parts of the job that this process has. */
static qfz_status run_steps(regions_run *run, qfz_report *report, qfz_error *err)
{
    const qfz_phase phase = run->state.job.phase;
    if (run->files.n_parts > 0 && phase != QFZ_PHASE_STITCH)
        QFZ_TRY(qfz_ranks_agree(run->ranks, save_part(run, err), err));
    report->next = phase == QFZ_PHASE_SUMMARISE ? QFZ_PHASE_STITCH : QFZ_PHASE_ALL;
    if (phase == QFZ_PHASE_SUMMARISE) return QFZ_OK;
    const qfz_status st = is_first(run) ? make_outputs(run, report, err) : QFZ_OK;
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    QFZ_TRY(qfz_ranks_share(run->ranks, report, sizeof *report, err));
    const qfz_outcome all = {.job = &run->state.job, .regions = report->regions};
    return run->work ? qfz_work_folder_end(run->work, &all, report, err) : QFZ_OK;
}

static void begin_progress(regions_run *run)
{
    qfz_regions_state *const state = &run->state;
    const double polygons = state->job.polygons ? QFZ_POLYGONS_SHARE : 0;
    const bool joins = state->job.work || run->ranks->n > 1;
    const double more = joins ? QFZ_LABEL_OUTPUTS_SHARE / 3 + polygons / 2 : 0;
    qfz_step_times_begin(&state->times, "start");
    qfz_progress_init(&state->progress, &state->job, run->ranks, &state->times);
    state->progress.scale = 1 / (2 * QFZ_LABEL_OUTPUTS_SHARE + polygons + more);
}

static void fill_report(regions_run *run, qfz_report *report)
{
    const qfz_source_info *const info = qfz_source_get_info(run->state.source);
    const qfz_tiling *const t = &run->state.outputs.pass.tiling;
    report->width = info->w;
    report->height = info->h;
    report->tiles = t->n_x * t->n_y;
    memcpy(report->engine, "cpu", sizeof "cpu");
    qfz_step_times_end(&run->state.times, report);
}

static qfz_status open_run(regions_run *run, qfz_error *err)
{
    qfz_status st = qfz_parallel_check(qfz_job_threads(&run->state.job), 0, err);
    if (st == QFZ_OK) st = qfz_regions_state_open(&run->state, err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    return find_part(run, err);
}

qfz_status qfz_regions_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    regions_run run = {.state = {.job = *job}, .ranks = job->ranks ? job->ranks : &alone};
    qfz_report found = {0};
    bool done = false;
    qfz_status st;
    begin_progress(&run);
    QFZ_TRY_OR(st, cleanup, open_run(&run, err));
    QFZ_TRY_OR(st, cleanup, look_for_end(&run, &found, &done, err));
    if (!done) {
        QFZ_TRY_OR(st, cleanup, check_names(&run, err));
        QFZ_TRY_OR(st, cleanup, run_steps(&run, &found, err));
    }
    const qfz_progress all = {.struct_size = sizeof all, .done = 1, .step = "end"};
    if (job->progress) (void)job->progress(&all, job->progress_arg);
    fill_report(&run, &found);
    *report = found;

cleanup:
    delete_parts(&run, done || (st == QFZ_OK && found.next == QFZ_PHASE_ALL));
    qfz_regions_state_close(&run.state);
    qfz_work_folder_close(run.work);
    return st;
}
