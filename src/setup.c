/* SPDX-License-Identifier: MIT */
/* setup.c - from a job and a look at its source to everything that is decided beforehand. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "method.h"
#include "run.h"

static const int64_t mebi = 1 << 20;
enum {
    TILE_PX_LEAST = 1 << 14, /* rather fewer threads than smaller tiles */
    TILE_PX_MIN = 1 << 18,   /* smaller tiles have too much border */
    TILE_PX_MAX = 1 << 22,   /* larger tiles gain nothing */
    DEVICE_TILE_PX_MAX = 1 << 24,
    DEVICE_PX_MIN = 1 << 23, /* the CPU is done with less before a GPU has started */
    STRIP_ROWS = 64
};

/* ---------------------------------------------------------------------------------------- checks
 */
static bool wants_omega(const qfz_job *job)
{
    return job->task == QFZ_SIMPLIFY;
}

static qfz_status check_phase(const qfz_job *job, qfz_error *err)
{
    const bool parts = job->phase == QFZ_PHASE_SUMMARISE || job->phase == QFZ_PHASE_RESOLVE;
    if (job->resume && !job->work)
        return qfz_fail(err, QFZ_EARG, "to resume needs the folder of work that holds the journal");
    if (job->phase == QFZ_PHASE_ALL && job->n_parts > 0)
        return qfz_fail(err, QFZ_EARG, "a part belongs to a phase: summarise or resolve");
    if (job->phase == QFZ_PHASE_ALL) return QFZ_OK;
    if (!job->work)
        return qfz_fail(err, QFZ_EARG, "a phase needs the folder of work that connects all phases");
    if (job->ranks && job->ranks->n > 1)
        return qfz_fail(err, QFZ_EARG, "a phase is for one process; ranks go through all");
    if (parts && job->n_parts == 0)
        return qfz_fail(err, QFZ_EARG, "this phase is for one part at a time; name it, as 3/16");
    if (parts && (job->part < 1 || job->part > job->n_parts))
        return qfz_fail(err, QFZ_EARG, "part %d of %d", job->part, job->n_parts);
    return QFZ_OK;
}

static qfz_status check_count_only(const qfz_job *job, qfz_error *err)
{
    if (!job->count_only) return QFZ_OK;
    if (job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG, "a saliency raster has no regions to count");
    if (job->dst || job->labels || job->regions)
        return qfz_fail(err, QFZ_EARG, "%s: where regions are only counted, there are no outputs",
                        job->dst      ? job->dst
                        : job->labels ? job->labels
                                      : job->regions);
    return QFZ_OK;
}

static qfz_status check_job(const qfz_job *job, qfz_error *err)
{
    const int n_shown = job->n_gpus_shown;
    const qfz_method *const m = &job->method;
    if (!job->src || (!job->dst && !job->count_only))
        return qfz_fail(err, QFZ_EARG, "source and output must be named");
    QFZ_TRY(qfz_method_check(m, err));
    QFZ_TRY(check_count_only(job, err));
    if (job->tile_px < 0) return qfz_fail(err, QFZ_EARG, "tile side is %d", job->tile_px);
    if (job->n_threads < 0) return qfz_fail(err, QFZ_EARG, "thread count is %d", job->n_threads);
    if (job->retries < 0 || !(job->retry_wait_s >= 0))
        return qfz_fail(err, QFZ_EARG, "%d retries after %g s", job->retries, job->retry_wait_s);
    if (job->memory_bytes < 0) return qfz_fail(err, QFZ_EARG, "memory is negative");
    if (job->gpus_shown && (n_shown < 1 || n_shown > QFZ_GPUS_MAX))
        return qfz_fail(err, QFZ_EARG, "%d GPUs are shown; 1 to %d can be", n_shown, QFZ_GPUS_MAX);
    if (m->omega && !wants_omega(job))
        return qfz_fail(err, QFZ_EARG, "omega belongs to simplify only");
    if (job->labels && !wants_omega(job))
        return qfz_fail(err, QFZ_EARG, "a second raster of labels belongs to simplify only");
    if (job->regions && job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG, "a saliency raster has no regions to list");
    if (job->labels && strcmp(job->labels, job->dst) == 0)
        return qfz_fail(err, QFZ_EARG, "%s: named for two outputs", job->dst);
    if (job->has_background && job->task != QFZ_LABEL)
        return qfz_fail(err, QFZ_EARG, "background belongs to label only");
    if (job->task == QFZ_CUT && !m->has_alpha) return qfz_fail(err, QFZ_EARG, "a cut needs alpha");
    return check_phase(job, err);
}

