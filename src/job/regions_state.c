/* SPDX-License-Identifier: MIT */
#include "job/regions_state.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/raster_options.h"
#include "job/regions_check.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"

/* ----------------------------------------------------------------------------------------- memory
 */
/* The budget: some for the program itself and its libraries; an eighth of it for GDAL's blocks;
 * half of the rest for tiles and records, since tables and heaps need theirs too. */
static int64_t outputs_bytes(int64_t budget)
{
    const int64_t program = 68 << 20, least = 8 << 20;
    const int64_t bytes = (budget - budget / 8 - program) / 2;
    return bytes > least ? bytes : least;
}

/* Polygons alone read each block of a file once: blocks that are read stay in GDAL's cache no
 * longer than needed.  Not if the user's tiles cut blocks. */
static void limit_cache(const qfz_regions_state *state)
{
    const qfz_job *const job = &state->job;
    const qfz_source_info *const info = qfz_source_get_info(state->source);
    const bool alone =
        job->polygons && !job->regions && !job->neighbours && !job->colors && !job->quicklook;
    const int64_t bytes = qfz_source_cache_bytes(state->source, info->w) * state->n_readers;
    if (alone && job->tile_px == 0 && bytes > 0 && bytes < qfz_setup_first_cache(job))
        qfz_raster_set_cache(job->config, bytes);
}

/* Less than this does not hold the program with its tables; more may be needed for a polygon with
 * long borders. */
static int64_t least_bytes(const qfz_job *job, const qfz_source_info *info)
{
    const int64_t mb = 1000000;
    const int64_t more =
        qfz_picture_bytes(job, info->w, info->h) + qfz_polygon_rows_bytes(job, info->h);
    return (job->polygons ? 120 : 80) * mb + (more + mb - 1) / mb * mb;
}

static qfz_status check_budget(const qfz_job *job, int64_t least, qfz_error *err)
{
    const int64_t mb = 1000000;
    if (job->memory_bytes == 0 || job->memory_bytes >= least) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: %.4g MB of memory are too little for this job; use --memory %lldMB or "
                    "more",
                    job->src, (double)job->memory_bytes / 1e6, (long long)((least + mb - 1) / mb));
}

/* What a thread needs that reads labels, their mask and the raster of --stats, beyond what the
 * least memory has room for. */
static qfz_status reader_bytes(const qfz_regions_state *state, int64_t *bytes, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(state->source);
    const int64_t counted = 4 << 20;
    int64_t stats_bytes;
    QFZ_TRY(qfz_label_outputs_stats_bytes(&state->job, &stats_bytes, err));
    const int64_t all = qfz_source_reader_bytes(info) + info->table_bytes + stats_bytes;
    *bytes = all > counted ? all - counted : 0;
    return QFZ_OK;
}

/* Fewer threads read large blocks where the memory does not suffice for all. */
static qfz_status fit_readers(qfz_regions_state *state, int64_t least, qfz_error *err)
{
    qfz_job *const job = &state->job;
    int64_t each;
    QFZ_TRY(reader_bytes(state, &each, err));
    const int64_t all = qfz_job_threads(job);
    const int64_t n = each > 0 ? (state->memory_bytes - least) / each : all;
    QFZ_TRY(check_budget(job, least + each, err));
    if (n < all) job->n_threads = n > 1 ? (int)n : 1;
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------- open, close */
qfz_status qfz_regions_state_open(qfz_regions_state *state, qfz_error *err)
{
    qfz_job *const job = &state->job;
    const qfz_source_options options = qfz_job_source_options(job);
    QFZ_TRY(qfz_regions_check(job, err));
    QFZ_TRY(qfz_job_budget(job, &state->memory_bytes, err));
    QFZ_TRY(qfz_output_names_follow(job, state->links, err));
    QFZ_TRY(qfz_raster_setup(job->config, qfz_setup_first_cache(job), err));
    QFZ_TRY(qfz_source_open(&state->source, &options, err));
    const qfz_source_info *const info = qfz_source_get_info(state->source);
    return fit_readers(state, least_bytes(job, info), err);
}

static void close_readers(qfz_regions_state *state)
{
    for (int i = 0; i < state->n_readers; i++)
        qfz_source_close(state->readers[i]);
    free(state->readers);
    state->readers = NULL;
    state->n_readers = 0;
}

void qfz_regions_state_close(qfz_regions_state *state)
{
    qfz_table_close(state->table);
    qfz_label_outputs_close(&state->outputs);
    close_readers(state);
    qfz_source_close(state->source);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        free(state->links[i]);
}

qfz_status qfz_regions_state_check(const qfz_regions_state *state, qfz_error *err)
{
    const qfz_job *const job = &state->job;
    const qfz_output_options options = qfz_job_output_options(job);
    if (job->regions)
        QFZ_TRY(qfz_table_check(state->source, &options, job->regions, QFZ_POINTS, err));
    return qfz_label_outputs_check(job, state->source, outputs_bytes(state->memory_bytes), err);
}

/* ---------------------------------------------------------------------------------------- outputs
 */
static qfz_status read_labels(void *arg, int thread, qfz_box box, qfz_label_grid labels,
                              qfz_error *err)
{
    qfz_regions_state *const state = arg;
    return qfz_source_read_labels(state->readers[thread], box, labels, err);
}

qfz_status qfz_regions_state_plan(qfz_regions_state *state, const qfz_part_files *files,
                                  qfz_error *err)
{
    const qfz_job *const job = &state->job;
    qfz_zone_needs needs = qfz_zone_columns_needs(job->columns);
    needs.zones = job->regions || !job->polygons; /* polygons are counted, too */
    state->outputs = (qfz_label_outputs){
        .job = job,
        .source = state->source,
        .pass = {.read = read_labels,
                 .arg = state,
                 .is_narrow = qfz_source_has_narrow_labels(state->source),
                 .n_threads = qfz_job_threads(job),
                 .progress = &state->progress},
        .memory_bytes = outputs_bytes(state->memory_bytes),
        .needs = needs,
        .files = *files,
    };
    return qfz_label_outputs_plan(&state->outputs, err);
}

static qfz_status open_readers(qfz_regions_state *state, int n, qfz_error *err)
{
    close_readers(state);
    QFZ_TRY(QFZ_NEW_ZERO(&state->readers, n, err));
    state->n_readers = n;
    for (int i = 0; i < n; i++)
        QFZ_TRY(qfz_source_open_reader(&state->readers[i], state->source, err));
    return QFZ_OK;
}

qfz_status qfz_regions_state_begin(qfz_regions_state *state, qfz_error *err)
{
    QFZ_TRY(open_readers(state, state->outputs.pass.n_threads, err));
    limit_cache(state);
    return qfz_label_outputs_open(&state->outputs, err);
}
