/* SPDX-License-Identifier: MIT */
#include "job/saliency_picture.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/raster_options.h"
#include "job/outputs_labels.h"
#include "job/stored_level.h"

/* Edges of row y, band after band. */
static void add_row(qfz_contours *contours, const qfz_sink_spec *spec, const void *raw, int64_t y)
{
    for (int dir = 0; dir < spec->n_bands; dir++)
        for (int64_t x = 0; x < spec->w; x++) {
            const uint64_t level = qfz_stored_level(spec->type, raw, dir * spec->w + x);
            if (level == qfz_no_level || level == 0) continue;
            qfz_contours_add(contours, dir, y, x,
                             spec->type == QFZ_OUT_F32 ? qfz_level_of_bits(level) : (float)level);
        }
}

static qfz_status gather(qfz_contours *contours, qfz_outputs *out, qfz_advance_fn advance,
                         void *arg, qfz_error *err)
{
    const qfz_sink_spec *const spec = &out->specs[QFZ_MAIN];
    void *raw = NULL;
    QFZ_TRY(qfz_outputs_open_parts(out, err));
    QFZ_TRY(qfz_alloc(&raw, spec->w * spec->n_bands, qfz_out_type_bytes(spec->type), err));
    qfz_status st = QFZ_OK;
    for (int64_t y = 0; y < spec->h && st == QFZ_OK; y++) {
        const qfz_box row = {.y0 = y, .x0 = 0, .y1 = y + 1, .x1 = spec->w};
        st = qfz_outputs_read(out, 0, row, raw, err);
        if (st != QFZ_OK) break;
        add_row(contours, spec, raw, y);
        st = advance(arg, (double)(y + 1) / (double)spec->h, err);
    }
    free(raw);
    return st;
}

qfz_status qfz_saliency_picture_draw(qfz_outputs *out, qfz_advance_fn advance, void *arg,
                                     qfz_error *err)
{
    const qfz_sink_spec *const spec = &out->specs[QFZ_MAIN];
    const qfz_job *const job = out->run->setup->job;
    const qfz_output_options options = qfz_job_output_options(job);
    qfz_contours *contours = NULL;
    uint8_t *rgb = NULL;
    int w, h;
    QFZ_TRY(qfz_contours_open(&contours, spec->w, spec->h, err));
    qfz_status st = gather(contours, out, advance, arg, err);
    if (st == QFZ_OK) st = qfz_contours_draw(contours, &rgb, &w, &h, err);
    qfz_contours_close(contours);
    if (st == QFZ_OK) st = qfz_png_create(&out->picture, job->quicklook, rgb, w, h, &options, err);
    free(rgb);
    return st;
}
