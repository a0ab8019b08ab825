/* SPDX-License-Identifier: MIT */
#include "job/tile_pass.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "job/source_sum.h"
#include "job/tile_error.h"

/* ---------------------------------------------------------------------------------- load a tile */
typedef struct row_target {
    const qfz_engine *engine;
    qfz_worker *worker, *filter; /* filter: NULL, or the area filter's, which takes the rows, too */
    const qfz_image *tile;
    uint64_t *sum; /* NULL: not wanted */
} row_target;

static qfz_status take_rows(void *arg, const qfz_rows *rows, qfz_error *err)
{
    const row_target *const target = arg;
    if (target->sum) *target->sum += qfz_source_sum_rows(target->tile, rows);
    if (target->filter) QFZ_TRY(target->engine->stream->rows(target->filter, rows, err));
    return target->engine->stream->rows(target->worker, rows, err);
}

static qfz_status room_for_rows(void *arg, void **pixels, qfz_error *err)
{
    const row_target *const target = arg;
    return target->engine->stream->room(target->worker, pixels, err);
}

static uint64_t sum_of_pixels(const qfz_image *tile)
{
    const qfz_rows all = {0, tile->h, tile->pixels, tile->h * tile->w};
    return qfz_source_sum_rows(tile, &all);
}

/* Begins the context's tile in a worker and, unless that is NULL, in the area filter's, which finds
 * by itself which edges have level 0. */
static qfz_status begin_tile(const qfz_engine *engine, const qfz_image *tile, qfz_worker *worker,
                             qfz_worker *filter, qfz_error *err)
{
    qfz_image image = *tile;
    image.zeroed = NULL;
    if (filter) QFZ_TRY(engine->load(filter, &image, err));
    return engine->load(worker, tile, err);
}

/* Passes the tile's pixels, which are complete in memory, to both workers. */
static qfz_status load_pixels(const qfz_engine *engine, const qfz_image *tile, qfz_worker *worker,
                              qfz_worker *filter, qfz_error *err)
{
    const qfz_rows all = {0, tile->h, tile->pixels, tile->h * tile->w};
    QFZ_TRY(begin_tile(engine, tile, worker, filter, err));
    if (!engine->stream) return QFZ_OK;
    if (filter) QFZ_TRY(engine->stream->rows(filter, &all, err));
    return engine->stream->rows(worker, &all, err);
}

/* Reads the context's tile into a worker, and into the area filter's.  An engine with a stream
 * table receives the rows as they are read. is_whole: pixels has room for the whole tile.  *sum: of
 * the pixels; NULL: not wanted.
 */
static qfz_status read_tile(qfz_run *run, qfz_thread_context *context, qfz_worker *worker,
                            qfz_worker *filter, void *pixels, bool is_whole, uint64_t *sum,
                            qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    row_target target = {
        .engine = engine, .worker = worker, .filter = filter, .tile = &context->tile, .sum = sum};
    const qfz_reading reading = {.pixels = pixels,
                                 .is_whole = is_whole,
                                 .valid = (uint8_t *)(uintptr_t)context->tile.valid,
                                 .arg = &target,
                                 .room = room_for_rows,
                                 .came = take_rows};
    QFZ_TRY(begin_tile(engine, &context->tile, worker, filter, err));
    if (sum) *sum = 0;
    if (engine->stream) return qfz_source_read_rows(context->source, context->box, &reading, err);
    QFZ_TRY(qfz_source_read(context->source, context->box, pixels, reading.valid, err));
    if (sum) *sum = sum_of_pixels(&context->tile);
    return QFZ_OK;
}

/* The first visit to a tile stores the checksum of its pixels; later ones compare. */
static qfz_status check_sum(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                            uint64_t sum, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    bool is_same;
    sum += qfz_source_sum_beside(&context->tile, qfz_n_dirs(&setup->rule));
    QFZ_TRY(qfz_stitch_same_source(run->stitch, tile, sum, &is_same, err));
    if (is_same) return QFZ_OK;
    return qfz_tile_fail(setup->job->src, context->box, QFZ_EIO,
                         "the source has changed since the first pass; start the job again", err);
}

/* The edges of the forest are found from the pixels of a tile, so its result does not suffice; the
 * result of one alpha is none of another. */
static bool keeps_results(const qfz_run *run)
{
    return !run->filter.is_current && !run->setup->rule.wants_forest && !run->next_alpha;
}

/* Loads a tile from its cached result, else from its cached pixels, else from the source.  Before
 * the last pass, pixels that are read stay in the cache if there is room.  The edges that the area
 * filter sets to level 0 follow from the pixels: an engine with a filter borrows zeroed, and reads
 * it only in the visit. */
