/* SPDX-License-Identifier: MIT */
#include "job/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/output_specs.h"
#include "job/raster_options.h"
#include "job/region_parts.h"
#include "job/region_rows.h"
#include "job/saliency_layout.h"
#include "job/setup_memory.h"

/* Kinds of records in the journal: one for each raster, then region records. */
enum { RECORDS = QFZ_RASTERS, KINDS };

/* Shares of steps that only some jobs have; the shares of the passes add up to 1. */
static const double table_share = 0.3, merging_share = 0.2, layout_share = 1, copying_share = 1;

double qfz_outputs_share(const qfz_run *run)
{
    const qfz_job *const job = run->setup->job;
    const char *const rasters[] = {job->dst, job->labels};
    double share = job->regions ? table_share : 0;
    if (job->merge && run->n_parts > 1) share += merging_share;
    if (qfz_outputs_has_layout(job)) share += layout_share;
    for (int i = 0; i < 2; i++)
        if (rasters[i] && qfz_output_is_copied(job->format, rasters[i])) share += copying_share;
    return share;
}

/* ---------------------------------------------------------------------------- whole or in parts */
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The first row of a part in the raster; parts consist of whole rows of tiles. */
static int64_t first_row(const qfz_tiling *t, int part, int n_parts)
{
    return least(qfz_part_first_row(t->n_y, part, n_parts) * t->tile_h, t->h);
}

void qfz_outputs_place(qfz_sink_spec *spec, const qfz_setup *setup, const char *format, int part,
                       int n_parts)
{
    if (n_parts == 1 && !qfz_output_is_vrt(format, spec->path)) return;
    spec->part = part;
    spec->n_parts = n_parts;
    spec->y0 = first_row(&setup->tiling, part, n_parts);
    spec->y1 = first_row(&setup->tiling, part + 1, n_parts);
}

bool qfz_outputs_has_layout(const qfz_job *job)
{
    return job->task == QFZ_SALIENCY && job->layout != QFZ_EDGES;
}

/* Options of raster i as it is written before the join. */
static qfz_sink_options options_of(const qfz_outputs *out, int i)
{
    const qfz_job *const job = out->run->setup->job;
    if (qfz_outputs_has_layout(job)) return qfz_job_edges_options(job, out->run->n_parts);
    return qfz_job_sink_options(job, out->specs[i].path);
}

/* The raster of edges lies beside the result.  Written by a single process, it never gets its final
 * name. */
static qfz_status name_edges(char path[QFZ_PATH_BYTES], const char *dst, int n_parts,
                             qfz_error *err)
{
    const int n = snprintf(path, QFZ_PATH_BYTES, "%s.edges.%s", dst, n_parts > 1 ? "vrt" : "tif");
    return n < QFZ_PATH_BYTES ? QFZ_OK : qfz_fail(err, QFZ_EARG, "%s: the name is too long", dst);
}

qfz_status qfz_outputs_check_edges(const qfz_setup *setup, qfz_source *source, int n_parts,
                                   qfz_error *err)
{
    const qfz_job *const job = setup->job;
    char path[QFZ_PATH_BYTES];
    if (!qfz_outputs_has_layout(job) || n_parts == 1) return QFZ_OK;
    QFZ_TRY(name_edges(path, job->dst, n_parts, err));
    const qfz_sink_options options = qfz_job_edges_options(job, n_parts);
    qfz_sink_spec spec = qfz_output_spec_saliency(setup, path, QFZ_EDGES);
    qfz_outputs_place(&spec, setup, options.format, 0, n_parts);
    return qfz_sink_check(source, &options, &spec, err);
}

static qfz_status place_all(qfz_outputs *out, qfz_error *err)
{
    const qfz_run *const run = out->run;
    const qfz_setup *const setup = run->setup;
    if (qfz_outputs_has_layout(setup->job)) {
        QFZ_TRY(name_edges(out->edges, setup->job->dst, run->n_parts, err));
        out->specs[QFZ_MAIN].path = out->edges;
    }
    for (int i = 0; i < out->n_rasters; i++)
        qfz_outputs_place(&out->specs[i], setup, options_of(out, i).format, run->part,
                          run->n_parts);
    return QFZ_OK;
}

static bool is_empty(const qfz_sink_spec *spec)
{
    return spec->n_parts > 0 && spec->y0 == spec->y1;
}

/* ---------------------------------------------------------------------------------- open, close */
/* GDAL's cache holds blocks that wait for the pixels of other tiles, or that are read again. */
static void widen_cache(const qfz_run *run)
{
    qfz_raster_set_cache(run->setup->job->config, run->setup->cache_bytes);
}

