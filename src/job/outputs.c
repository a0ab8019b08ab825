/* SPDX-License-Identifier: MIT */
#include "job/outputs_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/comparison.h"
#include "job/output_specs.h"
#include "job/part_files.h"
#include "job/raster_options.h"
#include "job/region_parts.h"
#include "job/region_rows.h"
#include "job/saliency_layout.h"
#include "job/setup_memory.h"

double qfz_outputs_share(const qfz_run *run)
{
    const qfz_job *const job = run->setup->job;
    const char *const rasters[] = {job->dst, job->labels};
    double share = (job->regions ? QFZ_TABLE_SHARE : 0) + (job->forest ? QFZ_TABLE_SHARE : 0);
    if (job->merge && run->n_parts > 1) share += QFZ_MERGING_SHARE;
    if (qfz_outputs_has_layout(job)) share += QFZ_LAYOUT_SHARE;
    if (qfz_label_outputs_wanted(job)) share += QFZ_LABEL_OUTPUTS_SHARE;
    if (job->polygons) share += QFZ_POLYGONS_SHARE;
    if (job->task == QFZ_SALIENCY && job->quicklook) share += QFZ_LAYOUT_SHARE;
    for (int i = 0; i < 2; i++)
        if (rasters[i] && qfz_object_is(rasters[i])) share += QFZ_UPLOADING_SHARE;
    for (int i = 0; i < 2; i++)
        if (rasters[i] && qfz_output_is_copied(job->format, rasters[i]))
            share += QFZ_COPYING_SHARE;
        else if (rasters[i] && job->overviews)
            share += QFZ_OVERVIEWS_SHARE;
    return share;
}

/* ---------------------------------------------------------------------------- whole or in parts */
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t qfz_outputs_first_row(const qfz_tiling *t, int part, int n_parts)
{
    return least(qfz_part_first_row(t->n_y, part, n_parts) * t->tile_h, t->h);
}

qfz_status qfz_outputs_rows(const qfz_outputs *out, const qfz_sink_spec *spec, int64_t **rows,
                            qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(rows, spec->n_parts + 1, err));
    for (int part = 0; part <= spec->n_parts; part++)
        (*rows)[part] = qfz_outputs_first_row(&out->run->setup->tiling, part, spec->n_parts);
    (*rows)[spec->n_parts] = spec->h;
    return QFZ_OK;
}

void qfz_outputs_place(qfz_sink_spec *spec, const qfz_setup *setup, const char *format, int part,
                       int n_parts)
{
    if (n_parts == 1 && !qfz_output_is_vrt(format, spec->path)) return;
    spec->part = part;
    spec->n_parts = n_parts;
    spec->y0 = qfz_outputs_first_row(&setup->tiling, part, n_parts);
    spec->y1 = qfz_outputs_first_row(&setup->tiling, part + 1, n_parts);
}

bool qfz_outputs_has_layout(const qfz_job *job)
{
    return job->task == QFZ_SALIENCY && job->layout != QFZ_EDGES;
}

bool qfz_outputs_hides(const qfz_outputs *out, int i)
{
    return i == QFZ_SECOND && out->hides_labels;
}

qfz_sink_options qfz_outputs_options(const qfz_outputs *out, int i)
{
    const qfz_job *const job = out->run->setup->job;
    qfz_sink_options options = qfz_outputs_has_layout(job) || qfz_outputs_hides(out, i)
                                   ? qfz_job_hidden_options(job, out->run->n_parts)
                                   : qfz_job_sink_options(job, out->specs[i].path);
    options.n_threads = out->run->setup->n_threads; /* memory may allow fewer than the job names */
    return options;
}

static qfz_status name_beside(char path[QFZ_PATH_BYTES], const char *dst, const char *extension,
                              qfz_error *err)
{
    const int n = snprintf(path, QFZ_PATH_BYTES, "%s.%s", dst, extension);
    return n < QFZ_PATH_BYTES ? QFZ_OK : qfz_fail(err, QFZ_EARG, "%s: the name is too long", dst);
}

qfz_status qfz_outputs_name_edges(char path[QFZ_PATH_BYTES], const char *dst, int n_parts,
                                  qfz_error *err)
{
    return name_beside(path, dst, n_parts > 1 ? "edges.vrt" : "edges.tif", err);
}