/* -------------------------------------------------------------------------------------- the rule
 */
static qfz_status make_rule(qfz_setup *setup, const qfz_source *source, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const bool equal = job->task == QFZ_LABEL && !job->method.has_alpha;
    qfz_rule *const rule = &setup->rule;
    *rule = (qfz_rule){
        .connectivity =
            job->task == QFZ_CUT ? qfz_source_connectivity(source) : job->method.connectivity,
        .distance = equal ? QFZ_LINF : job->method.distance,
        .type = setup->info.type,
        .n_bands = setup->info.n_bands,
        .edge_bits = job->task == QFZ_CUT,
        .alpha_key = UINT32_MAX,
    };
    QFZ_TRY(qfz_max_key(rule->type, rule->n_bands, rule->distance, &setup->max_key, err));
    if (equal)
        rule->alpha_key = 0;
    else if (job->method.has_alpha && job->task != QFZ_SALIENCY && job->task != QFZ_CUT)
        rule->alpha_key = qfz_key_of_alpha(rule->type, rule->distance, job->method.alpha);
    QFZ_TRY(qfz_method_spread_omega(&job->method, rule->n_bands, &setup->omega, err));
    rule->omega = setup->omega;
    return QFZ_OK;
}

static qfz_kind kind_of(qfz_task task)
{
    switch (task) {
    case QFZ_LABEL:
    case QFZ_CUT: return QFZ_COMPONENTS;
    case QFZ_SIMPLIFY: return QFZ_OMEGA;
    case QFZ_SALIENCY: return QFZ_LEVELS;
    }
    return QFZ_COMPONENTS;
}

/* ------------------------------------------------------------------------------------- the memory
 */
int64_t qfz_setup_source_bytes(const qfz_setup *setup)
{
    const qfz_source_info *const info = &setup->info;
    return (int64_t)qfz_type_bytes(info->type) * info->n_bands + (info->may_be_invalid ? 1 : 0);
}

size_t qfz_setup_out_bytes(const qfz_setup *setup)
{
    const size_t labels = sizeof(uint64_t);
    const size_t painted = qfz_type_bytes(setup->info.type) * (size_t)setup->info.n_bands;
    if (setup->job->count_only) return 0;
    switch (setup->kind) {
    case QFZ_OMEGA: return painted > labels ? painted : labels;
    case QFZ_LEVELS:
        return (size_t)qfz_n_dirs(&setup->rule) * (sizeof(uint32_t) + sizeof(uint64_t));
    default: return labels;
    }
}

/* The ranks of a node share what it has. */
static int n_local_ranks(const qfz_job *job)
{
    return job->ranks ? job->ranks->n_local : 1;
}

static int64_t machine_memory(const qfz_job *job)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / n_local_ranks(job);
}

