/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "job/output_specs.h"
#include "job/outputs.h"
#include "job/outputs_files.h"
#include "job/outputs_replay.h"
#include "job/outputs_labels.h"
#include "job/raster_options.h"
#include "job/region_parts.h"
#include "job/saliency_layout.h"
#include "job/saliency_picture.h"
#include "job/temp_folder.h"

static const char *stage_of(const qfz_outputs *out)
{
    return qfz_temp_folder_local(out->run->setup->job);
}

/* Leaves the records of this part for the process that joins. */
static qfz_status save_parts(qfz_outputs *out, qfz_error *err)
{
    if (out->forest) QFZ_TRY(qfz_forest_gather_save(out->forest, out->run, err));
    qfz_forest_gather_close(out->forest);
    out->forest = NULL;
    QFZ_TRY(qfz_region_parts_save(out->regions, out->run, err));
    qfz_region_records_close(out->regions);
    out->regions = NULL;
    return QFZ_OK;
}

/* An output in one piece is committed by qfz_outputs_join(). */
qfz_status qfz_outputs_finish(qfz_outputs *out, qfz_error *err)
{
    if (out->run->setup->comparison) return QFZ_OK;
    if (out->journal) QFZ_TRY(qfz_outputs_replay(out, err));
    if (out->run->n_parts > 1) QFZ_TRY(save_parts(out, err));
    for (int i = 0; i < out->n_rasters; i++)
        if (out->sinks[i] && out->specs[i].n_parts > 0)
            QFZ_TRY(qfz_sink_commit(out->sinks[i], err));
    return QFZ_OK;
}

static qfz_status report_part(void *arg, double part, qfz_error *err)
{
    qfz_run *const run = arg;
    return qfz_progress_advance_to(run->progress, part, err);
}

/* Does everything that can fail before a raster gets its name.  sink NULL: it has its name. */
static qfz_status finish(qfz_outputs *out, qfz_sink *sink, const char *path, qfz_error *err)
{
    qfz_run *const run = out->run;
    if (!sink) return QFZ_OK;
    if (qfz_output_is_copied(run->setup->job->format, path))
        qfz_progress_begin(run->progress, "copying", QFZ_COPYING_SHARE, 0);
    else if (run->setup->job->overviews)
        qfz_progress_begin(run->progress, "overviews", QFZ_OVERVIEWS_SHARE, 0);
    return qfz_sink_finish(sink, report_part, run, err);
}

/* Merges all parts of raster i into one file, ready to be committed, in the memory that tiles had.
 */
static qfz_status merge_parts(qfz_outputs *out, int i, qfz_error *err)
{
    qfz_run *const run = out->run;
    const qfz_setup *const setup = run->setup;
    const int64_t bytes = setup->worker_bytes * setup->n_threads + setup->tile_cache_bytes;
    const qfz_sink_spec *const spec = &out->specs[i];
    const qfz_sink_options options = qfz_job_sink_options(setup->job, spec->path);
    int64_t *rows = NULL;
    qfz_thread_contexts_close(&run->contexts);
    qfz_tile_cache_close(&run->cache);
    QFZ_TRY(qfz_outputs_rows(out, spec, &rows, err));
    if (out->journal) qfz_output_clean(spec->path, stage_of(out));
    qfz_sink_close(out->sinks[i]); /* a part */
    out->sinks[i] = NULL;
    qfz_progress_begin(run->progress, "merging", QFZ_MERGING_SHARE / out->n_rasters, 0);
    const qfz_status st = qfz_parts_merge(&out->sinks[i], run->source, &options, spec, rows, bytes,
                                          report_part, run, err);
    free(rows);
    return st;
}

/* Makes a VRT over the parts of raster i. */
static qfz_status join_parts(qfz_outputs *out, int i, const qfz_sink_options *options,
                             const qfz_sink_spec *spec, qfz_error *err)
{
    int64_t *rows = NULL;
    QFZ_TRY(qfz_outputs_rows(out, spec, &rows, err));
    if (out->journal) qfz_output_clean(spec->path, stage_of(out));
    const qfz_status st =
        qfz_parts_join(&out->joined[i], out->run->source, options, spec, rows, err);
    free(rows);
    return st;
}

/* Deletes what the VRT of raster i has replaced. */
static qfz_status settle(qfz_outputs *out, int i, qfz_error *err)
{
    QFZ_TRY(qfz_joined_settle(out->joined[i], err));
    qfz_joined_close(out->joined[i]);
    out->joined[i] = NULL;
    return QFZ_OK;
}

