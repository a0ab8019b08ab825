/* SPDX-License-Identifier: MIT */
#include "job/label_outputs.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/neighbour_rows.h"
#include "job/raster_options.h"
#include "job/table_columns.h"
#include "job/temp_folder.h"

enum { TILE_PX_MIN = 1 << 14, TILE_PX_MAX = 1 << 22 };

bool qfz_label_outputs_wanted(const qfz_job *job)
{
    return job->neighbours || job->stats || job->colors || job->polygons ||
           (job->quicklook && job->task != QFZ_SALIENCY) ||
           qfz_zone_columns_needs(job->columns).zones;
}

bool qfz_label_outputs_hide_labels(const qfz_job *job)
{
    return job->task == QFZ_SIMPLIFY && !job->labels && qfz_label_outputs_wanted(job);
}

/* ---------------------------------------------------------------------------------------- checks
 */
static qfz_status open_stats(qfz_source **stats, const qfz_job *job, const qfz_source *source,
                             qfz_error *err)
{
    const qfz_source_options options = qfz_job_stats_options(job);
    const qfz_source_info *const info = qfz_source_get_info(source);
    QFZ_TRY(qfz_source_open(stats, &options, err));
    const qfz_source_info *const found = qfz_source_get_info(*stats);
    if (found->w == info->w && found->h == info->h) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: the raster of --stats has %lld x %lld pixels, but %s has %lld x %lld; a "
                    "VRT of the same grid does (gdalwarp -of VRT -te ... -ts ...)",
                    job->stats, (long long)found->w, (long long)found->h, job->src,
                    (long long)info->w, (long long)info->h);
}

qfz_status qfz_label_outputs_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                   qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(job);
    qfz_source *stats = NULL;
    if (job->neighbours)
        QFZ_TRY(qfz_table_check(source, &options, job->neighbours, QFZ_NO_GEOMETRY, err));
    QFZ_TRY(qfz_label_paint_check(job, source, err));
    if (job->polygons) QFZ_TRY(qfz_polygon_rows_check(job, source, memory_bytes, err));
    if (job->columns)
        QFZ_TRY(qfz_source_locate(source, err)); /* without a CRS, some do not exist */
    qfz_status st = job->stats ? open_stats(&stats, job, source, err) : QFZ_OK;
    if (st == QFZ_OK && job->columns) st = qfz_table_columns_check(job, source, stats, err);
    for (int i = 0; stats && i < QFZ_OUTPUTS_MAX && st == QFZ_OK; i++)
        if (options.names[i]) st = qfz_output_check(stats, &options, options.names[i], err);
    qfz_source_close(stats);
    return st;
}

qfz_status qfz_label_outputs_stats_bytes(const qfz_job *job, int64_t *bytes, qfz_error *err)
{
    const qfz_source_options options = qfz_job_stats_options(job);
    qfz_source *stats = NULL;
    *bytes = 0;
    if (!job->stats) return QFZ_OK;
    QFZ_TRY(qfz_source_open(&stats, &options, err));
    const qfz_source_info *const info = qfz_source_get_info(stats);
    *bytes = qfz_source_reader_bytes(info) + info->table_bytes;
    qfz_source_close(stats);
    return QFZ_OK;
}

void qfz_label_outputs_clean(const qfz_job *job)
{
    const char *const outputs[] = {job->neighbours, job->colors, job->quicklook, job->polygons};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i]) qfz_output_clean(outputs[i], qfz_temp_folder_local(job));
}