/* Where a launcher or a batch system bound the process to some processors, these are its share. */
static int machine_threads(const qfz_job *job)
{
    cpu_set_t set;
    const int all = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int own = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
    if (own < all) return own;
    return all > n_local_ranks(job) ? all / n_local_ranks(job) : 1;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Tiles small enough that all threads have some, and not larger than what gains by it; but where
 * blocks are rows of the whole width, tiles are too, and need a few of them. */
static int64_t preferred_px(const qfz_setup *setup)
{
    const qfz_source_info *const info = &setup->info;
    const int n_ranks = setup->job->ranks ? setup->job->ranks->n : 1;
    const int64_t share = info->w * info->h / (4 * setup->n_threads * n_ranks);
    const int64_t usual = setup->choice.device_memory_bytes ? DEVICE_TILE_PX_MAX : TILE_PX_MAX;
    const int64_t most =
        info->block_w < info->w ? usual : clamp(STRIP_ROWS * info->w, usual, INT32_MAX);
    return clamp(share, TILE_PX_MIN, most);
}

/* Every thread has blocks of its own in GDAL's cache, at least one of each band at a time.  Where
 * blocks are huge, fewer threads must do. */
static qfz_status plan_cache(qfz_setup *setup, qfz_error *err)
{
    const qfz_source_info *const info = &setup->info;
    const int64_t two_blocks = 2 * info->block_w * info->block_h * info->px_bytes;
    while (setup->n_threads > 1 && two_blocks * setup->n_threads > setup->memory_bytes / 2)
        setup->n_threads--;
    const int64_t needed = two_blocks * setup->n_threads;
    setup->cache_bytes = clamp(setup->memory_bytes / 8, 8 * mebi, 512 * mebi);
    if (needed > setup->cache_bytes) setup->cache_bytes = needed;
    if (needed > setup->memory_bytes / 4 * 3)
        return qfz_fail(
            err, QFZ_ENOMEM,
            "%s: its blocks of %lld x %lld pixels do not fit into %lld bytes of memory; "
            "allow more, or rewrite it in tiles (gdal_translate -co TILED=YES)",
            setup->job->src, (long long)info->block_w, (long long)info->block_h,
            (long long)setup->memory_bytes);
    return QFZ_OK;
}

/* The largest tile of which every thread can have one on its device. */
static int64_t device_tile_px(const qfz_setup *setup)
{
    const qfz_choice *const choice = &setup->choice;
    if (!choice->device_memory_bytes) return INT32_MAX;
    const int64_t threads = (setup->n_threads + choice->n_devices - 1) / choice->n_devices;
    const int64_t px_bytes = setup->engine->device_bytes_per_px(&setup->rule, setup->kind);
    return clamp(choice->device_memory_bytes / threads / px_bytes, 1, INT32_MAX);
}

/* Of a tile in the hands of a thread, all in all; a spool holds its output once more. */
static int64_t px_bytes_of(const qfz_setup *setup)
{
    const int64_t out = (int64_t)qfz_setup_out_bytes(setup);
    return qfz_setup_source_bytes(setup) + setup->engine->bytes_per_px(&setup->rule, setup->kind) +
           (setup->job->work ? 2 * out : out);
}

static int64_t tiles_bytes(const qfz_setup *setup)
{
    return (setup->memory_bytes - setup->cache_bytes) / 7 * 3;
}

static int64_t worker_bytes_of(const qfz_setup *setup)
{
    const int64_t extra = setup->job->regions ? QFZ_RECORDS_BYTES : 0;
    return setup->tiling.tile_w * setup->tiling.tile_h * px_bytes_of(setup) + extra;
}

qfz_status qfz_setup_retile(qfz_setup *setup, int64_t tile_w, int64_t tile_h, qfz_error *err)
{
    qfz_tiling *const t = &setup->tiling;
    if (tile_w > t->w || tile_h > t->h || tile_w > INT32_MAX / tile_h)
        return qfz_fail(err, QFZ_EARG, "tiles of %lld x %lld pixels are not of this job",
                        (long long)tile_w, (long long)tile_h);
    t->tile_w = tile_w;
    t->tile_h = tile_h;
    t->n_x = (t->w - 1) / tile_w + 1;
    t->n_y = (t->h - 1) / tile_h + 1;
    setup->worker_bytes = worker_bytes_of(setup);
    while (setup->n_threads > 1 && (setup->worker_bytes > tiles_bytes(setup) / setup->n_threads ||
                                    device_tile_px(setup) < tile_w * tile_h))
        setup->n_threads--;
    return QFZ_OK;
}

/* What does not fit is done by fewer threads, not refused.
 *
 * Shares of the budget: 3/8 tiles, 1/8 GDAL's blocks, 1/8 summaries, 1/4 tiles kept; the last 1/8
 * is for the groups that are stitched, the program itself, and what libraries take.  Blocks that
 * need more than their share take it from the others. */
static qfz_status plan_memory(qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const int64_t least = 64 * mebi;
    setup->memory_bytes = job->memory_bytes ? job->memory_bytes : machine_memory(job) / 2;
    if (setup->memory_bytes < least)
        return qfz_fail(err, QFZ_EARG, "memory of %lld bytes; at least %lld are needed",
                        (long long)setup->memory_bytes, (long long)least);
    QFZ_TRY(plan_cache(setup, err));
    const int64_t px_bytes = px_bytes_of(setup);
    const int64_t shared = setup->memory_bytes - setup->cache_bytes;
    const int64_t extra = job->regions ? QFZ_RECORDS_BYTES : 0;
    while (setup->n_threads > 1 &&
           (tiles_bytes(setup) / setup->n_threads - extra < TILE_PX_LEAST * px_bytes ||
            device_tile_px(setup) < TILE_PX_LEAST))
        setup->n_threads--;
    int64_t max_px =
        clamp((tiles_bytes(setup) / setup->n_threads - extra) / px_bytes, 1, INT32_MAX);
    const int64_t device_px = device_tile_px(setup);
    if (max_px > device_px) max_px = device_px;
    setup->store_bytes = shared / 7;
    setup->keep_bytes = shared / 7 * 2;
    const int64_t wanted_px = preferred_px(setup);
    QFZ_TRY(qfz_tiling_choose(&setup->tiling, &setup->info, job->tile_px,
                              max_px < wanted_px ? max_px : wanted_px, err));
    const int64_t tile_px = setup->tiling.tile_w * setup->tiling.tile_h;
    setup->worker_bytes = worker_bytes_of(setup);
    if (tile_px > (int64_t)1 << 29)
        return qfz_fail(err, QFZ_EARG,
                        "tiles of %lld x %lld pixels are too large; 2^29 pixels are the most",
                        (long long)setup->tiling.tile_w, (long long)setup->tiling.tile_h);
    return QFZ_OK;
}

static bool wants_gpu(const qfz_setup *setup)
{
    return setup->job->gpus || setup->job->gpu_memory_bytes || setup->method;
}

static qfz_wish wish_of(const qfz_job *job)
{
    return (qfz_wish){.engine = job->engine,
                      .gpus = job->gpus,
                      .n_gpus = job->n_gpus,
                      .shown = job->gpus_shown,
                      .n_shown = job->n_gpus_shown,
                      .gpu_memory_bytes = job->gpu_memory_bytes,
                      .local_rank = job->ranks ? job->ranks->local_rank : 0,
                      .n_local = job->ranks ? job->ranks->n_local : 0};
}

qfz_status qfz_job_gpus(const qfz_job *job, int n_there, int *gpus, int *n, qfz_error *err)
{
    const qfz_wish wish = wish_of(job);
    err->status = QFZ_OK;
    if (n_there < 1) return qfz_fail(err, QFZ_EARG, "no GPUs to choose from");
    return qfz_wish_gpus(&wish, n_there, gpus, n, err);
}

static qfz_status choose_engine(qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    if (job->gpu_method && strcmp(job->gpu_method, "auto") != 0) setup->method = job->gpu_method;
    const int64_t n_px = setup->info.w * setup->info.h;
    const bool small = job->engine == QFZ_ENGINE_AUTO && !wants_gpu(setup) && n_px < DEVICE_PX_MIN;
    qfz_wish wish = wish_of(job);
    if (small) wish.engine = QFZ_ENGINE_CPU;
    wish.method = setup->method;
    QFZ_TRY(qfz_choose(&setup->choice, &wish, err));
    setup->engine = setup->choice.engine;
    setup->n_threads = job->n_threads ? job->n_threads : machine_threads(job);
    if (setup->n_threads < setup->choice.n_devices) setup->n_threads = setup->choice.n_devices;
    return QFZ_OK;
}

/* What was chosen may not be able to do it. */
static qfz_status settle_engine(qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const qfz_engine_choice wished = wants_gpu(setup) ? QFZ_ENGINE_CUDA : job->engine;
    QFZ_TRY(qfz_choice_settle(&setup->choice, wished, &setup->rule, setup->kind, err));
    setup->engine = setup->choice.engine;
    return QFZ_OK;
}

qfz_status qfz_setup_shrink(qfz_setup *setup, qfz_status why, qfz_error *err)
{
    const int64_t least = 16 * mebi;
    qfz_choice *const choice = &setup->choice;
    if (why == QFZ_ENOMEM && choice->device_memory_bytes >= 2 * least) {
        choice->device_memory_bytes /= 2;
    } else if (choice->device_memory_bytes && setup->job->engine == QFZ_ENGINE_AUTO &&
               (why == QFZ_ENOMEM || !wants_gpu(setup))) {
        qfz_choose_cpu(choice, err);
        setup->method = NULL;
        setup->engine = choice->engine;
    } else {
        return why; /* err says it */
    }
    err->status = QFZ_OK;
    if ((setup->job->ranks && setup->job->ranks->n > 1) || setup->job->work) /* others have these */
        return qfz_setup_retile(setup, setup->tiling.tile_w, setup->tiling.tile_h, err);
    return plan_memory(setup, err);
}

int64_t qfz_setup_cache_bytes(const qfz_setup *setup, const qfz_source *source)
{
    const int64_t each = qfz_source_cache_bytes(source, setup->tiling.tile_w);
    if (each == 0) return setup->cache_bytes;
    const int64_t wanted = clamp(each * setup->n_threads, 32 * mebi, INT64_MAX);
    return wanted < setup->cache_bytes ? wanted : setup->cache_bytes;
}

/* A GDAL cache is needed before the source says how large its blocks are. */
static int64_t first_cache(const qfz_job *job)
{
    return job->memory_bytes ? clamp(job->memory_bytes / 8, 8 * mebi, 512 * mebi) : 512 * mebi;
}

qfz_status qfz_setup_init(qfz_setup *setup, const qfz_job *job, qfz_source **source, qfz_error *err)
{
    *setup = (qfz_setup){.job = job, .kind = kind_of(job->task)};
    qfz_source *opened = NULL;
    qfz_status st;
    QFZ_TRY(check_job(job, err));
    QFZ_TRY(qfz_raster_setup(job, first_cache(job), err));
    QFZ_TRY_OR(st, failed, qfz_source_open(&opened, job, err));
    setup->info = *qfz_source_get_info(opened);
    setup->passes = (setup->kind == QFZ_OMEGA ? 3 : 2) - (job->count_only ? 1 : 0);
    QFZ_TRY_OR(st, failed, choose_engine(setup, err));
    QFZ_TRY_OR(st, failed, make_rule(setup, opened, err));
    QFZ_TRY_OR(st, failed, settle_engine(setup, err));
    QFZ_TRY_OR(st, failed, plan_memory(setup, err));
    *source = opened;
    return QFZ_OK;

failed:
    qfz_source_close(opened);
    qfz_setup_fini(setup);
    return st;
}

void qfz_setup_fini(qfz_setup *setup)
{
    free(setup->omega);
    *setup = (qfz_setup){0};
}

/* ------------------------------------------------------------------------------------ the outputs
 */
static qfz_sink_spec spec_of(const qfz_setup *setup, const char *path, qfz_content content)
{
    return (qfz_sink_spec){.path = path,
                           .content = content,
                           .w = setup->info.w,
                           .h = setup->info.h,
                           .n_bands = 1,
                           .connectivity = setup->rule.connectivity,
                           .distance = setup->rule.distance};
}

qfz_sink_spec qfz_spec_labels(const qfz_setup *setup, const char *path, uint64_t n_regions)
{
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_LABELS);
    spec.type = n_regions <= UINT32_MAX ? QFZ_OUT_U32 : QFZ_OUT_U64;
    spec.max_value = (double)n_regions;
    spec.has_nodata = true;
    return spec;
}

