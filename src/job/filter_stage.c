/* SPDX-License-Identifier: MIT */
#include "job/filter_stage.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "job/tile_error.h"

static bool is_by_area(const qfz_setup *setup)
{
    return setup->job->min_area_m2 > 0;
}

qfz_status qfz_filter_least_mass(const qfz_setup *setup, const qfz_source *source, uint64_t *mass,
                                 qfz_error *err)
{
    const double most = 9e18; /* all pixels together have less than 2^63 units */
    *mass = setup->job->criterion.min_area;
    if (!is_by_area(setup)) return QFZ_OK;
    const double units = ceil(setup->job->min_area_m2 / qfz_source_area_unit(source));
    if (!(units >= 1))
        return qfz_fail(err, QFZ_EARG,
                        "%s: a least area of %.17g square metres is not a number of "
                        "units of its pixels' area",
                        setup->job->src, setup->job->min_area_m2);
    *mass = units < most ? (uint64_t)units : (uint64_t)most;
    return QFZ_OK;
}

/* The mass of all pixels of the raster, also of invalid ones. */
static qfz_status total_mass(const qfz_filter_stage *stage, uint64_t *mass, qfz_error *err)
{
    enum { SOME = 1024 };
    uint64_t rows[SOME];
    const int64_t w = stage->setup->info.w, h = stage->setup->info.h;
    uint64_t column = is_by_area(stage->setup) ? 0 : (uint64_t)h;
    for (int64_t y = 0; is_by_area(stage->setup) && y < h; y += SOME) {
        const int64_t n = h - y < SOME ? h - y : SOME;
        QFZ_TRY(qfz_source_row_areas(stage->source, y, n, rows, err));
        for (int64_t i = 0; i < n; i++)
            column += rows[i];
    }
    *mass = column * (uint64_t)w;
    return QFZ_OK;
}

/* Of two components, the lighter one has at most half of the mass of all pixels.  So all masses
 * above the half give one result, and the least of them the smallest summaries: those of components
 * that can never weigh enough hold an event for nearly every pixel. */
static qfz_status set_least_mass(qfz_filter_stage *stage, qfz_error *err)
{
    uint64_t *const least = &stage->rule.min_mass;
    uint64_t all;
    QFZ_TRY(qfz_filter_least_mass(stage->setup, stage->source, least, err));
    QFZ_TRY(total_mass(stage, &all, err));
    if (*least > all / 2) *least = all / 2 + 1;
    return QFZ_OK;
}

static qfz_status thread_open(qfz_filter_stage *stage, int i, qfz_error *err)
{
    const qfz_tiling *const t = &stage->setup->tiling;
    qfz_filter_thread *const thread = &stage->threads[i];
    QFZ_TRY(QFZ_NEW_LARGE(&thread->bits.zeroed, t->tile_h * t->tile_w, err));
    if (stage->rule.wants_forest)
        QFZ_TRY(QFZ_NEW_LARGE(&thread->bits.forest, t->tile_h * t->tile_w, err));
    return is_by_area(stage->setup) ? QFZ_NEW(&thread->row_mass, t->tile_h, err) : QFZ_OK;
}

/* On the devices of the threads' own workers. */
static qfz_status workers_open(qfz_filter_stage *stage, int device, qfz_error *err)
{
    const qfz_setup *const setup = stage->setup;
    const int first = qfz_first_context(setup, stage->n, device);
    const int end = qfz_first_context(setup, stage->n, device + 1);
    const qfz_worker_spec spec = {.rule = &stage->rule,
                                  .kind = QFZ_FILTER,
                                  .max_h = (int32_t)setup->tiling.tile_h,
                                  .max_w = (int32_t)setup->tiling.tile_w,
                                  .n_threads = 1,
                                  .device = setup->choice.devices[device]};
    return end > first ? setup->engine->open(stage->workers + first, end - first, &spec, err)
                       : QFZ_OK;
}

qfz_status qfz_filter_stage_open(qfz_filter_stage *stage, const qfz_setup *setup,
                                 const qfz_ranks *ranks, const qfz_source *source, int n,
                                 const char *folder, qfz_tile_cache *tiles, qfz_error *err)
{
    *stage = (qfz_filter_stage){0};
    if (setup->rule.min_mass == 0) return QFZ_OK;
    stage->setup = setup;
    stage->source = source;
    stage->rule = setup->rule;
    stage->rule.alpha_level = qfz_top_level(&stage->rule); /* a light region joins along any edge */
    QFZ_TRY(set_least_mass(stage, err));
    QFZ_TRY(qfz_stitch_open(&stage->stitch, &stage->rule, QFZ_FILTER, &setup->tiling, ranks,
                            setup->n_threads, setup->store_bytes / 2, folder, err));
    QFZ_TRY(qfz_filter_cache_open(&stage->cache, setup, tiles, err));
    QFZ_TRY(QFZ_NEW_ZERO(&stage->threads, n, err));
    QFZ_TRY(QFZ_NEW_ZERO(&stage->workers, n, err));
    stage->n = n;
    for (int i = 0; i < n; i++)
        QFZ_TRY(thread_open(stage, i, err));
    for (int device = 0; device < setup->choice.n_devices; device++)
        QFZ_TRY(workers_open(stage, device, err));
    return QFZ_OK;
}

