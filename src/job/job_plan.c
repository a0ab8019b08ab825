/* SPDX-License-Identifier: MIT */
/* job_plan.c - qfz_job_plan(): what a job would do, from its setup alone. */
#include <math.h>
#include <string.h>

#include "job/alphas.h"
#include "job/defaults.h"
#include "job/label_outputs.h"
#include "job/output_specs.h"
#include "job/region_rows.h"
#include "job/regions_run.h"
#include "job/regions_target.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"
#include "job/setup_seconds.h"
#include "job/temp_folder.h"

static const char *out_type_name(qfz_out_type type)
{
    switch (type) {
    case QFZ_OUT_U8: return "Byte";
    case QFZ_OUT_I8: return "Int8";
    case QFZ_OUT_U16: return "UInt16";
    case QFZ_OUT_I16: return "Int16";
    case QFZ_OUT_U32: return "UInt32";
    case QFZ_OUT_I32: return "Int32";
    case QFZ_OUT_U64: return "UInt64";
    case QFZ_OUT_F32: return "Float32";
    case QFZ_OUT_F64: return "Float64";
    }
    return "";
}

static qfz_status plan_raster(qfz_plan *plan, const qfz_job *job, const qfz_sink_spec *spec,
                              qfz_error *err)
{
    const char *format;
    QFZ_TRY(qfz_output_format(job->format, spec->path, &format, err));
    const int i = plan->n_outputs++;
    plan->outputs[i].path = spec->path;
    plan->outputs[i].n_bands = spec->n_bands;
    plan->outputs[i].width = spec->w;
    plan->outputs[i].height = spec->h;
    strncpy(plan->outputs[i].format, format, sizeof plan->outputs[i].format - 1);
    strncpy(plan->outputs[i].type, job->type ? job->type : out_type_name(spec->type),
            sizeof plan->outputs[i].type - 1);
    return QFZ_OK;
}

static void plan_table(qfz_plan *plan, const char *path)
{
    const int i = plan->n_outputs++;
    plan->outputs[i].path = path;
    strncpy(plan->outputs[i].format, "table", sizeof plan->outputs[i].format - 1);
}

/* The extension alone selects the format. */
static qfz_status plan_colors(qfz_plan *plan, const char *path, qfz_error *err)
{
    const qfz_job by_extension = {0};
    const qfz_sink_spec spec = {
        .path = path, .n_bands = 1, .type = QFZ_OUT_U8, .w = plan->width, .h = plan->height};
    return plan_raster(plan, &by_extension, &spec, err);
}

static void plan_picture(qfz_plan *plan, const qfz_job *job)
{
    const int i = plan->n_outputs++;
    plan->outputs[i].path = job->quicklook;
    strncpy(plan->outputs[i].format, "PNG", sizeof plan->outputs[i].format - 1);
    plan->picture_bytes = qfz_picture_bytes(job, plan->width, plan->height);
    plan->picture_seconds = qfz_picture_seconds(job, plan->width * plan->height, plan->n_threads);
}

static void plan_stage(qfz_plan *plan, const qfz_job *job)
{
    const char *const folder = qfz_temp_folder_local(job);
    for (int i = 0; i < plan->n_outputs; i++)
        if (qfz_object_is(plan->outputs[i].path) && strlen(folder) < sizeof plan->stage)
            strncpy(plan->stage, folder, sizeof plan->stage - 1);
}

static qfz_status plan_from_labels(qfz_plan *plan, const qfz_job *job, qfz_error *err)
{
    if (job->regions) plan_table(plan, job->regions);
    if (job->neighbours) plan_table(plan, job->neighbours);
    if (job->forest) plan_table(plan, job->forest);
    if (job->colors) QFZ_TRY(plan_colors(plan, job->colors, err));
    if (job->polygons) plan_table(plan, job->polygons);
    if (job->quicklook) plan_picture(plan, job);
    plan_stage(plan, job);
    return QFZ_OK;
}