static qfz_status load_tile(qfz_run *run, qfz_thread_context *context, int thread, int64_t tile,
                            qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    qfz_filter_stage *const filter = &run->filter;
    const bool is_filtered = filter->stitch && !filter->is_current;
    qfz_worker *const worker = filter->is_current ? filter->workers[thread] : context->worker;
    const bool needs_filter = is_filtered && qfz_filter_stage_needs_tile(filter, tile);
    qfz_worker *const also = needs_filter ? filter->workers[thread] : NULL;
    const qfz_tiling *const t = &setup->tiling;
    qfz_tile_cache_entry *const entry = &run->cache.entries[tile];
    const bool was_cached = entry->pixels != NULL;
    context->box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    if (!was_cached && run->pass < setup->passes)
        QFZ_TRY(qfz_tile_cache_add_pixels(&run->cache, tile, err));
    /* The entry may hold validity without pixels. */
    const bool is_cached = entry->pixels != NULL;
    void *const pixels = is_cached ? entry->pixels : context->pixels;
    context->tile = (qfz_image){.h = qfz_box_h(context->box),
                                .w = qfz_box_w(context->box),
                                .n_bands = setup->info.n_planes,
                                .type = setup->info.type,
                                .pixels = pixels,
                                .valid = entry->valid ? entry->valid : context->valid,
                                .edges = context->edges,
                                .zeroed = is_filtered ? filter->threads[thread].bits.zeroed : NULL};
    if (context->edges)
        QFZ_TRY(qfz_source_read_edges(context->source, context->box, context->edges, err));
    if (keeps_results(run) && qfz_tile_cache_resume(&run->cache, worker, &context->tile, tile))
        return QFZ_OK;
    const bool is_known = was_cached && qfz_stitch_has_sum(run->stitch, tile);
    const bool sums = !setup->job->trust_source && !is_known;
    uint64_t sum = 0;
    QFZ_TRY(was_cached
                ? load_pixels(setup->engine, &context->tile, worker, also, err)
                : read_tile(run, context, worker, also, pixels,
                            is_cached || qfz_reads_whole_tiles(setup), sums ? &sum : NULL, err));
    if (was_cached && sums) sum = sum_of_pixels(&context->tile);
    if (sums) QFZ_TRY(check_sum(run, context, tile, sum, err));
    if (!is_filtered) return QFZ_OK;
    return qfz_filter_stage_resolve(filter, context, thread, tile, run->pass < setup->passes, err);
}

/* ------------------------------------------------------------------------------------- the pass */
typedef struct tile_pass {
    qfz_run *run;
    qfz_tile_visit_fn visit;
    void *arg;
    int64_t *tiles; /* that are not done */
} tile_pass;

static qfz_status visit_tile(void *arg, int64_t item, int thread, qfz_error *err)
{
    const tile_pass *const pass = arg;
    qfz_run *const run = pass->run;
    qfz_thread_context *const context = &run->contexts.list[thread];
    const int64_t tile = pass->tiles[item];
    QFZ_TRY(load_tile(run, context, thread, tile, err));
    QFZ_TRY(pass->visit(run, context, tile, pass->arg, err));
    if (run->pass < run->setup->passes && keeps_results(run))
        QFZ_TRY(qfz_tile_cache_store_result(&run->cache, context->worker, tile, err));
    return qfz_progress_advance(run->progress, err);
}

/* Passes are counted in each process; a process of phase resolve makes the last pass only. */
static void begin_pass(qfz_run *run, double share, int64_t n_tiles)
{
    char step[sizeof run->progress->step];
    run->pass++;
    if (run->setup->job->phase == QFZ_PHASE_RESOLVE) run->pass = run->setup->passes;
    (void)snprintf(step, sizeof step, "pass %d of %d", run->pass, run->setup->passes);
    qfz_progress_begin(run->progress, step, share, n_tiles);
}

static qfz_status visit_tiles(tile_pass *pass, double share, qfz_tile_is_done_fn is_done,
                              qfz_error *err)
{
    qfz_run *const run = pass->run;
    int64_t n = 0;
    QFZ_TRY(QFZ_NEW(&pass->tiles, run->end_tile - run->first_tile, err));
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++)
        if (!is_done(run, tile, pass->arg)) pass->tiles[n++] = tile;
    begin_pass(run, share, n);
    QFZ_TRY(qfz_progress_advance_to(run->progress, 0, err));
    return qfz_parallel_for(run->contexts.n, n, visit_tile, pass, err);
}

qfz_status qfz_tile_pass_run(qfz_run *run, double share, qfz_tile_is_done_fn is_done,
                             qfz_tile_visit_fn visit, void *arg, qfz_error *err)
{
    tile_pass pass = {.run = run, .visit = visit, .arg = arg};
    const qfz_status st = visit_tiles(&pass, share, is_done, err);
    free(pass.tiles);
    return qfz_ranks_agree(run->ranks, st, err);
}