static void workers_close(qfz_filter_stage *stage, int device)
{
    const int first = qfz_first_context(stage->setup, stage->n, device);
    const int end = qfz_first_context(stage->setup, stage->n, device + 1);
    if (end > first && stage->workers[first])
        stage->setup->engine->close(stage->workers + first, end - first);
}

void qfz_filter_stage_close(qfz_filter_stage *stage)
{
    for (int device = 0; stage->n > 0 && device < stage->setup->choice.n_devices; device++)
        workers_close(stage, device);
    for (int i = 0; i < stage->n; i++) {
        free(stage->threads[i].bits.zeroed);
        free(stage->threads[i].bits.forest);
        free(stage->threads[i].row_mass);
    }
    free(stage->threads);
    free(stage->workers);
    qfz_stitch_close(stage->stitch);
    qfz_filter_cache_close(&stage->cache);
    *stage = (qfz_filter_stage){0};
}

static qfz_status weigh_rows(const qfz_filter_stage *stage, const qfz_thread_context *context,
                             int thread, qfz_error *err)
{
    uint64_t *const row_mass = stage->threads[thread].row_mass;
    if (!row_mass) return QFZ_OK;
    return qfz_source_row_areas(stage->source, context->box.y0, context->tile.h, row_mass, err);
}

qfz_status qfz_filter_stage_summarise(qfz_filter_stage *stage, const qfz_thread_context *context,
                                      int thread, int64_t tile, qfz_error *err)
{
    qfz_worker *const worker = stage->workers[thread];
    const qfz_filter_thread *const own = &stage->threads[thread];
    const qfz_edge_bits *const bits = qfz_filter_cache_keeps(&stage->cache) ? &own->bits : NULL;
    qfz_summary summary;
    qfz_status st;
    QFZ_TRY(weigh_rows(stage, context, thread, err));
    QFZ_TRY(qfz_summary_init(&summary, context->box, &stage->rule, err));
    QFZ_TRY_OR(st, cleanup,
               stage->setup->engine->filter->summarise(worker, context->box, own->row_mass, bits,
                                                       &summary, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_put(stage->stitch, tile, &summary, err));
    if (bits) st = qfz_filter_cache_keep(&stage->cache, worker, tile, bits, err);

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

/* exterior: NULL for a single tile, of which nothing is kept. */
static qfz_status find_edges(const qfz_filter_stage *stage, const qfz_thread_context *context,
                             int thread, const qfz_filter_kept *kept, const qfz_exterior *exterior,
                             qfz_error *err)
{
    const qfz_engine_filter *const filter = stage->setup->engine->filter;
    const qfz_filter_thread *const own = &stage->threads[thread];
    qfz_worker *const worker = stage->workers[thread];
    const qfz_box box = context->box;
    return kept ? filter->resolve_kept(worker, &context->tile, box, kept, exterior, &own->bits, err)
                : filter->resolve(worker, box, own->row_mass, exterior, &own->bits, err);
}

static qfz_status find_tile(qfz_filter_stage *stage, const qfz_thread_context *context, int thread,
                            int64_t tile, qfz_error *err)
{
    const qfz_filter_kept *const kept = qfz_filter_cache_kept(&stage->cache, tile);
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    qfz_status st;
    QFZ_TRY(weigh_rows(stage, context, thread, err));
    QFZ_TRY(qfz_stitch_exterior(stage->stitch, tile, &exterior, err));
    st = find_edges(stage, context, thread, kept, exterior.n_ring ? &exterior : NULL, &found);
    st = qfz_tile_engine_status(stage->setup->job->src, context->box, st, &found, err);
    qfz_exterior_fini(&exterior);
    qfz_filter_cache_drop_kept(&stage->cache, tile);
    return st;
}

bool qfz_filter_stage_needs_tile(const qfz_filter_stage *stage, int64_t tile)
{
    return !qfz_filter_cache_has(&stage->cache, tile) &&
           !qfz_filter_cache_kept(&stage->cache, tile);
}

qfz_status qfz_filter_stage_resolve(qfz_filter_stage *stage, const qfz_thread_context *context,
                                    int thread, int64_t tile, bool stays, qfz_error *err)
{
    const qfz_filter_thread *const own = &stage->threads[thread];
    const int64_t n = context->tile.h * context->tile.w;
    if (qfz_filter_cache_has(&stage->cache, tile)) {
        qfz_filter_cache_get(&stage->cache, tile, n, &own->bits);
        return QFZ_OK;
    }
    QFZ_TRY(find_tile(stage, context, thread, tile, err));
    return stays ? qfz_filter_cache_put(&stage->cache, tile, n, &own->bits, err) : QFZ_OK;
}
