/* SPDX-License-Identifier: MIT */
/* filter_cache.h - what the area filter has found of tiles, in memory between the passes of a job.
 *
 * From a tile's summary to its exterior: what the engine keeps (qfz_engine_filter), within the room
 * of the tile cache's results.  From then on: the bits of its edges, within
 * setup->filter_cache_bytes.  Without them a tile is loaded and worked on once more in each pass.
 */
#ifndef QFZ_FILTER_CACHE_H
#define QFZ_FILTER_CACHE_H

#include "job/tile_cache.h"

typedef struct qfz_filter_cache_entry {
    uint8_t *bits; /* packed (core/packed_bits.h): zeroed, and behind it forest; NULL: none */
    qfz_filter_kept *kept; /* NULL: none */
    int64_t kept_bytes;
} qfz_filter_cache_entry;

typedef struct qfz_filter_cache {
    const qfz_setup *setup;
    qfz_tile_cache *tiles; /* borrowed: whose room kept results take */
    int64_t n_tiles;
    qfz_filter_cache_entry *entries; /* n_tiles of them */
    int64_t bits_bytes;
} qfz_filter_cache;

qfz_status qfz_filter_cache_open(qfz_filter_cache *cache, const qfz_setup *setup,
                                 qfz_tile_cache *tiles, qfz_error *err);
void qfz_filter_cache_close(qfz_filter_cache *cache); /* before the tile cache */

/* The functions below may be called by any thread, each tile by one thread at a time. */

/* True if something is to be kept of tiles before they have exteriors. */
bool qfz_filter_cache_keeps(const qfz_filter_cache *cache);

/* Keeps what the worker has just found for a summary, if there is room. */
qfz_status qfz_filter_cache_keep(qfz_filter_cache *cache, const qfz_worker *worker, int64_t tile,
                                 const qfz_edge_bits *bits, qfz_error *err);

/* What is kept of a tile; NULL: nothing. */
const qfz_filter_kept *qfz_filter_cache_kept(const qfz_filter_cache *cache, int64_t tile);
void qfz_filter_cache_drop_kept(qfz_filter_cache *cache, int64_t tile);

/* Stores the bits of a tile of n pixels, if there is room. */
qfz_status qfz_filter_cache_put(qfz_filter_cache *cache, int64_t tile, int64_t n,
                                const qfz_edge_bits *bits, qfz_error *err);
bool qfz_filter_cache_has(const qfz_filter_cache *cache, int64_t tile);
void qfz_filter_cache_get(const qfz_filter_cache *cache, int64_t tile, int64_t n,
                          const qfz_edge_bits *bits);

#endif
