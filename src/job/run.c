/* SPDX-License-Identifier: MIT */
#include "job/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job/contexts.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "job/tiles.h"
#include "job/work.h"

/* Smaller groups are done by the host before a device has been asked. */
enum { DEVICE_GROUP_VERTICES = 1 << 14 };

/* ----------------------------------------------------------------------------------- open, close
 */
/* The folder of the journal, or of the output if there is such a folder (dst may be none, or no
 * file), else the current. */
void qfz_run_folder(const qfz_job *job, char *folder, size_t size)
{
    if (job->work && (size_t)snprintf(folder, size, "%s", job->work) < size) return;
    const char *const slash = job->dst ? strrchr(job->dst, '/') : NULL;
    struct stat status;
    const int length =
        slash ? snprintf(folder, size, "%.*s", (int)(slash - job->dst + 1), job->dst) : 0;
    if (length > 0 && (size_t)length < size && stat(folder, &status) == 0 &&
        S_ISDIR(status.st_mode))
        return;
    (void)snprintf(folder, size, ".");
}

/* A process that only stitches has all tiles, and visits none. */
static void take_part(qfz_run *run)
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

static qfz_status open_stitch(qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    char folder[4096];
    qfz_run_folder(setup->job, folder, sizeof folder);
    QFZ_TRY(qfz_stitch_open(&run->stitch, &setup->rule, setup->kind, &setup->tiling, run->ranks,
                            setup->n_threads, setup->store_bytes, folder, err));
    return run->work ? qfz_work_attach(run->work, run->stitch, err) : QFZ_OK;
}

qfz_status qfz_run_open(qfz_run *run, const qfz_setup *setup, const qfz_ranks *ranks,
                        qfz_source *source, qfz_work *work, qfz_error *err)
{
    const qfz_tiling *const t = &setup->tiling;
    *run = (qfz_run){.setup = setup,
                     .source = source,
                     .ranks = ranks,
                     .work = work,
                     .main = pthread_self(),
                     .n_tiles = t->n_x * t->n_y};
    take_part(run);
    const int64_t n_own =
        setup->job->phase == QFZ_PHASE_STITCH ? 0 : run->end_tile - run->first_tile;
    const int n_contexts = n_own < setup->n_threads ? (int)n_own : setup->n_threads;
    qfz_status st;
    qfz_raster_set_cache(setup->job, qfz_setup_cache_bytes(setup, source));
    QFZ_TRY_OR(st, failed, qfz_tiles_open(run, err));
    QFZ_TRY_OR(st, failed, qfz_contexts_open(run, n_contexts, err));
    QFZ_TRY_OR(st, failed, open_stitch(run, err));
    return QFZ_OK;

failed:
    qfz_run_close(run);
    return st;
}

void qfz_run_close(qfz_run *run)
{
    qfz_tiles_close(run);
    qfz_contexts_close(run);
    qfz_stitch_close(run->stitch);
    *run = (qfz_run){0};
}

/* --------------------------------------------------------------------------------------- progress
 */
/* The job's own function is called by one thread at a time. */
qfz_status qfz_run_advance_to(qfz_run *run, double part, qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    int stop = 0;
    if (pthread_equal(pthread_self(), run->main) && qfz_ranks_stopped(run->ranks))
        return qfz_fail(err, QFZ_ECANCEL, "another rank failed");
    if (job->progress) {
#pragma omp critical(qfz_run_progress)
        {
            const double done = run->done + run->share * part;
            if (done > run->told) run->told = done < 1 ? done : 1;
            const qfz_progress progress = {.done = run->told,
                                           .step = run->step,
                                           .tiles_done = run->has_tiles ? run->items_done : 0,
                                           .tiles = run->has_tiles ? run->items : 0};
            stop = job->progress(&progress, job->progress_arg);
        }
    }
    return stop ? qfz_fail(err, QFZ_ECANCEL, "stopped on request; no output was written") : QFZ_OK;
}

qfz_status qfz_run_advance(qfz_run *run, qfz_error *err)
{
    int64_t done;
#pragma omp atomic capture
    done = ++run->items_done;
    return qfz_run_advance_to(run, (double)done / (double)run->items, err);
}

void qfz_run_begin(qfz_run *run, const char *step, double share, int64_t tiles)
{
    (void)snprintf(run->step, sizeof run->step, "%s", step);
    qfz_steps_begin(run->steps, step);
    run->has_tiles = tiles > 0;
    run->done += run->share;
    run->share = share * run->scale;
    run->items = tiles > 0 ? tiles : 1;
    run->items_done = 0;
}

