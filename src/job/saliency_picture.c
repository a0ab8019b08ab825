/* SPDX-License-Identifier: MIT */
#include "job/saliency_picture.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/stored_level.h"

enum { STRIP_BYTES = 16 << 20 };

/* The edges of rows y0 .. y1, band after band. */
static void add_strip(qfz_contours *contours, const qfz_sink_spec *spec, const void *raw,
                      int64_t y0, int64_t y1)
{
    const int64_t n = (y1 - y0) * spec->w;
    for (int dir = 0; dir < spec->n_bands; dir++)
        for (int64_t i = 0; i < n; i++) {
            const uint64_t level = qfz_stored_level(spec->type, raw, dir * n + i);
            if (level == qfz_no_level || level == 0) continue;
            qfz_contours_add(contours, dir, y0 + i / spec->w, i % spec->w,
                             spec->type == QFZ_OUT_F32 ? qfz_level_of_bits(level) : (float)level);
        }
}

static qfz_status gather(qfz_contours *contours, qfz_sink *edges, const qfz_sink_spec *spec,
                         qfz_advance_fn advance, void *arg, qfz_error *err)
{
    const int64_t row_bytes = spec->w * spec->n_bands * (int64_t)qfz_out_type_bytes(spec->type);
    const int64_t wanted = STRIP_BYTES / row_bytes;
    const int64_t rows = wanted < 1 ? 1 : wanted < spec->h ? wanted : spec->h;
    void *raw = NULL;
    QFZ_TRY(qfz_alloc(&raw, rows, (size_t)row_bytes, err));
    qfz_status st = QFZ_OK;
    for (int64_t y0 = 0; y0 < spec->h && st == QFZ_OK; y0 += rows) {
        const int64_t y1 = y0 + rows < spec->h ? y0 + rows : spec->h;
        const qfz_box box = {.y0 = y0, .x0 = 0, .y1 = y1, .x1 = spec->w};
        st = qfz_sink_read(edges, box, raw, NULL, err);
        if (st != QFZ_OK) break;
        add_strip(contours, spec, raw, y0, y1);
        st = advance(arg, (double)y1 / (double)spec->h, err);
    }
    free(raw);
    return st;
}

qfz_status qfz_saliency_picture_draw(qfz_png **png, const qfz_job *job, qfz_sink *edges,
                                     const qfz_sink_spec *spec, qfz_advance_fn advance, void *arg,
                                     qfz_error *err)
{
    qfz_contours *contours = NULL;
    uint8_t *rgb = NULL;
    int w, h;
    QFZ_TRY(qfz_contours_open(&contours, spec->w, spec->h, err));
    qfz_status st = gather(contours, edges, spec, advance, arg, err);
    if (st == QFZ_OK) st = qfz_contours_draw(contours, &rgb, &w, &h, err);
    qfz_contours_close(contours);
    if (st == QFZ_OK) st = qfz_png_create(png, job->quicklook, rgb, w, h, job->overwrite, err);
    free(rgb);
    return st;
}
