/* SPDX-License-Identifier: MIT */
#include "job/label_paint.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "job/raster_options.h"

bool qfz_label_paint_shows_image(const qfz_job *job)
{
    return job->quicklook && job->quicklook_style != QFZ_QUICKLOOK_COLORS;
}

bool qfz_label_paint_colors(const qfz_job *job)
{
    return job->colors || (job->quicklook && !qfz_label_paint_shows_image(job));
}

static qfz_sink_spec spec_of(const qfz_job *job, const qfz_source *source,
                             const uint8_t (*palette)[4])
{
    const qfz_source_info *const info = qfz_source_get_info(source);
    return (qfz_sink_spec){.path = job->colors,
                           .content = QFZ_CONTENT_COLORS,
                           .w = info->w,
                           .h = info->h,
                           .n_bands = 1,
                           .type = QFZ_OUT_U8,
                           .max_value = QFZ_COLORS,
                           .has_nodata = true,
                           .palette = palette};
}

static qfz_status check_colors(const qfz_job *job, qfz_source *source, qfz_error *err)
{
    uint8_t palette[QFZ_COLORS + 1][4];
    const qfz_sink_options options = qfz_job_colors_options(job);
    qfz_coloring_palette(palette);
    const qfz_sink_spec spec = spec_of(job, source, (const uint8_t(*)[4])palette);
    if (qfz_output_is_vrt(NULL, job->colors))
        return qfz_fail(err, QFZ_EARG, "%s: colours are written as one file; use .tif, for example",
                        job->colors);
    return qfz_sink_check(source, &options, &spec, err);
}

static qfz_status check_quicklook(const qfz_job *job, qfz_source *source, qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(job);
    const char *const dot = strrchr(job->quicklook, '.');
    if (!dot || strcasecmp(dot, ".png") != 0)
        return qfz_fail(err, QFZ_EARG, "%s: a quicklook is a PNG image; use .png", job->quicklook);
    return qfz_output_check(source, &options, job->quicklook, err);
}

qfz_status qfz_label_paint_check(const qfz_job *job, qfz_source *source, qfz_error *err)
{
    if (job->colors) QFZ_TRY(check_colors(job, source, err));
    return job->quicklook ? check_quicklook(job, source, err) : QFZ_OK;
}

qfz_status qfz_label_paint_open(qfz_label_paint *paint, int64_t bytes, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(paint->source);
    const int n = paint->pass->n_threads;
    qfz_coloring_palette(paint->palette);
    QFZ_TRY(QFZ_NEW_ZERO(&paint->colors, n, err));
    if (paint->job->quicklook)
        QFZ_TRY(qfz_picture_open(&paint->picture, paint->job->quicklook_style, info->w, info->h,
                                 paint->folder, err));
    if (!qfz_label_paint_colors(paint->job)) return QFZ_OK;
    return qfz_coloring_open(&paint->coloring, info->w * info->h, n, bytes, paint->folder,
                             paint->job->src, err);
}

void qfz_label_paint_close(qfz_label_paint *paint)
{
    for (int i = 0; paint->colors && i < paint->pass->n_threads; i++)
        free(paint->colors[i]);
    free(paint->colors);
    qfz_coloring_close(paint->coloring);
    qfz_picture_close(paint->picture);
    qfz_values_close(paint->values);
    qfz_sink_close(paint->sink);
    qfz_png_close(paint->png);
}

qfz_status qfz_label_paint_add(qfz_label_paint *paint, int thread, const qfz_label_tile *tile,
                               qfz_error *err)
{
    if (!paint->coloring) return QFZ_OK;
    return qfz_coloring_add(paint->coloring, thread, tile, err);
}

static qfz_status visit(void *arg, int thread, const qfz_label_tile *tile, qfz_error *err)
{
    qfz_label_paint *const paint = arg;
    const qfz_tiling *const t = &paint->pass->tiling;
    uint8_t **const colors = &paint->colors[thread];
    qfz_image image;
    if (paint->coloring) {
        if (!*colors) QFZ_TRY(QFZ_NEW(colors, t->tile_w * t->tile_h, err));
        QFZ_TRY(qfz_coloring_paint(paint->coloring, thread, tile, *colors, err));
    }
    if (paint->values) QFZ_TRY(qfz_values_read(paint->values, thread, tile->box, &image, err));
    if (paint->picture)
        QFZ_TRY(qfz_picture_add(paint->picture, tile, *colors, paint->values ? &image : NULL,
                                paint->rgb, err));
    return paint->sink ? qfz_sink_write(paint->sink, tile->box, *colors, NULL, err) : QFZ_OK;
}

static qfz_status draw(qfz_label_paint *paint, qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(paint->job);
    uint8_t *rgb = NULL;
    int w, h;
    if (!paint->picture) return QFZ_OK;
    QFZ_TRY(
        qfz_picture_draw(paint->picture, (const uint8_t(*)[4])paint->palette, &rgb, &w, &h, err));
    const qfz_status st =
        qfz_png_create(&paint->png, paint->job->quicklook, rgb, w, h, &options, err);
    free(rgb);
    return st;
}

static qfz_status open_values(qfz_label_paint *paint, qfz_error *err)
{
    const qfz_tiling *const t = &paint->pass->tiling;
    qfz_source_picture_bands(paint->image, paint->rgb);
    return qfz_values_open(&paint->values, paint->image, paint->pass->n_threads,
                           t->tile_w * t->tile_h, err);
}

qfz_status qfz_label_paint_finish(qfz_label_paint *paint, double share, qfz_error *err)
{
    const qfz_job *const job = paint->job;
    const qfz_sink_options options = qfz_job_colors_options(job);
    if (paint->coloring) QFZ_TRY(qfz_coloring_solve(paint->coloring, err));
    if (paint->image) QFZ_TRY(open_values(paint, err));
    if (job->colors) {
        const qfz_sink_spec spec = spec_of(job, paint->source, (const uint8_t(*)[4])paint->palette);
        QFZ_TRY(qfz_sink_create(&paint->sink, paint->source, &options, &spec, err));
    }
    QFZ_TRY(qfz_label_pass_run(paint->pass, "colours", share, false, visit, paint, err));
    qfz_values_close(paint->values);
    paint->values = NULL;
    QFZ_TRY(draw(paint, err));
    return paint->sink ? qfz_sink_finish(paint->sink, NULL, NULL, err) : QFZ_OK;
}

qfz_status qfz_label_paint_place(qfz_label_paint *paint, qfz_error *err)
{
    if (paint->sink) QFZ_TRY(qfz_sink_place(paint->sink, err));
    return paint->png ? qfz_png_place(paint->png, err) : QFZ_OK;
}

qfz_status qfz_label_paint_commit(qfz_label_paint *paint, qfz_error *err)
{
    if (paint->sink) QFZ_TRY(qfz_sink_commit(paint->sink, err));
    return paint->png ? qfz_png_commit(paint->png, err) : QFZ_OK;
}
