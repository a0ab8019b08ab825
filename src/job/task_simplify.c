/* SPDX-License-Identifier: MIT */
/* task_simplify.c - (alpha, omega)-components (Soille, TPAMI 2008), painted with their means.
 *
 *   pass 1   each tile: its boundary summary (links and range events)
 *   stitch   the exterior of each tile
 *   pass 2   each tile, with its exterior: its regions; the sums of its border regions; the border
 *            regions, and the number of inner regions in each row; with the area filter and omega,
 *            the spans of regions
 *   number   numbers all regions, and adds up the sums of those that lie in several tiles
 *   pass 3   each tile: the means of its regions into the raster; labels and region records where
 *            the job has such outputs
 *
 * Two passes are not enough: the regions of a tile depend on its exterior, and their numbers and
 * means on the regions of all other tiles.  A job that only counts ends after the numbering. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/output_specs.h"
#include "job/task.h"
#include "job/task_steps.h"
#include "job/tile_error.h"

/* Words of the value of a border region: its number of pixels, then the sum of each band
 * (exact.h). */
static int value_words(const qfz_setup *setup)
{
    return 1 + setup->info.n_bands * qfz_sum_words(setup->info.type);
}

static void add_integer_sums(uint64_t *into, const uint64_t *from, int words)
{
    const int n = qfz_sum_words(QFZ_U8);
    into[0] += from[0];
    for (int at = 1; at < words; at += n)
        qfz_words_add(into + at, from + at, n);
}

static void add_float_sums(uint64_t *into, const uint64_t *from, int words)
{
    const int n = qfz_sum_words(QFZ_F32);
    into[0] += from[0];
    for (int at = 1; at < words; at += n)
        qfz_words_add(into + at, from + at, n);
}

/* Computes the regions of the loaded tile from its exterior. */
static qfz_status partition_tile(qfz_run *run, qfz_thread_context *context, int64_t tile,
                                 qfz_partition *partition, qfz_error *err)
{
    qfz_exterior exterior = {0};
    QFZ_TRY(qfz_stitch_exterior(run->stitch, tile, &exterior, err));
    qfz_error found = {.status = QFZ_OK};
    const qfz_status st = run->setup->engine->partition(
        context->worker, exterior.n_ring ? &exterior : NULL, partition, &found);
    qfz_exterior_fini(&exterior);
    return qfz_tile_engine_status(run->setup->job->src, context->box, st, &found, err);
}

/* Stores the sums of the border regions, which may extend into other tiles. */
static qfz_status put_sums(qfz_run *run, qfz_thread_context *context, int64_t tile,
                           const qfz_partition *partition, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const int words = value_words(setup), sum_words = qfz_sum_words(setup->info.type);
    const int64_t n = partition->n_border_regions;
    uint64_t *values = NULL, *sums = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&values, n * words, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&sums, n * sum_words, err));
    for (int64_t s = 0; s < n; s++)
        values[s * words] = partition->border_regions[s].pixels;
    for (int b = 0; b < setup->info.n_bands; b++) {
        QFZ_TRY_OR(st, cleanup, setup->engine->border_sums(context->worker, b, sums, err));
        for (int64_t s = 0; s < n; s++)
            memcpy(values + s * words + 1 + b * sum_words, sums + s * sum_words,
                   (size_t)sum_words * sizeof *values);
    }
    st = qfz_stitch_put_values(run->stitch, QFZ_SET_SUMS, tile, values, n * words, err);

cleanup:
    free(values);
    free(sums);
    return st;
}

/* Stores the spans of the regions of a tile. */
static qfz_status put_spans(qfz_run *run, qfz_thread_context *context, int64_t tile,
                            const qfz_partition *partition, qfz_error *err)
{
    const int64_t words = qfz_span_words(run->setup->rule.n_bands);
    uint64_t *spans = NULL, wide;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&spans, partition->n_border_regions * words, err));
    QFZ_TRY_OR(st, cleanup, run->setup->engine->spans(context->worker, spans, &wide, err));
    st = qfz_stitch_put_spans(run->stitch, tile, partition, spans, wide, err);

cleanup:
    free(spans);
    return st;
}

static qfz_status count(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                        qfz_error *err)
{
    (void)arg;
    qfz_partition partition;
    QFZ_TRY(partition_tile(run, context, tile, &partition, err));
    QFZ_TRY(qfz_step_put_regions(run, tile, &partition, err));
    if (!run->setup->job->count_only) QFZ_TRY(put_sums(run, context, tile, &partition, err));
    return qfz_run_counts_wide(run) ? put_spans(run, context, tile, &partition, err) : QFZ_OK;
}

static bool is_counted(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    return qfz_step_has_regions(run, tile) &&
           (run->setup->job->count_only ||
            qfz_stitch_has_values(run->stitch, QFZ_SET_SUMS, tile)) &&
           (!qfz_run_counts_wide(run) || qfz_stitch_has_spans(run->stitch, tile));
}

/* ------------------------------------------------------------------------------- between passes */
static qfz_status number(qfz_run *run, double share, qfz_error *err)
{
    const qfz_combine add =
        qfz_type_is_float(run->setup->info.type) ? add_float_sums : add_integer_sums;
    qfz_progress_begin(run->progress, "numbering", share, 0);
    QFZ_TRY(qfz_step_number_all(run, err));
    if (qfz_run_counts_wide(run)) QFZ_TRY(qfz_stitch_add_wide(run->stitch, err));
    if (run->setup->job->count_only) return QFZ_OK;
    return qfz_stitch_reduce(run->stitch, QFZ_SET_SUMS, value_words(run->setup), add, err);
}