/* --------------------------------------------------------------------------------------- open */
/* The rule by which the values of --stats have levels. */
static qfz_status make_stats_rule(qfz_label_outputs *out, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(out->stats);
    uint32_t max_level;
    out->stats_rule = (qfz_rule){.connectivity = 4,
                                 .distance = out->job->criterion.distance,
                                 .type = info->type,
                                 .n_bands = info->n_bands};
    out->rule = &out->stats_rule;
    return qfz_max_level(out->rule, &max_level, err);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Half of the memory is for tiles, half for records. */
static qfz_status plan_tiles(qfz_label_outputs *out, bool paints, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(out->source);
    int64_t px_bytes = sizeof(uint64_t) + (paints ? 2 : 1);
    if (out->image) px_bytes += qfz_values_px_bytes(qfz_source_get_info(out->image));
    if (out->stats) px_bytes += qfz_values_px_bytes(qfz_source_get_info(out->stats));
    if (out->shown && out->shown != out->image && out->shown != out->stats)
        px_bytes += qfz_values_px_bytes(qfz_source_get_info(out->shown));
    const int64_t most = out->memory_bytes / 2 / px_bytes / out->pass.n_threads;
    const int64_t share = info->w * info->h / (4 * out->pass.n_threads);
    const int64_t wanted = clamp(share, TILE_PX_MIN, TILE_PX_MAX);
    return qfz_tiling_choose(&out->pass.tiling, info, out->job->tile_px,
                             most < wanted ? clamp(most, 1, wanted) : wanted, err);
}

static qfz_status open_values(qfz_label_outputs *out, qfz_error *err)
{
    const qfz_tiling *const t = &out->pass.tiling;
    const int64_t px = (t->tile_w + 1) * (t->tile_h + 1);
    if (out->stats)
        QFZ_TRY(qfz_values_open(&out->stats_values, out->stats, out->pass.n_threads, px, err));
    if (out->image)
        QFZ_TRY(qfz_values_open(&out->image_values, out->image, out->pass.n_threads, px, err));
    return QFZ_OK;
}

qfz_status qfz_label_outputs_plan(qfz_label_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->job;
    const bool wants_paint = job->colors || job->quicklook;
    const bool traces_alone = !out->needs.zones && !job->neighbours && !wants_paint;
    if (!traces_alone) QFZ_TRY(qfz_source_locate(out->source, err));
    if (job->stats) QFZ_TRY(open_stats(&out->stats, job, out->source, err));
    if (qfz_label_paint_shows_image(job)) out->shown = out->image ? out->image : out->stats;
    if (job->neighbours && out->stats && !out->image) QFZ_TRY(make_stats_rule(out, err));
    if (!job->neighbours && !out->needs.values) out->image = NULL;
    return plan_tiles(out, wants_paint, err);
}

qfz_status qfz_label_outputs_open(qfz_label_outputs *out, qfz_error *err)
{
    const qfz_job *const job = out->job;
    out->paints = job->colors || job->quicklook;
    const int n_users = (job->neighbours != NULL) + out->paints + qfz_zone_facts_users(&out->needs);
    const int64_t bytes = out->memory_bytes / 2 / (n_users > 0 ? n_users : 1);
    qfz_temp_folder(job, out->folder, sizeof out->folder);
    if (job->neighbours)
        QFZ_TRY(qfz_neighbours_open(&out->neighbours, out->rule, out->pass.n_threads, bytes,
                                    out->folder, err));
    QFZ_TRY(qfz_zone_facts_open(&out->facts, &out->needs, out->stats, out->pass.n_threads, bytes,
                                out->folder, err));
    QFZ_TRY(open_values(out, err));
    if (!out->paints) return QFZ_OK;
    out->paint = (qfz_label_paint){.job = job,
                                   .source = out->source,
                                   .pass = &out->pass,
                                   .folder = out->folder,
                                   .image = out->shown};
    return qfz_label_paint_open(&out->paint, bytes, err);
}

/* Frees what the outputs that follow do not need. */
static void drop_read(qfz_label_outputs *out)
{
    qfz_values_close(out->image_values);
    qfz_values_close(out->stats_values);
    qfz_zone_facts_close(&out->facts);
    out->image_values = out->stats_values = NULL;
}

void qfz_label_outputs_close(qfz_label_outputs *out)
{
    if (out->paints) qfz_label_paint_close(&out->paint);
    qfz_table_close(out->pairs);
    qfz_table_close(out->polygons);
    qfz_neighbours_close(out->neighbours);
    drop_read(out);
    qfz_source_close(out->stats);
}

/* ---------------------------------------------------------------------------------------- gather
 */
/* Weights of the rows of a tile: areas; lengths of sides, from the row above the tile on. */
static qfz_status row_weights(const qfz_label_outputs *out, qfz_box box, uint64_t **areas,
                              uint64_t **lengths, qfz_error *err)
{
    const int64_t h = qfz_box_h(box);
    QFZ_TRY(QFZ_NEW(areas, h, err));
    QFZ_TRY(QFZ_NEW(lengths, QFZ_SIDES * (h + 1), err));
    QFZ_TRY(qfz_source_row_areas(out->source, box.y0, h, *areas, err));
    return qfz_source_side_lengths(out->source, box.y0 - 1, h + 1, *lengths, err);
}

static bool needs_margin(const qfz_label_outputs *out)
{
    return out->neighbours || out->paint.coloring || out->needs.borders || out->needs.neighbours;
}

static qfz_status add_tile(qfz_label_outputs *out, int thread, const qfz_label_tile *tile,
                           const uint64_t *areas, const uint64_t *lengths, qfz_error *err)
{
    const qfz_box box = qfz_label_pass_box(&out->pass.tiling, tile->box, needs_margin(out));
    qfz_image image, of_stats;
    const qfz_image *stats = NULL, *values = NULL;
    if (out->stats_values) {
        QFZ_TRY(qfz_values_read(out->stats_values, thread, box, &of_stats, err));
        values = stats = &of_stats;
    }
    if (out->image_values) {
        QFZ_TRY(qfz_values_read(out->image_values, thread, box, &image, err));
        values = &image;
    }
    if (out->paints) QFZ_TRY(qfz_label_paint_add(&out->paint, thread, tile, err));
    QFZ_TRY(qfz_zone_facts_add(&out->facts, thread, tile, areas, lengths, values, stats, err));
    if (!out->neighbours) return QFZ_OK;
    return qfz_neighbours_add(out->neighbours, thread, tile, lengths + QFZ_SIDES, values, err);
}

static qfz_status visit(void *arg, int thread, const qfz_label_tile *tile, qfz_error *err)
{
    qfz_label_outputs *const out = arg;
    uint64_t *areas = NULL, *lengths = NULL;
    qfz_status st = row_weights(out, tile->box, &areas, &lengths, err);
    if (st == QFZ_OK) st = add_tile(out, thread, tile, areas, lengths, err);
    free(areas);
    free(lengths);
    return st;
}

qfz_status qfz_label_outputs_pass(qfz_label_outputs *out, qfz_error *err)
{
    if (!out->facts.zones && !out->neighbours && !out->paints) return QFZ_OK;
    return qfz_label_pass_run(&out->pass, "regions", QFZ_LABEL_OUTPUTS_SHARE / 3, needs_margin(out),
                              visit, out, err);
}

qfz_status qfz_label_outputs_gather(qfz_label_outputs *out, qfz_error *err)
{
    QFZ_TRY(qfz_label_outputs_pass(out, err));
    return qfz_zone_facts_begin_reading(&out->facts, err);
}

/* --------------------------------------------------------------------------------------- the end
 */
static qfz_status write_pairs(qfz_label_outputs *out, qfz_error *err)
{
    qfz_progress_begin(out->pass.progress, "neighbours", QFZ_LABEL_OUTPUTS_SHARE / 3, 0);
    QFZ_TRY(qfz_neighbour_rows_write(out, &out->pairs, err));
    qfz_neighbours_close(out->neighbours);
    out->neighbours = NULL;
    return qfz_table_finish(out->pairs, err);
}

qfz_polygon_chains qfz_label_outputs_chains(const qfz_label_outputs *out)
{
    return (qfz_polygon_chains){.pass = &out->pass,
                                .job = out->job,
                                .source = out->source,
                                .folder = out->folder,
                                .memory_bytes = out->memory_bytes};
}

/* Records are no longer needed when polygons are made, which take their memory. */
qfz_status qfz_label_outputs_finish(qfz_label_outputs *out, qfz_error *err)
{
    drop_read(out);
    if (out->neighbours) QFZ_TRY(write_pairs(out, err));
    if (out->paints) QFZ_TRY(qfz_label_paint_finish(&out->paint, QFZ_LABEL_OUTPUTS_SHARE / 3, err));
    if (!out->job->polygons) return QFZ_OK;
    const qfz_polygon_chains chains = qfz_label_outputs_chains(out);
    return qfz_polygon_rows_write(&chains, &out->files, &out->polygons, &out->counts, err);
}

qfz_status qfz_label_outputs_place(qfz_label_outputs *out, qfz_error *err)
{
    if (out->pairs) QFZ_TRY(qfz_table_place(out->pairs, err));
    if (out->polygons) QFZ_TRY(qfz_table_place(out->polygons, err));
    return out->paints ? qfz_label_paint_place(&out->paint, err) : QFZ_OK;
}

qfz_status qfz_label_outputs_commit(qfz_label_outputs *out, qfz_error *err)
{
    if (out->pairs) QFZ_TRY(qfz_table_commit(out->pairs, err));
    if (out->polygons) QFZ_TRY(qfz_table_commit(out->polygons, err));
    return out->paints ? qfz_label_paint_commit(&out->paint, err) : QFZ_OK;
}