/* Converts the complete raster of edges to the job's layout, and commits the result. */
static qfz_status convert_layout(qfz_outputs *out, qfz_error *err)
{
    const qfz_setup *const setup = out->run->setup;
    const qfz_job *const job = setup->job;
    const qfz_sink_options edges_options = qfz_outputs_options(out, QFZ_MAIN);
    const qfz_sink_options options = qfz_job_sink_options(job, job->dst);
    qfz_sink_spec edges = out->specs[QFZ_MAIN];
    qfz_sink_spec spec =
        qfz_output_spec_saliency(setup, job->dst, job->layout, out->run->level_bytes);
    qfz_sink *layout = NULL;
    qfz_status st;
    if (edges.n_parts > 0) {
        QFZ_TRY(join_parts(out, QFZ_MAIN, &edges_options, &edges, err));
        QFZ_TRY(settle(out, QFZ_MAIN, err));
        qfz_sink_close(out->sinks[QFZ_MAIN]);
        out->sinks[QFZ_MAIN] = NULL;
        edges.n_parts = 0;
        QFZ_TRY(qfz_sink_open(&out->sinks[QFZ_MAIN], &edges_options, &edges, err));
    }
    const bool is_vrt = qfz_output_is_vrt(job->format, spec.path);
    if (is_vrt) {
        spec.n_parts = 1;
        spec.y1 = spec.h;
    }
    if (out->journal) qfz_output_clean(spec.path, stage_of(out));
    QFZ_TRY(qfz_sink_create(&layout, out->run->source, &options, &spec, err));
    qfz_progress_begin(out->run->progress, "layout", QFZ_LAYOUT_SHARE, 0);
    QFZ_TRY_OR(st, cleanup,
               qfz_layout_convert(out->sinks[QFZ_MAIN], &edges, layout, &spec, setup->n_threads,
                                  report_part, out->run, err));
    QFZ_TRY_OR(st, cleanup, finish(out, layout, spec.path, err));
    if (out->picture) QFZ_TRY_OR(st, cleanup, qfz_png_place(out->picture, err));
    QFZ_TRY_OR(st, cleanup, qfz_sink_commit(layout, err));
    if (is_vrt) QFZ_TRY_OR(st, cleanup, join_parts(out, QFZ_MAIN, &options, &spec, err));
    if (out->picture) QFZ_TRY_OR(st, cleanup, qfz_png_commit(out->picture, err));
    if (is_vrt) QFZ_TRY_OR(st, cleanup, settle(out, QFZ_MAIN, err));
    st = QFZ_OK;
    qfz_sink_close(out->sinks[QFZ_MAIN]);
    out->sinks[QFZ_MAIN] = NULL;

cleanup:
    qfz_sink_close(layout);
    return st;
}

/* Of the raster of labels, the last one; of several parts, one file is merged by now.  NULL: an
 * earlier join, which was killed, has completed the raster. */
static qfz_status write_attributes(qfz_outputs *out, qfz_sink *sink, qfz_error *err)
{
    if (out->attributes && sink) QFZ_TRY(qfz_attributes_write(out->attributes, sink, err));
    qfz_attributes_close(out->attributes);
    out->attributes = NULL;
    return QFZ_OK;
}

/* Makes every raster ready for its name, where its format allows that. */
static qfz_status finish_rasters(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    for (int i = 0; i < out->n_rasters; i++) {
        const char *const path = out->specs[i].path;
        if (qfz_outputs_hides(out, i) || qfz_output_is_vrt(job->format, path)) continue;
        if (out->specs[i].n_parts > 0) QFZ_TRY(merge_parts(out, i, err));
        if (i == out->n_rasters - 1) QFZ_TRY(write_attributes(out, out->sinks[i], err));
        QFZ_TRY(finish(out, out->sinks[i], path, err));
    }
    return QFZ_OK;
}

static qfz_status place_raster(const qfz_outputs *out, qfz_sink *sink, const char *path,
                               qfz_error *err)
{
    if (qfz_object_is(path))
        qfz_progress_begin(out->run->progress, "uploading", QFZ_UPLOADING_SHARE, 0);
    return qfz_sink_place(sink, err);
}

/* Gives all outputs their names, tables last.  A failure closes them, and they take their files
 * back. */
static qfz_status place(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_options options = qfz_outputs_options(out, i);
        if (qfz_outputs_hides(out, i)) continue;
        if (qfz_output_is_vrt(job->format, out->specs[i].path))
            QFZ_TRY(join_parts(out, i, &options, &out->specs[i], err));
        else if (out->sinks[i])
            QFZ_TRY(place_raster(out, out->sinks[i], out->specs[i].path, err));
    }
    if (out->table) QFZ_TRY(qfz_table_place(out->table, err));
    if (out->forest_table) QFZ_TRY(qfz_table_place(out->forest_table, err));
    if (out->picture) QFZ_TRY(qfz_png_place(out->picture, err));
    return out->labels ? qfz_label_outputs_place(out->labels, err) : QFZ_OK;
}

