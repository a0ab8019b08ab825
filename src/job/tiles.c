/* SPDX-License-Identifier: MIT */
#include "job/tiles.h"

#include <stdlib.h>

#include "core/memory.h"

/* Bytes of a tile's pixels and validity. */
static int64_t pixels_bytes(const qfz_run *run, int64_t tile)
{
    const qfz_tiling *const t = &run->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    return qfz_box_h(box) * qfz_box_w(box) * qfz_setup_source_bytes(run->setup);
}

/* In a job of phases the next pass is another process's. */
qfz_status qfz_tiles_open(qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    int64_t room = setup->keep_bytes;
    QFZ_TRY(QFZ_NEW_ZERO(&run->kept, run->n_tiles, err));
    if (!setup->engine->cache || setup->job->phase != QFZ_PHASE_ALL) return QFZ_OK;
    for (int64_t tile = run->first_tile; tile < run->end_tile && room > 0; tile++)
        room -= pixels_bytes(run, tile);
    run->result_room = room > 0 ? room : 0;
    return QFZ_OK;
}

static void drop_found(qfz_run *run, int64_t tile)
{
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    if (kept->found) run->setup->engine->cache->drop(kept->found);
    kept->found = NULL;
#pragma omp atomic
    run->result_bytes -= kept->result_bytes;
    kept->result_bytes = 0;
}

void qfz_tiles_close(qfz_run *run)
{
    for (int64_t tile = 0; run->kept && tile < run->n_tiles; tile++) {
        free(run->kept[tile].pixels);
        free(run->kept[tile].valid);
        drop_found(run, tile);
    }
    free(run->kept);
    run->kept = NULL;
}

void qfz_tile_drop(qfz_run *run, int64_t tile)
{
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    const int64_t bytes = pixels_bytes(run, tile);
#pragma omp atomic
    run->cached_bytes -= bytes;
    free(kept->pixels);
    free(kept->valid);
    *kept = (qfz_tile_cache_entry){0};
}

qfz_status qfz_tile_keep(qfz_run *run, int64_t tile, qfz_error *err)
{
    const qfz_source_info *const info = &run->setup->info;
    const int64_t bytes = pixels_bytes(run, tile), px = bytes / qfz_setup_source_bytes(run->setup);
    qfz_tile_cache_entry *const k = &run->kept[tile];
    int64_t all;
#pragma omp atomic capture
    all = run->cached_bytes += bytes;
    if (all > run->setup->keep_bytes) {
        qfz_tile_drop(run, tile);
        return QFZ_OK;
    }
    qfz_status st =
        qfz_alloc_large(&k->pixels, px * info->n_bands, qfz_type_bytes(info->type), err);
    if (st == QFZ_OK && info->may_be_invalid) st = QFZ_NEW_LARGE(&k->valid, px, err);
    if (st != QFZ_OK) qfz_tile_drop(run, tile);
    return st;
}

/* Their memory is there for the next tile's. */
static void drop_pixels(qfz_run *run, int64_t tile)
{
    const qfz_source_info *const info = &run->setup->info;
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    const int64_t px = pixels_bytes(run, tile) / qfz_setup_source_bytes(run->setup);
    const int64_t bytes = px * info->n_bands * (int64_t)qfz_type_bytes(info->type);
#pragma omp atomic
    run->cached_bytes -= bytes;
    free(kept->pixels);
    kept->pixels = NULL;
}

/* Whoever resumes may look at the tile's pixels again, so they must have been kept until now. */
qfz_status qfz_tile_keep_result(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                                qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    const bool last = run->pass >= run->setup->passes;
    if (run->result_room == 0 || last || !kept->pixels) return QFZ_OK;
    const int64_t bytes = engine->cache->bytes(context->worker);
    int64_t all;
    if (bytes == 0) return QFZ_OK;
    kept->result_bytes = bytes;
#pragma omp atomic capture
    all = run->result_bytes += bytes;
    const qfz_status st =
        all > run->result_room ? QFZ_OK : engine->cache->store(context->worker, &kept->found, err);
    if (!kept->found) drop_found(run, tile);
    if (kept->found && !engine->cache->needs_pixels(context->worker)) drop_pixels(run, tile);
    return st;
}

bool qfz_tile_resume(qfz_run *run, const qfz_thread_context *context, int64_t tile)
{
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    if (!kept->found) return false;
    const bool taken =
        run->setup->engine->cache->resume(context->worker, &context->tile, kept->found);
    if (taken) kept->found = NULL;
    drop_found(run, tile);
    return taken;
}