static bool is_numbered(qfz_run *run, int64_t tile, void *arg)
{
    (void)arg;
    const bool has_sums = qfz_run_owns_tiles(run) && !run->setup->job->count_only;
    return qfz_step_is_numbered(run, tile) &&
           (!qfz_run_counts_wide(run) || qfz_stitch_is_wide_added(run->stitch)) &&
           (!has_sums || qfz_stitch_is_reduced(run->stitch, QFZ_SET_SUMS, tile));
}

/* ------------------------------------------------------------------------------------- painting */
/* The value of invalid pixels: nodata, or 0 if there is none or the type cannot hold it. */
static void set_invalid(const qfz_sink_spec *spec, qfz_type type, uint8_t invalid[4])
{
    const double nodata = spec->has_nodata ? spec->nodata : 0;
    const float single = (float)nodata;
    const int64_t whole = nodata >= -2147483648.0 && nodata <= 4294967295.0 ? (int64_t)nodata : 0;
    const uint32_t bits = (uint32_t)whole; /* its low bytes are the value in any narrower type */
    if (qfz_type_is_float(type))
        memcpy(invalid, &single, sizeof single);
    else
        memcpy(invalid, &bits, sizeof bits);
}

/* means[s] = the mean of border region s in one band, in the raster's type, from the sums over all
 * tiles. */
static void find_border_means(const qfz_setup *setup, const uint64_t *values,
                              uint32_t n_border_regions, int band, char *means)
{
    const qfz_type type = setup->info.type;
    const int words = value_words(setup), sum_words = qfz_sum_words(type);
    for (uint32_t s = 0; s < n_border_regions; s++) {
        const uint64_t *const value = values + (int64_t)s * words;
        qfz_sum_mean(value + 1 + band * sum_words, value[0], type,
                     means + s * qfz_type_bytes(type));
    }
}

static qfz_status paint(qfz_run *run, qfz_thread_context *context, int64_t tile,
                        const qfz_partition *partition, qfz_outputs *outputs, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const qfz_type type = setup->info.type;
    const size_t plane_bytes = (size_t)(context->tile.h * context->tile.w) * qfz_type_bytes(type);
    uint8_t invalid[4]; /* in the raster's type */
    uint64_t *values = NULL;
    void *means = NULL;
    int64_t n;
    qfz_status st;
    set_invalid(&outputs->specs[QFZ_MAIN], type, invalid);
    QFZ_TRY_OR(st, cleanup,
               qfz_stitch_get_values(run->stitch, QFZ_SET_SUMS, tile, &values, &n, err));
    if (n != (int64_t)partition->n_border_regions * value_words(setup))
        QFZ_TRY_OR(st, cleanup,
                   qfz_fail(err, QFZ_EIO,
                            "%s: rows %lld to %lld, columns %lld to %lld: the source has changed "
                            "since the first pass",
                            setup->job->src, (long long)context->box.y0,
                            (long long)context->box.y1 - 1, (long long)context->box.x0,
                            (long long)context->box.x1 - 1));
    QFZ_TRY_OR(st, cleanup,
               qfz_alloc(&means, partition->n_border_regions, qfz_type_bytes(type), err));
    for (int b = 0; b < setup->info.n_bands; b++) {
        find_border_means(setup, values, partition->n_border_regions, b, means);
        QFZ_TRY_OR(st, cleanup,
                   setup->engine->paint(context->worker, b, means, invalid,
                                        (char *)context->out + (size_t)b * plane_bytes, err));
    }
    st = qfz_outputs_write(outputs, QFZ_MAIN, context, tile, context->out, err);

cleanup:
    free(values);
    free(means);
    return st;
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    qfz_outputs *const outputs = arg;
    const bool wide = outputs->specs[QFZ_SECOND].type == QFZ_OUT_U64;
    qfz_partition partition;
    QFZ_TRY(partition_tile(run, context, tile, &partition, err));
    QFZ_TRY(paint(run, context, tile, &partition, outputs, err));
    const bool has_labels = outputs->n_rasters > QFZ_SECOND;
    if (!has_labels && !job->regions) return QFZ_OK;
    QFZ_TRY(qfz_step_number_tile(run, context, tile, &partition, err));
    if (has_labels) {
        QFZ_TRY(run->setup->engine->labels(context->worker, wide, context->out, err));
        QFZ_TRY(qfz_outputs_write(outputs, QFZ_SECOND, context, tile, context->out, err));
    }
    return qfz_outputs_regions(outputs, context, tile, partition.n_regions, err);
}

static void plan(const qfz_run *run, qfz_outputs *outputs)
{
    const qfz_job *const job = run->setup->job;
    outputs->hides_labels = qfz_label_outputs_hide_labels(job);
    outputs->n_rasters = job->labels || outputs->hides_labels ? 2 : 1;
    outputs->specs[QFZ_MAIN] = qfz_output_spec_painted(run->setup, job->dst);
    if (outputs->n_rasters > QFZ_SECOND)
        outputs->specs[QFZ_SECOND] =
            qfz_output_spec_labels(run->setup, job->labels, run->count.total);
}

const qfz_task_passes qfz_task_simplify = {
    .steps =
        {{.phase = QFZ_PHASE_SUMMARISE,
          .share = 0.3,
          .is_done = qfz_step_is_summarised,
          .visit = qfz_step_summarise},
         {.phase = QFZ_PHASE_STITCH,
          .share = 0.05,
          .is_done = qfz_step_is_stitched,
          .together = qfz_step_stitch},
         {.phase = QFZ_PHASE_SUMMARISE, .share = 0.3, .is_done = is_counted, .visit = count},
         {.phase = QFZ_PHASE_STITCH, .share = 0.05, .is_done = is_numbered, .together = number}},
    .n_steps = 4,
    .plan = plan,
    .resolve_share = 0.25,
    .resolve = resolve,
};