static qfz_status create_files(qfz_outputs *out, qfz_error *err)
{
    const qfz_tiling *const t = &out->run->setup->tiling;
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_options options = options_of(out, i);
        if (is_empty(&out->specs[i])) continue;
        QFZ_TRY(qfz_sink_create(&out->sinks[i], out->run->source, &options, &out->specs[i], err));
        if (qfz_outputs_has_layout(out->run->setup->job) ||
            !qfz_sink_is_direct(out->sinks[i], t->tile_w, t->tile_h))
            widen_cache(out->run);
    }
    return qfz_region_records_open(&out->regions, out->run, err);
}

static qfz_status open_journal(qfz_outputs *out, qfz_error *err)
{
    qfz_journal *journal = NULL;
    QFZ_TRY(qfz_output_journal_open(&out->journal, KINDS, out->run->n_tiles, err));
    QFZ_TRY(qfz_work_folder_open_output(out->run->work, &journal, err));
    return qfz_output_journal_attach(out->journal, journal, err);
}

qfz_status qfz_outputs_open(qfz_outputs *out, qfz_error *err)
{
    QFZ_TRY(place_all(out, err));
    return out->run->work ? open_journal(out, err) : create_files(out, err);
}

void qfz_outputs_close(qfz_outputs *out)
{
    for (int i = 0; i < QFZ_RASTERS; i++)
        qfz_sink_close(out->sinks[i]);
    qfz_table_close(out->table);
    qfz_region_records_close(out->regions);
    qfz_output_journal_close(out->journal);
}

/* ---------------------------------------------------------------------------------------- tiles */
bool qfz_outputs_have(const qfz_outputs *out, int64_t tile)
{
    if (!out->journal) return false;
    for (int i = 0; i < out->n_rasters; i++)
        if (!qfz_output_journal_has(out->journal, i, tile)) return false;
    return !out->run->setup->job->regions || qfz_output_journal_has(out->journal, RECORDS, tile);
}

static int64_t px_bytes(const qfz_sink_spec *spec)
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
    if (!out->journal) return qfz_sink_write(out->sinks[i], context->box, pixels, valid, err);
    return qfz_output_journal_put(out->journal, i, tile, pixels, n * px_bytes(&out->specs[i]),
                                  valid, n, err);
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
    g.record = qfz_output_journal_begin(out->journal, RECORDS, tile, n_regions * g.record_bytes);
    QFZ_TRY(qfz_region_records_make(run, context, n_regions, gather_records, &g, err));
    return qfz_output_journal_end(out->journal, &g.record, err);
}

/* --------------------------------------------------------------------------- out of the journal */
/* Memory for one tile of output. */
typedef struct room {
    void *pixels;
    uint8_t *valid;
    uint64_t *records;
    int64_t records_n;
} room;

static qfz_status room_init(room *r, const qfz_setup *setup, qfz_error *err)
{
    const int64_t px = setup->tiling.tile_w * setup->tiling.tile_h;
    const int64_t record_bytes = qfz_region_record_bytes(setup);
    QFZ_TRY(qfz_alloc(&r->pixels, px, qfz_setup_out_bytes(setup), err));
    QFZ_TRY(QFZ_NEW(&r->valid, px, err));
    r->records_n = QFZ_RECORDS_BYTES / record_bytes + 1;
    return qfz_alloc((void **)&r->records, r->records_n, (size_t)record_bytes, err);
}

static void room_fini(room *r)
{
    free(r->pixels);
    free(r->valid);
    free(r->records);
}

static qfz_status replay_records(qfz_outputs *out, int64_t tile, const room *r, qfz_error *err)
{
    const int64_t record_bytes = qfz_region_record_bytes(out->run->setup);
    const int64_t n = qfz_output_journal_bytes(out->journal, RECORDS, tile) / record_bytes;
    for (int64_t first = 0; first < n; first += r->records_n) {
        const int64_t count = n - first < r->records_n ? n - first : r->records_n;
        QFZ_TRY(qfz_output_journal_read(out->journal, RECORDS, tile, first * record_bytes,
                                        r->records, count * record_bytes, err));
        QFZ_TRY(qfz_region_records_add(out->regions, r->records, count, err));
    }
    return QFZ_OK;
}

static qfz_status replay_tile(qfz_outputs *out, int64_t tile, const room *r, qfz_error *err)
{
    const qfz_tiling *const t = &out->run->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    for (int i = 0; i < out->n_rasters; i++) {
        const bool masked = out->specs[i].has_mask;
        QFZ_TRY(qfz_output_journal_get(out->journal, i, tile, r->pixels,
                                       n * px_bytes(&out->specs[i]), masked ? r->valid : NULL, n,
                                       err));
        QFZ_TRY(qfz_sink_write(out->sinks[i], box, r->pixels, masked ? r->valid : NULL, err));
    }
    return out->regions ? replay_records(out, tile, r, err) : QFZ_OK;
}