static double type_max(qfz_type type)
{
    switch (type) {
    case QFZ_U8: return UINT8_MAX;
    case QFZ_I8: return INT8_MAX;
    case QFZ_U16: return UINT16_MAX;
    case QFZ_I16: return INT16_MAX;
    case QFZ_U32: return UINT32_MAX;
    case QFZ_I32: return INT32_MAX;
    case QFZ_F32: break;
    }
    return (double)3.402823466e38f;
}

qfz_sink_spec qfz_spec_painted(const qfz_setup *setup, const char *path)
{
    const qfz_source_info *const info = &setup->info;
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_PAINTED);
    spec.n_bands = info->n_bands;
    spec.type = qfz_out_type_of(info->type);
    spec.max_value = type_max(info->type);
    spec.has_nodata = info->has_nodata || (info->may_be_invalid && qfz_type_is_float(info->type));
    spec.nodata = info->has_nodata ? info->nodata : NAN;
    spec.has_mask = info->may_be_invalid && !spec.has_nodata;
    return spec;
}

qfz_sink_spec qfz_spec_saliency(const qfz_setup *setup, const char *path, qfz_layout layout)
{
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_SALIENCY);
    const bool wide = layout == QFZ_KHALIMSKY;
    spec.layout = layout;
    spec.w = wide ? 2 * setup->info.w - 1 : setup->info.w;
    spec.h = wide ? 2 * setup->info.h - 1 : setup->info.h;
    spec.n_bands = layout == QFZ_EDGES ? qfz_n_dirs(&setup->rule) : 1;
    spec.has_nodata = true;
    spec.has_mask = layout == QFZ_EDGES && setup->info.may_be_invalid;
    if (qfz_keys_are_float(setup->rule.type, setup->rule.distance)) {
        spec.type = QFZ_OUT_F32;
        spec.max_value = INFINITY;
        spec.nodata = NAN;
        return spec;
    }
    spec.type = setup->max_key < UINT16_MAX   ? QFZ_OUT_U16
                : setup->max_key < UINT32_MAX ? QFZ_OUT_U32
                                              : QFZ_OUT_U64;
    spec.nodata = spec.type == QFZ_OUT_U16   ? (double)UINT16_MAX
                  : spec.type == QFZ_OUT_U32 ? (double)UINT32_MAX
                                             : (double)UINT64_MAX;
    spec.max_value = spec.nodata;
    return spec;
}