static qfz_status plan_outputs(qfz_plan *plan, const qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    if (job->count_only) return QFZ_OK;
    qfz_sink_spec spec = qfz_output_spec_main(setup);
    QFZ_TRY(plan_raster(plan, job, &spec, err));
    if (job->labels) {
        spec = qfz_output_spec_labels(setup, job->labels, 0);
        QFZ_TRY(plan_raster(plan, job, &spec, err));
    }
    if (job->attribute_table) {
        int64_t n_cells;
        plan->attributes_bytes = qfz_region_rows_attributes(setup, &n_cells);
        plan->attributes_seconds = qfz_attributes_seconds(n_cells);
    }
    return plan_from_labels(plan, job, err);
}

/* Bytes of a border pixel in summaries and exteriors: its values and validity, and two links, or
 * one border region with its numbers.  Twice: the groups above the tiles add as much again. */
static int64_t border_px_bytes(const qfz_setup *setup)
{
    const int64_t value = (int64_t)qfz_type_bytes(setup->info.type) * setup->info.n_bands + 1 +
                          qfz_setup_edge_bytes(setup);
    switch (setup->kind) {
    case QFZ_LEVELS: return 2 * (value + 12 + 12 + 5 * qfz_n_dirs(&setup->rule));
    case QFZ_OMEGA: return 2 * (value + 12 + 8 + 2 * value + 8);
    case QFZ_JOINS: return 2 * (value + 12);
    default: return 2 * (value + 4 + 4) + 16;
    }
}

static int64_t border_bytes(const qfz_setup *setup, int64_t n_tiles)
{
    const qfz_tiling *const t = &setup->tiling;
    return n_tiles * qfz_ring_size(t->tile_h, t->tile_w) * border_px_bytes(setup) *
           qfz_job_n_alphas(setup->job);
}

/* Bytes of a pixel in a cached result; engines keep none of components. */
static int64_t result_px_bytes(const qfz_setup *setup)
{
    const qfz_engine *const engine = setup->engine;
    const bool keeps = engine->cache && setup->kind != QFZ_COMPONENTS;
    const bool keeps_filter = setup->rule.min_mass > 0 && engine->filter->keep;
    if (setup->job->phase != QFZ_PHASE_ALL) return 0;
    return (keeps ? engine->bytes_per_px(&setup->rule, setup->kind) : 0) +
           (keeps_filter ? engine->bytes_per_px(&setup->rule, QFZ_FILTER) : 0);
}

/* Pixels and cached results of all tiles of a process, as far as there is room for them. */
static int64_t kept_bytes(const qfz_setup *setup, int64_t n_px)
{
    const int64_t all = n_px * (qfz_setup_source_bytes(setup) + result_px_bytes(setup));
    const int64_t room = setup->tile_cache_bytes;
    if (setup->passes == 1) return 0;
    return (all < room ? all : room) + setup->filter_cache_bytes;
}

/* Each process has whole rows of tiles; some have one row more than others. */
static void plan_ranks(qfz_plan *plan, const qfz_setup *setup)
{
    const qfz_ranks alone = {.n = 1, .n_local = 1};
    const qfz_ranks *const ranks = setup->job->ranks ? setup->job->ranks : &alone;
    const qfz_tiling *const t = &setup->tiling;
    const int64_t rows = (t->n_y - 1) / ranks->n + 1, h = rows * t->tile_h;
    plan->n_ranks = ranks->n;
    plan->n_local_ranks = ranks->n_local;
    plan->rank_tiles = rows * t->n_x;
    plan->rank_pixels = (h < t->h ? h : t->h) * t->w;
    plan->rank_border_bytes = border_bytes(setup, plan->rank_tiles);
    plan->rank_seconds = qfz_setup_seconds(setup, plan->rank_pixels);
    plan->kept_bytes = kept_bytes(setup, plan->rank_pixels);
}

static int64_t spec_bytes(const qfz_sink_spec *spec)
{
    const int64_t px_bytes = (int64_t)qfz_out_type_bytes(spec->type) * spec->n_bands;
    return spec->w * spec->h * (px_bytes + (spec->has_mask ? 1 : 0));
}

