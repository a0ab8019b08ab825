/* SPDX-License-Identifier: MIT */
/* setup.h - what is decided once about a job: the rule, the engine, tiles, threads and memory, and
 * how outputs would be made. */
#ifndef QFZ_SETUP_H
#define QFZ_SETUP_H

#include "job/engine_choice.h"
#include "raster/raster.h"

enum { QFZ_RECORDS_BYTES = 8 << 20 }; /* region records that a thread gathers at a time */

/* What a job will be done with; nothing of it depends on pixels. */
typedef struct qfz_setup {
    const qfz_job *job;
    qfz_kind kind;
    qfz_rule rule;
    double *omega; /* what rule.omega points to, or NULL */
    uint32_t max_level;
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

/* About how long one process takes for so many pixels of the source, all passes; from the rates of
 * a machine that is not this one. */
double qfz_setup_seconds(const qfz_setup *setup, int64_t n_px);

/* How each output would be made; max_value as far as it is known. */
qfz_sink_spec qfz_spec_labels(const qfz_setup *setup, const char *path, uint64_t n_regions);
qfz_sink_spec qfz_spec_painted(const qfz_setup *setup, const char *path);
qfz_sink_spec qfz_spec_saliency(const qfz_setup *setup, const char *path, qfz_layout layout);

/* --------------------------------------------------------------------------- between setup's files
 */
/* What a job asks for, before anybody looks at its source. */
qfz_status qfz_setup_check(const qfz_job *job, qfz_error *err);

/* Memory, tiles and threads, of source, engine and rule.  What does not fit is done by fewer
 * threads, not refused. */
qfz_status qfz_setup_plan_memory(qfz_setup *setup, qfz_error *err);

/* QFZ_ENOMEM if tiles as they are do not fit what may be used of the devices: they cannot always be
 * made smaller. */
qfz_status qfz_setup_check_device(const qfz_setup *setup, qfz_error *err);

/* A GDAL cache is needed before the source says how large its blocks are. */
int64_t qfz_setup_first_cache(const qfz_job *job);

/* Is this process for one part of a job in phases? */
static inline bool qfz_job_is_of_part(const qfz_job *job)
{
    return job->phase == QFZ_PHASE_SUMMARISE || job->phase == QFZ_PHASE_RESOLVE;
}

/* The ranks of a node share what it has. */
static inline int qfz_job_n_local(const qfz_job *job)
{
    return job->ranks ? job->ranks->n_local : 1;
}

#endif
