/* SPDX-License-Identifier: MIT */
/* setup.h - what is decided once about a job, before its first pass: rule, engine, devices, tiles,
 * threads and shares of the memory.
 *
 * Plain data.  setup_init.h fills a setup; setup_check.h, setup_memory.h, setup_seconds.h and
 * output_specs.h hold the rules behind it.  Only the source's size and types are looked at, never
 * its pixels. */
#ifndef QFZ_SETUP_H
#define QFZ_SETUP_H

#include "session/engine_choice.h"
#include "raster/raster.h"

enum { QFZ_RECORDS_BYTES = 8 << 20 }; /* region records that a thread gathers at a time */

struct qfz_comparison;

typedef struct qfz_setup {
    const qfz_job *job;                /* borrowed */
    struct qfz_comparison *comparison; /* borrowed; outputs are compared, not written; NULL: none */
    qfz_kind kind;
    qfz_rule rule;  /* min_mass: in pixels; 1 if it is in square metres; 0: no filter */
    double *omega;  /* owned; what rule.omega points to, or NULL */
    float *weights; /* owned; what rule.weights points to, or NULL */
    uint32_t max_level;
    qfz_source_info info;
    int64_t stats_bytes; /* of a thread that reads the raster of --stats */
    qfz_tiling tiling;
    qfz_choice choice;
    const qfz_engine *engine; /* choice.engine */
    char engine_reason[256];  /* why this engine; "": the job names it */
    const char *method;       /* of the engine, NULL: any */
    qfz_sink_memory sinks[2]; /* of the raster outputs */
    int n_sinks;
    int n_threads;
    int passes; /* over the pixels of the source */
    int64_t memory_bytes;
    int64_t program_bytes;      /* of it: program, libraries, tables of tiles and blocks */
    int64_t worker_bytes;       /* one thread's tile and all that goes with it */
    int64_t cache_bytes;        /* GDAL's block cache, at the most */
    int64_t store_bytes;        /* summaries in memory */
    int64_t tile_cache_bytes;   /* tile cache: pixels and results of tiles between passes */
    int64_t filter_cache_bytes; /* bits of edges between passes; of a job with a least area */
} qfz_setup;

/* True for a process that runs one phase on one part of the rows. */
static inline bool qfz_job_is_of_part(const qfz_job *job)
{
    return job->phase == QFZ_PHASE_SUMMARISE || job->phase == QFZ_PHASE_RESOLVE;
}

/* The number of alphas that share the memory of a job. */
static inline int64_t qfz_job_n_alphas(const qfz_job *job)
{
    return job->n_alphas > 0 ? job->n_alphas : 1;
}

/* The number of ranks that share this machine's processors and memory. */
static inline int qfz_job_n_local(const qfz_job *job)
{
    return job->ranks ? job->ranks->n_local : 1;
}

#endif