/* The visits of a process are passes; one that only resolves makes the last one. */
static void begin_pass(qfz_run *run, double share, int64_t tiles)
{
    char step[sizeof run->step];
    run->pass++;
    if (run->setup->job->phase == QFZ_PHASE_RESOLVE) run->pass = run->setup->passes;
    (void)snprintf(step, sizeof step, "pass %d of %d", run->pass, run->setup->passes);
    qfz_run_begin(run, step, share, tiles);
}

/* ------------------------------------------------------------------------------------------ tiles
 */
typedef struct arrival {
    const qfz_engine *engine;
    qfz_worker *worker;
} arrival;

static qfz_status rows_came(void *arg, const qfz_rows *rows, qfz_error *err)
{
    const arrival *const a = arg;
    return a->engine->stream->rows(a->worker, rows, err);
}

static qfz_status room_for_rows(void *arg, void **pixels, qfz_error *err)
{
    const arrival *const a = arg;
    return a->engine->stream->room(a->worker, pixels, err);
}

/* Reads the context's tile; the engine has its rows as they come, if it wants to. */
static qfz_status read_tile(qfz_run *run, qfz_thread_context *context, void *pixels, bool is_whole,
                            qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    arrival a = {.engine = engine, .worker = context->worker};
    const qfz_reading reading = {.pixels = pixels,
                                 .is_whole = is_whole,
                                 .valid = (uint8_t *)(uintptr_t)context->tile.valid,
                                 .arg = &a,
                                 .room = room_for_rows,
                                 .came = rows_came};
    QFZ_TRY(engine->load(context->worker, &context->tile, err));
    return engine->stream
               ? qfz_source_read_rows(context->source, context->box, &reading, err)
               : qfz_source_read(context->source, context->box, pixels, reading.valid, err);
}

static qfz_status load_tile(qfz_run *run, qfz_thread_context *context, int64_t tile, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const qfz_tiling *const t = &setup->tiling;
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    const bool there = kept->pixels != NULL;
    context->box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    if (!there && run->pass < setup->passes) QFZ_TRY(qfz_tile_keep(run, tile, err));
    const bool keeps = kept->pixels != NULL; /* else their validity may be there still */
    void *const pixels = keeps ? kept->pixels : context->pixels;
    context->tile = (qfz_image){.h = qfz_box_h(context->box),
                                .w = qfz_box_w(context->box),
                                .n_bands = setup->info.n_bands,
                                .type = setup->info.type,
                                .pixels = pixels,
                                .valid = kept->valid ? kept->valid : context->valid};
    if (qfz_tile_resume(run, context, tile)) return QFZ_OK;
    return there ? qfz_engine_load(setup->engine, context->worker, &context->tile, err)
                 : read_tile(run, context, pixels, keeps, err);
}

typedef struct visit {
    qfz_run *run;
    qfz_visit_fn fn;
    void *arg;
    int64_t *tiles; /* that are to be visited */
} visit;

static qfz_status visit_tile(void *arg, int64_t item, int worker, qfz_error *err)
{
    const visit *const v = arg;
    qfz_thread_context *const context = &v->run->contexts[worker];
    QFZ_TRY(load_tile(v->run, context, v->tiles[item], err));
    QFZ_TRY(v->fn(v->run, context, v->tiles[item], v->arg, err));
    QFZ_TRY(qfz_tile_keep_result(v->run, context, v->tiles[item], err));
    return qfz_run_advance(v->run, err);
}

static qfz_status visit_own(qfz_run *run, double share, qfz_tile_fn is_done, visit *v,
                            qfz_error *err)
{
    int64_t n = 0;
    QFZ_TRY(QFZ_NEW(&v->tiles, run->end_tile - run->first_tile, err));
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++)
        if (!is_done(run, tile, v->arg)) v->tiles[n++] = tile;
    begin_pass(run, share, n);
    QFZ_TRY(qfz_run_advance_to(run, 0, err));
    return qfz_parallel_for(run->n_contexts, n, visit_tile, v, err);
}

qfz_status qfz_run_visit(qfz_run *run, double share, qfz_tile_fn is_done, qfz_visit_fn fn,
                         void *arg, qfz_error *err)
{
    visit v = {.run = run, .fn = fn, .arg = arg};
    const qfz_status st = visit_own(run, share, is_done, &v, err);
    free(v.tiles);
    return qfz_ranks_agree(run->ranks, st, err);
}

static int solve_progress(double done, void *arg)
{
    qfz_run *const run = arg;
    qfz_error ignored = {.status = QFZ_OK};
    return qfz_run_advance_to(run, done, &ignored) != QFZ_OK;
}

qfz_status qfz_run_solve(qfz_run *run, double share, qfz_error *err)
{
    qfz_run_begin(run, "stitching", share, 0);
    qfz_stitch_use(run->stitch, run->setup->engine, run->workers, run->n_contexts,
                   DEVICE_GROUP_VERTICES);
    return qfz_stitch_solve(run->stitch, solve_progress, run, err);
}