/* ------------------------------------------------------------------------------------------ end */
/* Deletes temporary files of killed runs.  The journal is locked, so no other process uses them. */
static qfz_status clean(const qfz_outputs *out, qfz_error *err)
{
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_spec *const spec = &out->specs[i];
        char *part = NULL;
        if (spec->n_parts) QFZ_TRY(qfz_part_path(&part, spec, err));
        qfz_output_clean(part ? part : spec->path);
        free(part);
    }
    return QFZ_OK;
}

static qfz_status replay(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    room r = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, clean(out, err));
    QFZ_TRY_OR(st, cleanup, create_files(out, err));
    QFZ_TRY_OR(st, cleanup, room_init(&r, run->setup, err));
    qfz_progress_begin(&run->progress, "writing", 0.05, run->end_tile - run->first_tile);
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++) {
        QFZ_TRY_OR(st, cleanup, replay_tile(out, tile, &r, err));
        QFZ_TRY_OR(st, cleanup, qfz_progress_advance(&run->progress, err));
    }

cleanup:
    room_fini(&r);
    return st;
}

/* An output in one piece is committed by qfz_outputs_join(). */
qfz_status qfz_outputs_finish(qfz_outputs *out, qfz_error *err)
{
    if (out->journal) QFZ_TRY(replay(out, err));
    if (out->run->n_parts > 1) QFZ_TRY(qfz_region_parts_save(out->regions, out->run, err));
    for (int i = 0; i < out->n_rasters; i++)
        if (out->sinks[i] && out->specs[i].n_parts > 0)
            QFZ_TRY(qfz_sink_commit(out->sinks[i], err));
    return QFZ_OK;
}

static qfz_status rows_of_parts(const qfz_outputs *out, const qfz_sink_spec *spec, int64_t **rows,
                                qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(rows, spec->n_parts + 1, err));
    for (int part = 0; part <= spec->n_parts; part++)
        (*rows)[part] = first_row(&out->run->setup->tiling, part, spec->n_parts);
    (*rows)[spec->n_parts] = spec->h;
    return QFZ_OK;
}

static qfz_status report_part(void *arg, double part, qfz_error *err)
{
    qfz_run *const run = arg;
    return qfz_progress_advance_to(&run->progress, part, err);
}

/* Does everything that can fail before a raster gets its name.  sink NULL: it has its name. */
static qfz_status finish(qfz_outputs *out, qfz_sink *sink, const char *path, qfz_error *err)
{
    qfz_run *const run = out->run;
    if (!sink) return QFZ_OK;
    if (qfz_output_is_copied(run->setup->job->format, path))
        qfz_progress_begin(&run->progress, "copying", copying_share, 0);
    return qfz_sink_finish(sink, report_part, run, err);
}

/* Merges all parts of raster i into one file, ready to be committed. */
static qfz_status merge_parts(qfz_outputs *out, int i, qfz_error *err)
{
    qfz_run *const run = out->run;
    const qfz_sink_spec *const spec = &out->specs[i];
    const qfz_sink_options options = qfz_job_sink_options(run->setup->job, spec->path);
    int64_t *rows = NULL;
    QFZ_TRY(rows_of_parts(out, spec, &rows, err));
    if (out->journal) qfz_output_clean(spec->path);
    qfz_sink_close(out->sinks[i]); /* a part */
    out->sinks[i] = NULL;
    qfz_progress_begin(&run->progress, "merging", merging_share / out->n_rasters, 0);
    const qfz_status st =
        qfz_parts_merge(&out->sinks[i], run->source, &options, spec, rows, report_part, run, err);
    free(rows);
    return st;
}

/* Commits a raster of parts.  whole: the file merged from them; NULL: a VRT over them. */
static qfz_status join_parts(const qfz_outputs *out, const qfz_sink_options *options,
                             const qfz_sink_spec *spec, qfz_sink *whole, qfz_error *err)
{
    int64_t *rows = NULL;
    QFZ_TRY(rows_of_parts(out, spec, &rows, err));
    if (out->journal && !whole) qfz_output_clean(spec->path);
    const qfz_status st = qfz_parts_join(out->run->source, options, spec, rows, whole, err);
    free(rows);
    return st;
}