/* For every layout of saliency the work folder holds the raster of edges. */
static void plan_work(qfz_plan *plan, const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    const int64_t n_alphas = qfz_job_n_alphas(job);
    plan->work_bytes = plan->border_bytes;
    if (job->count_only) return;
    qfz_sink_spec spec = job->task == QFZ_SALIENCY
                             ? qfz_output_spec_saliency(setup, job->dst, QFZ_EDGES, 0)
                             : qfz_output_spec_main(setup);
    plan->work_bytes += n_alphas * spec_bytes(&spec);
    if (job->labels || qfz_label_outputs_hide_labels(job)) {
        spec = qfz_output_spec_labels(setup, job->labels, 0);
        plan->work_bytes += n_alphas * spec_bytes(&spec);
    }
    if (job->regions)
        plan->record_bytes =
            qfz_record_words(setup->info.type, setup->info.n_bands) * (int64_t)sizeof(uint64_t);
}

static qfz_status make_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    qfz_setup setup = {0};
    qfz_source *source = NULL;
    QFZ_TRY(qfz_setup_init(&setup, job, &source, err));
    const qfz_tiling *const t = &setup.tiling;
    *plan = (qfz_plan){.width = setup.info.w,
                       .height = setup.info.h,
                       .n_bands = setup.info.n_bands,
                       .type = setup.info.type,
                       .tile_w = t->tile_w,
                       .tile_h = t->tile_h,
                       .tiles_x = t->n_x,
                       .tiles_y = t->n_y,
                       .passes = setup.passes,
                       .n_threads = setup.n_threads,
                       .memory_bytes = setup.memory_bytes,
                       .program_bytes = setup.program_bytes,
                       .tile_bytes = setup.worker_bytes * setup.n_threads,
                       .cache_bytes = setup.cache_bytes,
                       .border_bytes = border_bytes(&setup, t->n_x * t->n_y),
                       .store_bytes = setup.store_bytes};
    strncpy(plan->engine, setup.engine->name, sizeof plan->engine - 1);
    memcpy(plan->engine_reason, setup.engine_reason, sizeof plan->engine_reason);
    plan->n_gpus = setup.choice.device_memory_bytes ? setup.choice.n_devices : 0;
    plan->gpu_memory_bytes = setup.choice.device_memory_bytes;
    const qfz_status st = plan_outputs(plan, &setup, err);
    plan_ranks(plan, &setup);
    plan_work(plan, &setup);
    qfz_source_close(source);
    qfz_setup_fini(&setup);
    return st;
}

/* With a largest number of regions: the curve, too, whose journal stays as long as the others.  The
 * alpha is not known; any alpha above 0 has the same plan. */
static qfz_status make_target_plan(qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    qfz_curve curve = qfz_curve_default();
    qfz_plan first;
    job->criterion.alpha = INFINITY;
    QFZ_TRY(make_plan(job, plan, err));
    const qfz_job of = qfz_regions_target_curve(job, &curve);
    QFZ_TRY(make_plan(&of, &first, err));
    plan->passes += first.passes;
    plan->rank_seconds += first.rank_seconds;
    plan->work_bytes += first.work_bytes;
    if (plan->border_bytes < first.border_bytes) plan->border_bytes = first.border_bytes;
    if (plan->rank_border_bytes < first.rank_border_bytes)
        plan->rank_border_bytes = first.rank_border_bytes;
    return QFZ_OK;
}

static qfz_status make_regions_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    *plan = (qfz_plan){0};
    QFZ_TRY(qfz_regions_plan(job, plan, err));
    return plan_from_labels(plan, job, err);
}

qfz_status qfz_job_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    qfz_error own;
    qfz_job complete;
    qfz_plan made;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_job_read(&complete, job, err));
    QFZ_TRY(qfz_api_check(plan, sizeof *plan, "qfz_plan", err));
    QFZ_TRY(qfz_alphas_take(&complete, err));
    QFZ_TRY(qfz_regions_target_take(&complete, err));
    QFZ_TRY(complete.task == QFZ_REGIONS  ? make_regions_plan(&complete, &made, err)
            : complete.regions_target > 0 ? make_target_plan(&complete, &made, err)
                                          : make_plan(&complete, &made, err));
    qfz_api_write(plan, &made, sizeof made);
    return QFZ_OK;
}
