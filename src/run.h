/* SPDX-License-Identifier: MIT */
/* run.h - a job that is under way: what is decided once, and what each thread works with. */
#ifndef QFZ_RUN_H
#define QFZ_RUN_H

#include <pthread.h>

#include "choice.h"
#include "raster/raster.h"
#include "steps.h"
#include "stitch/stitch.h"

enum { QFZ_RECORDS_BYTES = 8 << 20 }; /* region records that a thread gathers at a time */

/* What a job will be done with; nothing of it depends on pixels. */
typedef struct qfz_setup {
    const qfz_job *job;
    qfz_kind kind;
    qfz_rule rule;
    double *omega; /* what rule.omega points to, or NULL */
    uint32_t max_key;
    qfz_source_info info;
    qfz_tiling tiling;
    qfz_choice choice;
    const qfz_engine *engine; /* choice.engine */
    const char *method;       /* of the engine, NULL: any */
    int n_threads;
    int passes; /* over the pixels of the source */
    int64_t memory_bytes;
    int64_t worker_bytes; /* one thread's tile and all that goes with it */
    int64_t cache_bytes;  /* GDAL's block cache, at the most */
    int64_t store_bytes;  /* summaries in memory */
    int64_t keep_bytes;   /* tiles that are kept: read once only, or while devices start; and what
                             was found out of them */
} qfz_setup;

/* Checks the job, looks at the source, and decides.  *source stays open. */
qfz_status qfz_setup_init(qfz_setup *setup, const qfz_job *job, qfz_source **source,
                          qfz_error *err);
void qfz_setup_fini(qfz_setup *setup);

/* Other tiles than were chosen: those of who began the job. */
qfz_status qfz_setup_retile(qfz_setup *setup, int64_t tile_w, int64_t tile_h, qfz_error *err);
/* After workers did not open: if memory ran out, QFZ_ENOMEM, another plan that needs less of the
 * devices', with smaller tiles or fewer threads; then, and if a device did not start, QFZ_EGPU, the
 * CPU if the job leaves the choice.  The same status if there is no other plan. */
qfz_status qfz_setup_shrink(qfz_setup *setup, qfz_status why, qfz_error *err);

/* GDAL's cache while tiles are read: no more than helps, since new pages take as long as copying.
 */
int64_t qfz_setup_cache_bytes(const qfz_setup *setup, const qfz_source *source);

/* Bytes of the source, a pixel, with its validity. */
int64_t qfz_setup_source_bytes(const qfz_setup *setup);

/* Bytes of a task's widest output, a pixel; saliency's with the keys that it is made from; 0 where
 * regions are only counted. */
size_t qfz_setup_out_bytes(const qfz_setup *setup);

/* How each output would be made; max_value as far as it is known. */
qfz_sink_spec qfz_spec_labels(const qfz_setup *setup, const char *path, uint64_t n_regions);
qfz_sink_spec qfz_spec_painted(const qfz_setup *setup, const char *path);
qfz_sink_spec qfz_spec_saliency(const qfz_setup *setup, const char *path, qfz_layout layout);

/* What one thread works with. */
typedef struct qfz_hand {
    qfz_source *source;
    qfz_worker *worker;
    void *pixels;   /* of a tile that is not kept, or of the part of it that was just read */
    uint8_t *valid; /* of all of it; NULL: all are */
    qfz_image tile; /* the one that is loaded */
    qfz_box box;
    void *out;         /* room for one tile of output; NULL: there is none */
    uint64_t *records; /* with a region table: records_n of them */
    int64_t records_n;
} qfz_hand;

typedef struct kept_tile {
    void *pixels;
    uint8_t *valid;
    qfz_kept *found; /* until the next visit */
    int64_t found_bytes;
} kept_tile;

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
    int n_hands;
    qfz_hand *hands;
    qfz_worker **workers; /* theirs */
    int64_t n_tiles;
    kept_tile *kept;
    int64_t kept_bytes;  /* of pixels and validity */
    int64_t found_bytes; /* of what was found out of tiles, and what there is room for */
    int64_t found_room;
    int n_waiting;      /* devices whose workers are not open yet */
    int64_t next_ahead; /* the tile to be read until they are */
    qfz_steps *steps;   /* borrowed; where their times go */
    char step[32];      /* that is being done */
    int pass;           /* over the pixels, from 1 */
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

/* Where temporary files go: the folder of the output, if it is one. */
void qfz_run_folder(const qfz_job *job, char *folder, size_t size);

/* A step of the job begins: its name, its share of the time, and how many tiles it has, if any. */
void qfz_run_begin(qfz_run *run, const char *step, double share, int64_t tiles);

/* One item more is done.  Any thread; QFZ_ECANCEL where the job is to stop. */
qfz_status qfz_run_tell(qfz_run *run, qfz_error *err);

/* Visits the tiles of this process that are not done: loads each, then calls fn.  Collective. */
typedef qfz_status (*qfz_visit_fn)(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg,
                                   qfz_error *err);
typedef bool (*qfz_tile_fn)(qfz_run *run, int64_t tile, void *arg);
qfz_status qfz_run_visit(qfz_run *run, double share, qfz_tile_fn is_done, qfz_visit_fn fn,
                         void *arg, qfz_error *err);

/* Stitches all summaries.  Collective. */
qfz_status qfz_run_solve(qfz_run *run, double share, qfz_error *err);

#endif
