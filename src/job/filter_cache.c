/* SPDX-License-Identifier: MIT */
#include "job/filter_cache.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/packed_bits.h"

qfz_status qfz_filter_cache_open(qfz_filter_cache *cache, const qfz_setup *setup,
                                 qfz_tile_cache *tiles, qfz_error *err)
{
    const qfz_tiling *const t = &setup->tiling;
    *cache = (qfz_filter_cache){.setup = setup, .tiles = tiles, .n_tiles = t->n_x * t->n_y};
    return QFZ_NEW_ZERO(&cache->entries, cache->n_tiles, err);
}

void qfz_filter_cache_close(qfz_filter_cache *cache)
{
    for (int64_t tile = 0; cache->entries && tile < cache->n_tiles; tile++) {
        qfz_filter_cache_drop_kept(cache, tile);
        free(cache->entries[tile].bits);
    }
    free(cache->entries);
    *cache = (qfz_filter_cache){0};
}

/* ---- What the engine keeps. */
bool qfz_filter_cache_keeps(const qfz_filter_cache *cache)
{
    const qfz_setup *const setup = cache->setup;
    return cache->tiles->result_room > 0 && setup->engine->filter->keep;
}

qfz_status qfz_filter_cache_keep(qfz_filter_cache *cache, const qfz_worker *worker, int64_t tile,
                                 const qfz_edge_bits *bits, qfz_error *err)
{
    const qfz_engine_filter *const filter = cache->setup->engine->filter;
    qfz_filter_cache_entry *const entry = &cache->entries[tile];
    const int64_t bytes = filter->kept_bytes(worker);
    if (!qfz_tile_cache_take_room(cache->tiles, bytes)) return QFZ_OK;
    const qfz_status st = filter->keep(worker, bits, &entry->kept, err);
    if (st == QFZ_OK)
        entry->kept_bytes = bytes;
    else
        qfz_tile_cache_return_room(cache->tiles, bytes);
    return st;
}

const qfz_filter_kept *qfz_filter_cache_kept(const qfz_filter_cache *cache, int64_t tile)
{
    return cache->entries[tile].kept;
}

void qfz_filter_cache_drop_kept(qfz_filter_cache *cache, int64_t tile)
{
    qfz_filter_cache_entry *const entry = &cache->entries[tile];
    if (!entry->kept) return;
    cache->setup->engine->filter->drop(entry->kept);
    qfz_tile_cache_return_room(cache->tiles, entry->kept_bytes);
    entry->kept = NULL;
}

/* ---- Bits. */
qfz_status qfz_filter_cache_put(qfz_filter_cache *cache, int64_t tile, int64_t n,
                                const qfz_edge_bits *bits, qfz_error *err)
{
    qfz_filter_cache_entry *const entry = &cache->entries[tile];
    const int64_t plane = qfz_packed_bits_bytes(n), bytes = bits->forest ? 2 * plane : plane;
    int64_t all;
    if (entry->bits) return QFZ_OK;
#pragma omp atomic capture
    all = cache->bits_bytes += bytes;
    if (all <= cache->setup->filter_cache_bytes) QFZ_TRY(QFZ_NEW_LARGE(&entry->bits, bytes, err));
    if (!entry->bits) {
#pragma omp atomic
        cache->bits_bytes -= bytes;
        return QFZ_OK;
    }
    qfz_pack_bits(bits->zeroed, n, entry->bits);
    if (bits->forest) qfz_pack_bits(bits->forest, n, entry->bits + plane);
    return QFZ_OK;
}

bool qfz_filter_cache_has(const qfz_filter_cache *cache, int64_t tile)
{
    return cache->entries[tile].bits != NULL;
}

void qfz_filter_cache_get(const qfz_filter_cache *cache, int64_t tile, int64_t n,
                          const qfz_edge_bits *bits)
{
    const uint8_t *const packed = cache->entries[tile].bits;
    qfz_unpack_bits(packed, n, bits->zeroed);
    if (bits->forest) qfz_unpack_bits(packed + qfz_packed_bits_bytes(n), n, bits->forest);
}