qfz_status qfz_outputs_check_edges(const qfz_setup *setup, qfz_source *source, int n_parts,
                                   qfz_error *err)
{
    const qfz_job *const job = setup->job;
    char path[QFZ_PATH_BYTES];
    if (!qfz_outputs_has_layout(job) || n_parts == 1) return QFZ_OK;
    if (qfz_object_is(job->dst))
        return qfz_fail(err, QFZ_EARG,
                        "%s: in a bucket, several processes write the layout edges; leave --layout "
                        "out, or name a local file",
                        job->dst);
    QFZ_TRY(qfz_outputs_name_edges(path, job->dst, n_parts, err));
    const qfz_sink_options options = qfz_job_hidden_options(job, n_parts);
    qfz_sink_spec spec = qfz_output_spec_saliency(setup, path, QFZ_EDGES, 0);
    qfz_outputs_place(&spec, setup, options.format, 0, n_parts);
    return qfz_sink_check(source, &options, &spec, err);
}

static qfz_status place_all(qfz_outputs *out, qfz_error *err)
{
    const qfz_run *const run = out->run;
    const qfz_setup *const setup = run->setup;
    if (qfz_outputs_has_layout(setup->job)) {
        QFZ_TRY(qfz_outputs_name_edges(out->edges, setup->job->dst, run->n_parts, err));
        out->specs[QFZ_MAIN].path = out->edges;
    }
    if (out->hides_labels) {
        QFZ_TRY(name_beside(out->hidden, setup->job->dst, "labels.tif", err));
        out->specs[QFZ_SECOND].path = out->hidden;
    }
    for (int i = 0; i < out->n_rasters; i++)
        qfz_outputs_place(&out->specs[i], setup, qfz_outputs_options(out, i).format, run->part,
                          run->n_parts);
    return QFZ_OK;
}

static bool is_empty(const qfz_sink_spec *spec)
{
    return spec->n_parts > 0 && spec->y0 == spec->y1;
}

/* ---------------------------------------------------------------------------------- open, close */
void qfz_outputs_widen_cache(const qfz_run *run)
{
    qfz_raster_set_cache(run->setup->job->config, run->setup->cache_bytes);
}

qfz_status qfz_outputs_create(qfz_outputs *out, qfz_error *err)
{
    const qfz_tiling *const t = &out->run->setup->tiling;
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_options options = qfz_outputs_options(out, i);
        if (is_empty(&out->specs[i])) continue;
        QFZ_TRY(qfz_sink_create(&out->sinks[i], out->run->source, &options, &out->specs[i], err));
        if (qfz_outputs_has_layout(out->run->setup->job) ||
            !qfz_sink_is_direct(out->sinks[i], t->tile_w, t->tile_h))
            qfz_outputs_widen_cache(out->run);
    }
    QFZ_TRY(qfz_forest_gather_open(&out->forest, out->run, err));
    return qfz_region_records_open(&out->regions, out->run, err);
}

static qfz_status open_journal(qfz_outputs *out, qfz_error *err)
{
    QFZ_TRY(qfz_output_journal_open(&out->journal, QFZ_OUTPUT_KINDS, out->run->n_tiles, err));
    return qfz_work_folder_attach_output(out->run->work, out->run->alpha, out->journal, err);
}

qfz_status qfz_outputs_open(qfz_outputs *out, qfz_error *err)
{
    if (out->run->setup->comparison) return QFZ_OK;
    QFZ_TRY(place_all(out, err));
    QFZ_TRY(qfz_region_rows_check(out->run, err));
    if (out->run->work) return open_journal(out, err);
    return out->type_is_open ? QFZ_OK : qfz_outputs_create(out, err);
}

qfz_status qfz_outputs_set_type(qfz_outputs *out, qfz_error *err)
{
    const qfz_run *const run = out->run;
    const qfz_sink_spec spec =
        qfz_output_spec_saliency(run->setup, run->setup->job->dst, QFZ_EDGES, run->level_bytes);
    qfz_sink_spec *const main = &out->specs[QFZ_MAIN];
    main->type = spec.type;
    main->nodata = spec.nodata;
    main->max_value = spec.max_value;
    out->type_is_open = false;
    if (run->setup->comparison || run->work) return QFZ_OK;
    return qfz_outputs_create(out, err);
}

void qfz_outputs_close(qfz_outputs *out)
{
    for (int i = 0; i < QFZ_RASTERS; i++) {
        qfz_sink_close(out->sinks[i]);
        qfz_joined_close(out->joined[i]);
    }
    qfz_table_close(out->table);
    qfz_attributes_close(out->attributes);
    if (out->labels) qfz_label_outputs_close(out->labels);
    free(out->labels);
    qfz_png_close(out->picture);
    qfz_label_parts_close(out->label_parts);
    qfz_table_close(out->forest_table);
    qfz_forest_gather_close(out->forest);
    qfz_region_records_close(out->regions);
    qfz_output_journal_close(out->journal);
}

