/* SPDX-License-Identifier: MIT */
/* filter_stage.h - stage one of a job with a least area of regions: which edges have level 0.
 *
 * The area filter comes before the task's own passes.  A pass over the tiles makes their boundary
 * summaries for the filter, and one stitching makes the exteriors.  From its exterior each tile
 * then knows the edges that the filter sets to level 0, and every later pass finds them again
 * before its visit.  The task itself works on the filtered levels and is otherwise unchanged.
 *
 * Source: Perret, Cousty, Guimaraes, Kenmochi, Najman, Removing non-significant regions in
 * hierarchical clustering and segmentation, Pattern Recognition Letters 128, 2019; the definition
 * for rasters in tiles is in docs/dev/area-filter.md. */
#ifndef QFZ_FILTER_STAGE_H
#define QFZ_FILTER_STAGE_H

#include "job/filter_cache.h"
#include "job/thread_contexts.h"
#include "stitch/stitch.h"

/* What a thread owns for the filter, beside its context. */
typedef struct qfz_filter_thread {
    qfz_edge_bits bits; /* of a whole tile */
    uint64_t *row_mass; /* weight of a pixel in each row of the tile; NULL: 1 each */
} qfz_filter_thread;

typedef struct qfz_filter_stage {
    const qfz_setup *setup;   /* NULL: the job has no filter, and everything below is 0 */
    const qfz_source *source; /* located; borrowed */
    qfz_rule rule;            /* with the least mass of a region */
    qfz_stitch *stitch;
    int n; /* threads */
    qfz_filter_thread *threads;
    qfz_worker **workers; /* one for each thread */
    bool is_current;      /* the present pass is the filter's own */
    qfz_filter_cache cache;
} qfz_filter_stage;

/* Opens the stage of a job with a filter; does nothing for other jobs.  The source is located, and
 * the stage is for n threads.  Results beyond the setup's budget go to a file in folder; tiles
 * (borrowed) is the tile cache of the job.  After a failure qfz_filter_stage_close() releases what
 * was opened. */
qfz_status qfz_filter_stage_open(qfz_filter_stage *stage, const qfz_setup *setup,
                                 const qfz_ranks *ranks, const qfz_source *source, int n,
                                 const char *folder, qfz_tile_cache *tiles, qfz_error *err);
void qfz_filter_stage_close(qfz_filter_stage *stage); /* a stage that is all 0 is allowed */

/* *mass = the least mass of a region: pixels, or units of area of the source, which is located. */
qfz_status qfz_filter_least_mass(const qfz_setup *setup, const qfz_source *source, uint64_t *mass,
                                 qfz_error *err);

/* Stores the filter's boundary summary of the tile that is loaded in the thread's worker. */
qfz_status qfz_filter_stage_summarise(qfz_filter_stage *stage, const qfz_thread_context *context,
                                      int thread, int64_t tile, qfz_error *err);

/* True if qfz_filter_stage_resolve() needs the tile loaded in the thread's worker. */
bool qfz_filter_stage_needs_tile(const qfz_filter_stage *stage, int64_t tile);

/* Fills threads[thread].bits for the tile of the context, which is loaded in the thread's worker if
 * it needs to be.  stays: a later pass may want them again. */
qfz_status qfz_filter_stage_resolve(qfz_filter_stage *stage, const qfz_thread_context *context,
                                    int thread, int64_t tile, bool stays, qfz_error *err);

#endif
