/* SPDX-License-Identifier: MIT */
#include "job/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/setup_memory.h"
#include "job/temp_folder.h"

/* The process of phase stitch has all tiles, and visits none. */
static void set_part(qfz_run *run)
{
    const qfz_job *const job = run->setup->job;
    const qfz_tiling *const t = &run->setup->tiling;
    run->part = run->ranks->rank;
    run->n_parts = run->ranks->n;
    if (qfz_job_is_of_part(job)) {
        run->part = job->part - 1;
        run->n_parts = job->n_parts;
    }
    run->first_tile = t->n_x * qfz_part_first_row(t->n_y, run->part, run->n_parts);
    run->end_tile = t->n_x * qfz_part_first_row(t->n_y, run->part + 1, run->n_parts);
}

static qfz_status open_contexts(qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const int64_t n_own =
        setup->job->phase == QFZ_PHASE_STITCH ? 0 : run->end_tile - run->first_tile;
    const int n = n_own < setup->n_threads ? (int)n_own : setup->n_threads;
    const bool reads_ahead = setup->choice.device_memory_bytes > 0 && !run->work;
    return qfz_thread_contexts_open(&run->contexts, setup, n, run->source, &run->cache, reads_ahead,
                                    run->first_tile, run->end_tile, err);
}

static qfz_status attach(qfz_run *run, qfz_error *err)
{
    if (!run->work) return QFZ_OK;
    if (run->filter.stitch)
        QFZ_TRY(qfz_work_folder_attach(run->work, QFZ_WORK_FILTER, run->filter.stitch, err));
    return qfz_work_folder_attach(run->work, run->alpha, run->stitch, err);
}

/* The stitching of one alpha. */
static qfz_status open_own_stitch(qfz_run *run, bool has_filter, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const int64_t bytes = setup->store_bytes / (has_filter ? 2 : 1) / qfz_job_n_alphas(setup->job);
    return qfz_stitch_open(&run->stitch, &setup->rule, setup->kind, &setup->tiling, run->ranks,
                           setup->n_threads, bytes, run->folder, err);
}

static qfz_status open_stitch(qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    qfz_temp_folder(setup->job, run->folder, sizeof run->folder);
    QFZ_TRY(qfz_filter_stage_open(&run->filter, setup, run->ranks, run->source, run->contexts.n,
                                  run->folder, &run->cache, err));
    QFZ_TRY(open_own_stitch(run, run->filter.stitch != NULL, err));
    return attach(run, err);
}

qfz_status qfz_run_open(qfz_run *run, const qfz_setup *setup, const qfz_ranks *ranks,
                        qfz_source *source, qfz_work_folder *work, qfz_step_times *times,
                        qfz_error *err)
{
    const qfz_tiling *const t = &setup->tiling;
    qfz_status st;
    *run = (qfz_run){
        .setup = setup, .source = source, .ranks = ranks, .work = work, .n_tiles = t->n_x * t->n_y};
    set_part(run);
    QFZ_TRY_OR(st, failed, QFZ_NEW(&run->progress, 1, err));
    qfz_progress_init(run->progress, setup->job, ranks, times);
    qfz_raster_set_cache(setup->job->config, qfz_setup_cache_bytes(setup, source));
    QFZ_TRY_OR(st, failed,
               qfz_tile_cache_open(&run->cache, setup, run->first_tile, run->end_tile, err));
    QFZ_TRY_OR(st, failed, open_contexts(run, err));
    QFZ_TRY_OR(st, failed, open_stitch(run, err));
    return QFZ_OK;

failed:
    qfz_run_close(run);
    return st;
}

void qfz_run_close(qfz_run *run)
{
    qfz_filter_stage_close(&run->filter);
    qfz_tile_cache_close(&run->cache);
    qfz_thread_contexts_close(&run->contexts);
    qfz_stitch_close(run->stitch);
    qfz_curve_release(&run->curve);
    free(run->progress);
    *run = (qfz_run){0};
}

qfz_status qfz_run_open_alpha(qfz_run *run, const qfz_run *first, int64_t alpha,
                              const qfz_setup *setup, qfz_error *err)
{
    *run = (qfz_run){.setup = setup,
                     .source = first->source,
                     .ranks = first->ranks,
                     .work = first->work,
                     .alpha = alpha,
                     .part = first->part,
                     .n_parts = first->n_parts,
                     .first_tile = first->first_tile,
                     .end_tile = first->end_tile,
                     .n_tiles = first->n_tiles,
                     .progress = first->progress};
    memcpy(run->folder, first->folder, sizeof run->folder);
    QFZ_TRY(open_own_stitch(run, first->filter.stitch != NULL, err));
    return attach(run, err);
}

void qfz_run_close_alpha(qfz_run *run)
{
    qfz_stitch_close(run->stitch);
    *run = (qfz_run){0};
}