/* Deletes what the outputs replaced, and merged parts. */
static qfz_status commit(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    if (out->table) QFZ_TRY(qfz_table_commit(out->table, err));
    if (out->labels) QFZ_TRY(qfz_label_outputs_commit(out->labels, err));
    if (out->forest_table) QFZ_TRY(qfz_table_commit(out->forest_table, err));
    if (out->picture) QFZ_TRY(qfz_png_commit(out->picture, err));
    for (int i = 0; i < out->n_rasters; i++) {
        if (qfz_outputs_hides(out, i)) continue;
        if (qfz_output_is_vrt(job->format, out->specs[i].path))
            QFZ_TRY(settle(out, i, err));
        else if (out->specs[i].n_parts > 0)
            QFZ_TRY(qfz_parts_commit(&out->specs[i], out->sinks[i], err));
        else
            QFZ_TRY(qfz_sink_commit(out->sinks[i], err));
    }
    return QFZ_OK;
}

static qfz_status join_forest(qfz_outputs *out, qfz_error *err)
{
    if (out->run->n_parts == 1) return QFZ_OK;
    QFZ_TRY(qfz_forest_gather_open(&out->forest, out->run, err));
    return qfz_forest_gather_join(out->forest, out->run, err);
}

/* The picture of a hierarchy, from the raster of edges before it is converted. */
static qfz_status draw_saliency(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    const qfz_job *const job = run->setup->job;
    if (job->task != QFZ_SALIENCY || !job->quicklook) return QFZ_OK;
    if (out->journal) qfz_output_clean(job->quicklook, stage_of(out));
    qfz_progress_begin(run->progress, "picture", QFZ_LAYOUT_SHARE, 0);
    return qfz_saliency_picture_draw(out, report_part, run, err);
}

static qfz_status make_forest_table(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    qfz_gather *rows;
    if (!run->setup->job->forest) return QFZ_OK;
    if (out->journal) qfz_output_clean(run->setup->job->forest, stage_of(out));
    qfz_progress_begin(run->progress, "tree", QFZ_TABLE_SHARE, 0);
    QFZ_TRY(join_forest(out, err));
    QFZ_TRY(qfz_outputs_open_parts(out, err));
    QFZ_TRY(qfz_forest_gather_complete(out->forest, run, qfz_outputs_labels_read, out, &rows, err));
    QFZ_TRY(qfz_forest_table_write(rows, run, &out->forest_table, err));
    return qfz_table_finish(out->forest_table, err);
}

static qfz_status make_tables(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    QFZ_TRY(qfz_outputs_labels_gather(out, err));
    if (out->journal && run->setup->job->regions)
        qfz_output_clean(run->setup->job->regions, stage_of(out));
    if (run->setup->job->regions) qfz_progress_begin(run->progress, "table", QFZ_TABLE_SHARE, 0);
    if (run->n_parts > 1)
        QFZ_TRY(qfz_region_parts_join(run, out->labels, &out->table, &out->attributes, err));
    else
        QFZ_TRY(qfz_region_records_write(out->regions, run, out->labels, &out->table,
                                         &out->attributes, err));
    if (out->table) QFZ_TRY(qfz_table_finish(out->table, err));
    if (out->labels) QFZ_TRY(qfz_label_outputs_finish(out->labels, err));
    QFZ_TRY(draw_saliency(out, err));
    return make_forest_table(out, err);
}

/* The tables and the rasters of all alphas are complete on disk before the first of them is
 * renamed, so a failure leaves no output. */
static qfz_status finish_and_place(qfz_outputs *list, int64_t n, qfz_error *err)
{
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(make_tables(&list[i], err));
    if (qfz_outputs_has_layout(list->run->setup->job)) return convert_layout(list, err);
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(finish_rasters(&list[i], err));
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(place(&list[i], err));
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(commit(&list[i], err));
    return QFZ_OK;
}

qfz_status qfz_outputs_join(qfz_outputs *list, int64_t n, qfz_error *err)
{
    qfz_run *const first = list->run;
    if (first->setup->comparison) return QFZ_OK;
    qfz_outputs_widen_cache(first); /* for formats that are made by copying */
    if (first->work) QFZ_TRY(qfz_work_folder_finish(first->work, err));
    return finish_and_place(list, n, err);
}