/* Converts the complete raster of edges to the job's layout, and commits the result. */
static qfz_status convert_layout(qfz_outputs *out, qfz_error *err)
{
    const qfz_setup *const setup = out->run->setup;
    const qfz_job *const job = setup->job;
    const qfz_sink_options edges_options = options_of(out, QFZ_MAIN);
    const qfz_sink_options options = qfz_job_sink_options(job, job->dst);
    qfz_sink_spec edges = out->specs[QFZ_MAIN];
    qfz_sink_spec spec = qfz_output_spec_saliency(setup, job->dst, job->layout);
    qfz_sink *layout = NULL;
    qfz_status st;
    if (edges.n_parts > 0) {
        QFZ_TRY(join_parts(out, &edges_options, &edges, NULL, err));
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
    if (out->journal) qfz_output_clean(spec.path);
    QFZ_TRY(qfz_sink_create(&layout, out->run->source, &options, &spec, err));
    qfz_progress_begin(&out->run->progress, "layout", layout_share, 0);
    QFZ_TRY_OR(st, cleanup,
               qfz_layout_convert(out->sinks[QFZ_MAIN], &edges, layout, &spec, setup->n_threads,
                                  report_part, out->run, err));
    QFZ_TRY_OR(st, cleanup, finish(out, layout, spec.path, err));
    QFZ_TRY_OR(st, cleanup, qfz_sink_commit(layout, err));
    if (is_vrt) st = join_parts(out, &options, &spec, NULL, err);
    qfz_sink_close(out->sinks[QFZ_MAIN]);
    out->sinks[QFZ_MAIN] = NULL;
    if (out->specs[QFZ_MAIN].n_parts > 0) qfz_parts_remove(edges.path);

cleanup:
    qfz_sink_close(layout);
    return st;
}

/* Makes every raster ready for its name, where its format allows that. */
static qfz_status finish_rasters(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    for (int i = 0; i < out->n_rasters; i++) {
        const char *const path = out->specs[i].path;
        if (qfz_output_is_vrt(job->format, path)) continue;
        if (out->specs[i].n_parts > 0) QFZ_TRY(merge_parts(out, i, err));
        QFZ_TRY(finish(out, out->sinks[i], path, err));
    }
    return QFZ_OK;
}

/* Gives all outputs their names, the table last.  A failure closes the sinks and the table, which
 * take their files back; a VRT remains. */
static qfz_status place(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_options options = options_of(out, i);
        if (qfz_output_is_vrt(job->format, out->specs[i].path))
            QFZ_TRY(join_parts(out, &options, &out->specs[i], NULL, err));
        else if (out->sinks[i])
            QFZ_TRY(qfz_sink_place(out->sinks[i], err));
    }
    return out->table ? qfz_table_place(out->table, err) : QFZ_OK;
}

/* Deletes what the outputs replaced, and merged parts. */
static qfz_status commit(qfz_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->run->setup->job;
    if (out->table) QFZ_TRY(qfz_table_commit(out->table, err));
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_options options = options_of(out, i);
        if (qfz_output_is_vrt(job->format, out->specs[i].path)) continue;
        if (out->specs[i].n_parts > 0)
            QFZ_TRY(join_parts(out, &options, &out->specs[i], out->sinks[i], err));
        else
            QFZ_TRY(qfz_sink_commit(out->sinks[i], err));
    }
    return QFZ_OK;
}

/* The table and the rasters are complete on disk before the first of them is renamed, so a failure
 * leaves no output. */
qfz_status qfz_outputs_join(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    widen_cache(run); /* for formats that are made by copying */
    if (run->work) QFZ_TRY(qfz_work_folder_finish(run->work, err));
    if (out->journal && run->setup->job->regions) qfz_output_clean(run->setup->job->regions);
    if (run->setup->job->regions) qfz_progress_begin(&run->progress, "table", table_share, 0);
    if (run->n_parts > 1)
        QFZ_TRY(qfz_region_parts_join(run, &out->table, err));
    else
        QFZ_TRY(qfz_region_records_write(out->regions, run, &out->table, err));
    if (out->table) QFZ_TRY(qfz_table_finish(out->table, err));
    if (qfz_outputs_has_layout(run->setup->job)) {
        QFZ_TRY(convert_layout(out, err));
    } else {
        QFZ_TRY(finish_rasters(out, err));
        QFZ_TRY(place(out, err));
        QFZ_TRY(commit(out, err));
    }
    for (int part = 0; part < run->n_parts; part++)
        qfz_region_parts_delete(run, part);
    return QFZ_OK;
}

void qfz_outputs_abandon(const qfz_outputs *out)
{
    for (int i = 0; i < out->n_rasters; i++)
        if (out->specs[i].n_parts > 0) qfz_parts_delete(out->specs[i].path);
    for (int part = 0; part < out->run->n_parts; part++)
        qfz_region_parts_delete(out->run, part);
}
