/* SPDX-License-Identifier: MIT */
/* run.h - a job that is under way: what it has, and what each thread works with. */
#ifndef QFZ_RUN_H
#define QFZ_RUN_H

#include <pthread.h>

#include "job/setup.h"
#include "job/steps.h"
#include "stitch/stitch.h"

/* What one thread works with. */
typedef struct qfz_thread_context {
    qfz_source *source;
    qfz_worker *worker;
    void *pixels;   /* of a tile that is not kept, or of the part of it that was just read */
    uint8_t *valid; /* of all of it; NULL: all are */
    qfz_image tile; /* the one that is loaded */
    qfz_box box;
    void *out;         /* room for one tile of output; NULL: there is none */
    uint64_t *records; /* with a region table: records_n of them */
    int64_t records_n;
} qfz_thread_context;

typedef struct qfz_tile_cache_entry {
    void *pixels; /* until who resumes the tile has no need of them */
    uint8_t *valid;
    qfz_cached *found; /* until the next visit */
    int64_t result_bytes;
} qfz_tile_cache_entry;

typedef struct qfz_work qfz_work; /* work.h */

typedef struct qfz_run {
    const qfz_setup *setup;
    qfz_source *source; /* for what is asked once */
    const qfz_ranks *ranks;
    int part, n_parts; /* the rows of tiles that this process has (grid.h), from 0 */
    int64_t first_tile, end_tile;
    qfz_work *work; /* borrowed; NULL: none */
    pthread_t main; /* the thread that may look for other ranks */
    qfz_stitch *stitch;
    int n_contexts;
    qfz_thread_context *contexts;
    qfz_worker **workers; /* theirs */
    int64_t n_tiles;
    qfz_tile_cache_entry *kept;
    int64_t cached_bytes; /* of pixels and validity */
    int64_t result_bytes; /* of what was found out of tiles, and what there is room for */
    int64_t result_room;
    int n_waiting;      /* devices whose workers are not open yet */
    int64_t next_ahead; /* the tile to be read until they are */
    qfz_steps *steps;   /* borrowed; where their times go */
    char step[32];      /* that is being done */
    int pass;           /* over the pixels, from 1 */
    double scale;       /* makes the shares of all steps 1 */
    double done, share; /* progress before this step, and this step's part */
    double told;
    bool has_tiles; /* the step's items are tiles */
    int64_t items_done, items;
    qfz_count count; /* of regions; after numbering */
} qfz_run;

/* work may be NULL; with one, what it holds is known. */
qfz_status qfz_run_open(qfz_run *run, const qfz_setup *setup, const qfz_ranks *ranks,
                        qfz_source *source, qfz_work *work, qfz_error *err);
void qfz_run_close(qfz_run *run);

/* Of more parts than there are rows of tiles, some have none. */
static inline bool qfz_run_owns_tiles(const qfz_run *run)
{
    return run->first_tile < run->end_tile;
}

/* Where temporary files go: the folder of the output, if it is one. */
void qfz_run_folder(const qfz_job *job, char *folder, size_t size);

/* A step of the job begins: its name, its share of the time, and how many tiles it has, if any. */
void qfz_run_begin(qfz_run *run, const char *step, double share, int64_t tiles);

/* One item more is done.  Any thread; QFZ_ECANCEL where the job is to stop. */
qfz_status qfz_run_advance(qfz_run *run, qfz_error *err);

/* So is that part, 0..1, of a step that is not of tiles.  As above. */
qfz_status qfz_run_advance_to(qfz_run *run, double part, qfz_error *err);

/* Visits the tiles of this process that are not done: loads each, then calls fn.  Collective. */
typedef qfz_status (*qfz_visit_fn)(qfz_run *run, qfz_thread_context *context, int64_t tile,
                                   void *arg, qfz_error *err);
typedef bool (*qfz_tile_fn)(qfz_run *run, int64_t tile, void *arg);
qfz_status qfz_run_visit(qfz_run *run, double share, qfz_tile_fn is_done, qfz_visit_fn fn,
                         void *arg, qfz_error *err);

/* Stitches all summaries.  Collective. */
qfz_status qfz_run_solve(qfz_run *run, double share, qfz_error *err);

#endif
