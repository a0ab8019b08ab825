/* SPDX-License-Identifier: MIT */
/* thread_contexts.h - what each thread of a job owns: a reader of the source, a worker of the
 * engine, and memory for one tile of input and output.
 *
 * Context i belongs to thread i in all passes.  GDAL lets datasets that one thread opened share a
 * file handle and its position (raw files in a VRT, for instance), so the thread that opened a
 * context is the only one that reads with it. */
#ifndef QFZ_THREAD_CONTEXTS_H
#define QFZ_THREAD_CONTEXTS_H

#include "job/tile_cache.h"

typedef struct qfz_thread_context {
    qfz_source *source;
    qfz_worker *worker;
    qfz_rule rule;   /* of a job of several alphas: what the worker follows, at the present alpha */
    void *pixels;    /* of a tile that is not cached, or of the rows of it that were just read */
    uint8_t *valid;  /* of a whole tile; NULL: all pixels are valid */
    uint32_t *edges; /* levels of a whole tile; NULL: levels are of pixels */
    qfz_image tile;  /* the loaded tile */
    qfz_box box;     /* of the loaded tile in the raster */
    void *out;       /* one tile of output; NULL: the job only counts */
    uint64_t *records; /* records_n region records; NULL: no table */
    int64_t records_n;
} qfz_thread_context;

typedef struct qfz_thread_contexts {
    const qfz_setup *setup;
    qfz_source *source;    /* borrowed */
    qfz_tile_cache *cache; /* borrowed */
    int n;
    qfz_thread_context *list; /* n of them */
    qfz_worker **workers;     /* theirs, in the same order */
    bool reads_ahead;         /* read tiles into the cache while devices start */
    int n_waiting;            /* devices whose workers are not open yet */
    int64_t next_ahead;       /* the next tile to be read ahead ... */
    int64_t end_tile;         /* ... and the end of the range */
} qfz_thread_contexts;

/* True if a context has the pixels of a whole tile: an engine that takes rows as they are read
 * needs but some of them at a time, and the rows of a forest have levels of pixels. */
bool qfz_reads_whole_tiles(const qfz_setup *setup);

/* The index of the first of n contexts of a device; the contexts of a device are neighbours. */
int qfz_first_context(const qfz_setup *setup, int n, int64_t device);

/* Opens n contexts and their workers, and locates the source (qfz_source_locate()).
 *
 * GPUs start more slowly than everything else before the first pass: meanwhile, if reads_ahead, the
 * threads read tiles first_tile..end_tile (half-open) into the cache.  A tile that cannot be read
 * ahead is left to the pass, which reports why.  After a failure qfz_thread_contexts_close()
 * releases what was opened. */
qfz_status qfz_thread_contexts_open(qfz_thread_contexts *contexts, const qfz_setup *setup, int n,
                                    qfz_source *source, qfz_tile_cache *cache, bool reads_ahead,
                                    int64_t first_tile, int64_t end_tile, qfz_error *err);
void qfz_thread_contexts_close(qfz_thread_contexts *contexts);

#endif
