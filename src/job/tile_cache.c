/* SPDX-License-Identifier: MIT */
#include "job/tile_cache.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/setup_memory.h"

static int64_t tile_px(const qfz_tile_cache *cache, int64_t tile)
{
    const qfz_tiling *const t = &cache->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    return qfz_box_h(box) * qfz_box_w(box);
}

/* Bytes of a tile's pixels and validity. */
static int64_t tile_bytes(const qfz_tile_cache *cache, int64_t tile)
{
    return tile_px(cache, tile) * qfz_setup_source_bytes(cache->setup);
}

/* Results of tiles, or what the area filter has found of them.  In a job of phases another process
 * runs the next pass: they would be of no use. */
static bool keeps_results(const qfz_setup *setup)
{
    const qfz_engine *const engine = setup->engine;
    const bool keeps_filter = setup->rule.min_mass > 0 && engine->filter->keep;
    return (engine->cache || keeps_filter) && setup->job->phase == QFZ_PHASE_ALL;
}

qfz_status qfz_tile_cache_open(qfz_tile_cache *cache, const qfz_setup *setup, int64_t first_tile,
                               int64_t end_tile, qfz_error *err)
{
    const qfz_tiling *const t = &setup->tiling;
    int64_t room = setup->tile_cache_bytes;
    *cache = (qfz_tile_cache){.setup = setup, .n_tiles = t->n_x * t->n_y};
    QFZ_TRY(QFZ_NEW_ZERO(&cache->entries, cache->n_tiles, err));
    if (!keeps_results(setup)) return QFZ_OK;
    for (int64_t tile = first_tile; tile < end_tile && room > 0; tile++)
        room -= tile_bytes(cache, tile);
    cache->result_room = room > 0 ? room : 0;
    return QFZ_OK;
}

static void drop_result(qfz_tile_cache *cache, int64_t tile)
{
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    if (entry->result) cache->setup->engine->cache->drop(entry->result);
    entry->result = NULL;
#pragma omp atomic
    cache->result_bytes -= entry->result_bytes;
    entry->result_bytes = 0;
}

void qfz_tile_cache_close(qfz_tile_cache *cache)
{
    for (int64_t tile = 0; cache->entries && tile < cache->n_tiles; tile++) {
        free(cache->entries[tile].pixels);
        free(cache->entries[tile].valid);
        drop_result(cache, tile);
    }
    free(cache->entries);
    *cache = (qfz_tile_cache){0};
}

void qfz_tile_cache_drop_pixels(qfz_tile_cache *cache, int64_t tile)
{
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    const int64_t bytes = tile_bytes(cache, tile);
#pragma omp atomic
    cache->pixel_bytes -= bytes;
    free(entry->pixels);
    free(entry->valid);
    *entry = (qfz_tile_cache_entry){0};
}

qfz_status qfz_tile_cache_add_pixels(qfz_tile_cache *cache, int64_t tile, qfz_error *err)
{
    const qfz_source_info *const info = &cache->setup->info;
    const int64_t px = tile_px(cache, tile), bytes = tile_bytes(cache, tile);
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    int64_t all;
#pragma omp atomic capture
    all = cache->pixel_bytes += bytes;
    if (all > cache->setup->tile_cache_bytes) {
        qfz_tile_cache_drop_pixels(cache, tile);
        return QFZ_OK;
    }
    qfz_status st =
        qfz_alloc_large(&entry->pixels, px * info->n_planes, qfz_type_bytes(info->type), err);
    if (st == QFZ_OK && info->may_be_invalid) st = QFZ_NEW_LARGE(&entry->valid, px, err);
    if (st != QFZ_OK) qfz_tile_cache_drop_pixels(cache, tile);
    return st;
}

/* Makes room for the pixels of another tile; the validity stays, which resume() reads. */
static void drop_pixels_only(qfz_tile_cache *cache, int64_t tile)
{
    const qfz_source_info *const info = &cache->setup->info;
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    const int64_t bytes =
        tile_px(cache, tile) * info->n_planes * (int64_t)qfz_type_bytes(info->type);
#pragma omp atomic
    cache->pixel_bytes -= bytes;
    free(entry->pixels);
    entry->pixels = NULL;
}

/* resume() may read the tile's pixels again: a result without cached pixels is not stored. */
qfz_status qfz_tile_cache_store_result(qfz_tile_cache *cache, qfz_worker *worker, int64_t tile,
                                       qfz_error *err)
{
    const qfz_engine *const engine = cache->setup->engine;
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    if (!engine->cache || cache->result_room == 0 || !entry->pixels) return QFZ_OK;
    const int64_t bytes = engine->cache->bytes(worker);
    int64_t all;
    if (bytes == 0) return QFZ_OK;
    entry->result_bytes = bytes;
#pragma omp atomic capture
    all = cache->result_bytes += bytes;
    const qfz_status st =
        all > cache->result_room ? QFZ_OK : engine->cache->store(worker, &entry->result, err);
    if (!entry->result) drop_result(cache, tile);
    if (entry->result && !engine->cache->needs_pixels(worker)) drop_pixels_only(cache, tile);
    return st;
}

bool qfz_tile_cache_resume(qfz_tile_cache *cache, qfz_worker *worker, const qfz_image *image,
                           int64_t tile)
{
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    if (!entry->result) return false;
    const bool resumed = cache->setup->engine->cache->resume(worker, image, entry->result);
    if (resumed) entry->result = NULL;
    drop_result(cache, tile);
    return resumed;
}

bool qfz_tile_cache_take_room(qfz_tile_cache *cache, int64_t bytes)
{
    int64_t all;
#pragma omp atomic capture
    all = cache->result_bytes += bytes;
    if (all <= cache->result_room) return true;
    qfz_tile_cache_return_room(cache, bytes);
    return false;
}

void qfz_tile_cache_return_room(qfz_tile_cache *cache, int64_t bytes)
{
#pragma omp atomic
    cache->result_bytes -= bytes;
}
