/* SPDX-License-Identifier: MIT */
/* run.h - a job under way: everything that its passes share.
 *
 * Tile cache, thread contexts, progress and work folder have headers of their own, which do not
 * include this one. */
#ifndef QFZ_RUN_H
#define QFZ_RUN_H

#include "job/filter_stage.h"
#include "job/progress.h"
#include "job/thread_contexts.h"
#include "job/work_folder.h"

typedef struct qfz_run {
    const qfz_setup *setup; /* borrowed, as source, ranks and work */
    qfz_source *source;     /* for one thread at a time; readers are in the thread contexts */
    const qfz_ranks *ranks;
    qfz_work_folder *work; /* NULL: none */

    int64_t alpha; /* number of this run among those of several alphas, from 0 */

    int part, n_parts; /* this process's range of rows of tiles (tiling.h), part from 0 */
    int64_t first_tile, end_tile;
    int64_t n_tiles;   /* of the whole raster */
    char folder[4096]; /* of temporary files */

    qfz_filter_stage filter; /* of a job with a least area; else all 0 */
    qfz_stitch *stitch;      /* of the task itself */
    qfz_tile_cache cache;
    qfz_thread_contexts contexts;
    qfz_job_progress *progress;
    int pass;        /* number of the current pass over the pixels, from 1 */
    qfz_count count; /* of regions; set after numbering */
    uint64_t pixels; /* valid pixels of all ranks; set before the last pass */
    uint64_t wide;   /* of them, those in regions that exceed omega; likewise */
    int level_bytes; /* QFZ_SALIENCY: qfz_level_bytes() of the largest saliency; 0: not yet known */
    qfz_curve curve; /* QFZ_CURVE: set at the end; the arrays belong to the run */

    /* A job of several alphas has a run for each; NULL: this is the last one.  The first has the
     * tiles, the threads, the filter and the progress. */
    struct qfz_run *next_alpha;
} qfz_run;

/* Opens thread contexts, tile cache, filter and stitching.  With a work folder (NULL: none),
 * summaries and exteriors in its journals are loaded.  times (borrowed) receives the times of the
 * steps.  After a failure everything is closed. */
qfz_status qfz_run_open(qfz_run *run, const qfz_setup *setup, const qfz_ranks *ranks,
                        qfz_source *source, qfz_work_folder *work, qfz_step_times *times,
                        qfz_error *err);
void qfz_run_close(qfz_run *run); /* a run that is all 0 is allowed */

/* Opens run number `alpha` of a job of several alphas, whose first run is open.  The setup is that
 * of the first alpha, but for job and alpha_level.  It is closed before the first one. */
qfz_status qfz_run_open_alpha(qfz_run *run, const qfz_run *first, int64_t alpha,
                              const qfz_setup *setup, qfz_error *err);
void qfz_run_close_alpha(qfz_run *run);

/* False for a process without tiles: there may be more parts than rows of tiles. */
static inline bool qfz_run_owns_tiles(const qfz_run *run)
{
    return run->first_tile < run->end_tile;
}

/* True if the job counts the pixels in regions whose span exceeds omega.  All levels above 0 are
 * within omega; so these are the regions of level 0, which the area filter makes. */
static inline bool qfz_run_counts_wide(const qfz_run *run)
{
    return run->setup->job->task == QFZ_SIMPLIFY && run->setup->rule.min_mass > 0 &&
           run->setup->rule.omega;
}

#endif