/* ---------------------------------------------------------------------------------------- tiles */
bool qfz_outputs_have(const qfz_outputs *out, int64_t tile)
{
    if (!out->journal) return false;
    for (int i = 0; i < out->n_rasters; i++)
        if (!qfz_output_journal_has(out->journal, i, tile)) return false;
    const qfz_job *const job = out->run->setup->job;
    return (!job->regions || qfz_output_journal_has(out->journal, QFZ_REGION_RECORDS, tile)) &&
           (!job->forest || qfz_output_journal_has(out->journal, QFZ_FOREST_ROWS, tile));
}

int64_t qfz_outputs_px_bytes(const qfz_sink_spec *spec)
{
    return spec->n_bands * (int64_t)qfz_out_type_bytes(spec->type);
}

/* NULL also where all pixels of the tile are valid. */
static const uint8_t *mask_of(const qfz_outputs *out, int i, const qfz_thread_context *context)
{
    return out->specs[i].has_mask ? context->tile.valid : NULL;
}

qfz_status qfz_outputs_write(qfz_outputs *out, int i, const qfz_thread_context *context,
                             int64_t tile, const void *pixels, qfz_error *err)
{
    const int64_t n = context->tile.h * context->tile.w;
    const uint8_t *const valid = mask_of(out, i, context);
    qfz_comparison *const comparison = out->run->setup->comparison;
    if (comparison)
        return qfz_comparison_tile(comparison, &out->specs[i], context->box, pixels, err);
    if (!out->journal) return qfz_sink_write(out->sinks[i], context->box, pixels, valid, err);
    return qfz_output_journal_put(out->journal, i, tile, pixels,
                                  n * qfz_outputs_px_bytes(&out->specs[i]), valid, n, err);
}

/* Region records of one tile on their way into the journal. */
typedef struct gathering {
    qfz_output_journal *journal;
    qfz_long_record record;
    int64_t record_bytes;
} gathering;

static qfz_status take_records(void *arg, uint64_t *records, int64_t n, qfz_error *err)
{
    qfz_region_records *const regions = arg;
    return qfz_region_records_add(regions, records, n, err);
}

static qfz_status gather_records(void *arg, uint64_t *records, int64_t n, qfz_error *err)
{
    gathering *const g = arg;
    return qfz_output_journal_add(g->journal, &g->record, records, n * g->record_bytes, err);
}

qfz_status qfz_outputs_regions(qfz_outputs *out, qfz_thread_context *context, int64_t tile,
                               uint32_t n_regions, qfz_error *err)
{
    qfz_run *const run = out->run;
    if (!run->setup->job->regions) return QFZ_OK;
    if (!out->journal)
        return qfz_region_records_make(run, context, n_regions, take_records, out->regions, err);
    gathering g = {.journal = out->journal, .record_bytes = qfz_region_record_bytes(run->setup)};
    g.record = qfz_output_journal_begin(out->journal, QFZ_REGION_RECORDS, tile,
                                        n_regions * g.record_bytes);
    QFZ_TRY(qfz_region_records_make(run, context, n_regions, gather_records, &g, err));
    return qfz_output_journal_end(out->journal, &g.record, err);
}

/* ------------------------------------------------------------------------------------------ end */
void qfz_outputs_delete_part(const qfz_job *job, int part, int n_parts)
{
    qfz_region_parts_delete(job, part, n_parts);
    qfz_forest_gather_delete(job, part, n_parts);
}

void qfz_outputs_delete_parts(const qfz_job *job, int n_parts)
{
    char edges[QFZ_PATH_BYTES];
    if (n_parts == 1) return;
    if (job->regions) qfz_part_files_delete_all(job->regions);
    if (job->forest) qfz_part_files_delete_all(job->forest);
    if (qfz_outputs_has_layout(job) &&
        qfz_outputs_name_edges(edges, job->dst, n_parts, NULL) == QFZ_OK)
        qfz_parts_remove(edges);
}

void qfz_outputs_abandon(const qfz_outputs *out)
{
    for (int i = 0; i < out->n_rasters; i++)
        if (out->specs[i].n_parts > 0) qfz_parts_delete(out->specs[i].path);
    qfz_outputs_delete_parts(out->run->setup->job, out->run->n_parts);
}
