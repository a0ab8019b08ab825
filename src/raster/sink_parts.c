/* SPDX-License-Identifier: MIT */
#include "raster/sink_parts.h"

#include <stdlib.h>

#include "core/memory.h"
#include "raster/part_folder.h"
#include "raster/paths.h"
#include "raster/sink_write.h"

enum { COPY_SIDE = 512, COPY_BYTES = 32 << 20 }; /* copied at once, at most: whole blocks */

static qfz_sink_spec spec_of_part(const qfz_sink_spec *spec, const int64_t *rows, int part)
{
    qfz_sink_spec one = *spec;
    one.part = part;
    one.y0 = rows[part];
    one.y1 = rows[part + 1];
    return one;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

typedef struct copying {
    const qfz_sink_options *options;
    qfz_sink *to;
    int64_t columns; /* copied at once */
    void *pixels;
    uint8_t *valid;
    qfz_advance_fn progress;
    void *arg;
} copying;

/* Copies rows box.y0..y1 of a part, which lie in one row of blocks. */
static qfz_status copy_rows(const copying *c, qfz_sink *from, const qfz_sink_spec *one, qfz_box box,
                            qfz_error *err)
{
    uint8_t *const mask = one->has_mask ? c->valid : NULL;
    const double w = (double)one->w, h = (double)one->h;
    for (box.x0 = 0; box.x0 < one->w; box.x0 = box.x1) {
        box.x1 = smaller(box.x0 + c->columns, one->w);
        QFZ_TRY(qfz_sink_read(from, box, c->pixels, mask, err));
        QFZ_TRY(qfz_sink_write(c->to, box, c->pixels, mask, err));
        const double rows = (double)box.y0 + (double)qfz_box_h(box) * ((double)box.x1 / w);
        QFZ_TRY(c->progress(c->arg, rows / h, err));
    }
    return QFZ_OK;
}

static qfz_status copy_part(const copying *c, const qfz_sink_spec *one, qfz_error *err)
{
    qfz_sink *from = NULL;
    qfz_status st;
    QFZ_TRY(qfz_sink_open(&from, c->options, one, err));
    for (qfz_box box = {.y0 = one->y0}; box.y0 < one->y1; box.y0 = box.y1) {
        box.y1 = smaller((box.y0 / COPY_SIDE + 1) * COPY_SIDE, one->y1);
        QFZ_TRY_OR(st, cleanup, copy_rows(c, from, one, box, err));
    }
    st = QFZ_OK;

cleanup:
    qfz_sink_close(from);
    return st;
}

static qfz_status merge(copying *c, const qfz_source *source, const qfz_sink_spec *spec,
                        const int64_t *rows, int64_t memory_bytes, qfz_error *err)
{
    qfz_sink_spec whole = *spec;
    const int64_t px_bytes = (int64_t)qfz_out_type_bytes(spec->type) * spec->n_bands;
    const int64_t blocks =
        smaller(COPY_BYTES, memory_bytes) / (COPY_SIDE * COPY_SIDE * (px_bytes + 1));
    qfz_status st;
    c->columns = COPY_SIDE * (blocks > 1 ? blocks : 1);
    whole.n_parts = 0;
    QFZ_TRY_OR(st, cleanup, qfz_alloc(&c->pixels, COPY_SIDE * c->columns, (size_t)px_bytes, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&c->valid, COPY_SIDE * c->columns, err));
    QFZ_TRY_OR(st, cleanup, qfz_sink_create(&c->to, source, c->options, &whole, err));
    for (int part = 0; part < spec->n_parts; part++) {
        const qfz_sink_spec one = spec_of_part(spec, rows, part);
        if (one.y0 < one.y1) QFZ_TRY_OR(st, cleanup, copy_part(c, &one, err));
    }

cleanup:
    free(c->pixels);
    free(c->valid);
    return st;
}

qfz_status qfz_parts_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, qfz_error *err)
{
    for (int part = 0; part < spec->n_parts; part++) {
        const qfz_sink_spec one = spec_of_part(spec, rows, part);
        qfz_sink *sink = NULL;
        if (one.y0 == one.y1) continue;
        QFZ_TRY(qfz_sink_open(&sink, options, &one, err));
        qfz_sink_close(sink);
    }
    return QFZ_OK;
}

/* Parts are deleted from the first one on: if that is missing, an earlier commit was killed while
 * it deleted parts. */
qfz_status qfz_parts_commit(const qfz_sink_spec *spec, qfz_sink *whole, qfz_error *err)
{
    if (whole) QFZ_TRY(qfz_sink_commit(whole, err));
    qfz_parts_delete(spec->path);
    return QFZ_OK;
}

/* The commit deletes the first part first. */
qfz_status qfz_parts_are_merged(const qfz_sink_spec *spec, const int64_t *rows, bool *merged,
                                qfz_error *err)
{
    char *one = NULL;
    QFZ_TRY(qfz_part_path_first(&one, spec, rows, err));
    *merged = !qfz_path_exists(one) && qfz_path_exists(spec->path);
    free(one);
    return QFZ_OK;
}

qfz_status qfz_parts_merge(qfz_sink **whole, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, int64_t memory_bytes, qfz_advance_fn progress,
                           void *arg, qfz_error *err)
{
    copying c = {.options = options, .progress = progress, .arg = arg};
    bool done;
    QFZ_TRY(qfz_parts_are_merged(spec, rows, &done, err));
    if (done) return QFZ_OK;
    const qfz_status st = merge(&c, source, spec, rows, memory_bytes, err);
    if (st != QFZ_OK) {
        qfz_sink_close(c.to);
        return st;
    }
    *whole = c.to;
    return QFZ_OK;
}
