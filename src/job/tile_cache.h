/* SPDX-License-Identifier: MIT */
/* tile_cache.h - tiles that stay in memory between the passes of a job: their pixels, and the
 * results that the engine would otherwise compute again.
 *
 * Pixels have priority, because a byte of pixels saves more time than a byte of results.  Results
 * get the part of the budget (setup->tile_cache_bytes) that the pixels of all tiles leave.
 * Invariant: pixel_bytes and result_bytes are the sums over all entries, result_bytes with the room
 * that was taken. */
#ifndef QFZ_TILE_CACHE_H
#define QFZ_TILE_CACHE_H

#include "job/setup.h"

typedef struct qfz_tile_cache_entry {
    void *pixels; /* NULL: not cached, or no longer needed by the cached result */
    uint8_t *valid;
    qfz_cached *result; /* NULL: none */
    int64_t result_bytes;
} qfz_tile_cache_entry;

typedef struct qfz_tile_cache {
    const qfz_setup *setup;
    int64_t n_tiles;
    qfz_tile_cache_entry *entries; /* n_tiles of them */
    int64_t pixel_bytes;           /* of pixels and validity */
    int64_t result_bytes;
    int64_t result_room; /* the most that result_bytes may be */
} qfz_tile_cache;

/* Tiles first_tile..end_tile (half-open) of the setup's tiling will be cached. */
qfz_status qfz_tile_cache_open(qfz_tile_cache *cache, const qfz_setup *setup, int64_t first_tile,
                               int64_t end_tile, qfz_error *err);
void qfz_tile_cache_close(qfz_tile_cache *cache);

/* The functions below may be called by any thread, each tile by one thread at a time. */

/* Allocates the pixels and validity of a tile's entry, to be filled by the caller.  They stay NULL,
 * with QFZ_OK, if the budget is used up. */
qfz_status qfz_tile_cache_add_pixels(qfz_tile_cache *cache, int64_t tile, qfz_error *err);

/* Frees a tile's pixels and validity. */
void qfz_tile_cache_drop_pixels(qfz_tile_cache *cache, int64_t tile);

/* Stores the result of the worker's loaded tile if the budget allows and the tile's pixels are
 * cached; frees pixels that resume() does not need. */
qfz_status qfz_tile_cache_store_result(qfz_tile_cache *cache, qfz_worker *worker, int64_t tile,
                                       qfz_error *err);

/* Loads a tile into the worker from its cached result, and releases the result.  False: there is no
 * usable result, and the caller loads the tile. */
bool qfz_tile_cache_resume(qfz_tile_cache *cache, qfz_worker *worker, const qfz_image *image,
                           int64_t tile);

/* Takes room for results outside of the cache from the budget of results; false: there is not
 * enough. */
bool qfz_tile_cache_take_room(qfz_tile_cache *cache, int64_t bytes);
void qfz_tile_cache_return_room(qfz_tile_cache *cache, int64_t bytes);

#endif
