/* SPDX-License-Identifier: MIT */
#include "job/label_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { OPEN = 2 }; /* parts, of each thread: a box may lie on both sides of a border */

typedef struct open_part {
    qfz_sink *sink; /* NULL: none */
    int part;
} open_part;

struct qfz_label_parts {
    qfz_sink_options options;
    qfz_sink_spec spec; /* n_parts = 0: the parts are one file already */
    int64_t *rows;      /* part k has rows rows[k]..rows[k + 1] */
    int n_parts;        /* at least 1 */
    open_part *open;    /* OPEN for each thread */
    int n_threads;
};

static qfz_status init(qfz_label_parts *parts, const int64_t *rows, qfz_error *err)
{
    const int n = parts->spec.n_parts;
    bool merged;
    QFZ_TRY(qfz_parts_find(&parts->options, &parts->spec, rows, &merged, err));
    parts->n_parts = merged ? 1 : n;
    parts->spec.n_parts = merged ? 0 : n;
    QFZ_TRY(QFZ_NEW(&parts->rows, n + 1, err));
    memcpy(parts->rows, rows, (size_t)(n + 1) * sizeof *rows);
    if (merged) parts->rows[1] = rows[n];
    return QFZ_NEW_ZERO(&parts->open, (int64_t)OPEN * parts->n_threads, err);
}

qfz_status qfz_label_parts_open(qfz_label_parts **out, const qfz_sink_options *options,
                                const qfz_sink_spec *spec, const int64_t *rows, int n_threads,
                                qfz_error *err)
{
    qfz_label_parts *parts = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&parts, 1, err));
    *parts = (qfz_label_parts){.options = *options, .spec = *spec, .n_threads = n_threads};
    const qfz_status st = init(parts, rows, err);
    if (st != QFZ_OK) {
        qfz_label_parts_close(parts);
        return st;
    }
    *out = parts;
    return QFZ_OK;
}

void qfz_label_parts_close(qfz_label_parts *parts)
{
    if (!parts) return;
    for (int i = 0; parts->open && i < OPEN * parts->n_threads; i++)
        qfz_sink_close(parts->open[i].sink);
    free(parts->open);
    free(parts->rows);
    free(parts);
}

/* The part of a row: the last one that begins there or above. */
static int part_of(const qfz_label_parts *parts, int64_t y)
{
    int low = 0, high = parts->n_parts - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (parts->rows[middle] <= y)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The open part in this thread. */
static qfz_status find(qfz_label_parts *parts, int thread, int part, qfz_sink **sink,
                       qfz_error *err)
{
    open_part *const slot = &parts->open[OPEN * thread + part % OPEN];
    qfz_sink_spec one = parts->spec;
    if (!slot->sink || slot->part != part) {
        qfz_sink_close(slot->sink);
        slot->sink = NULL;
        slot->part = one.part = part;
        one.y0 = parts->rows[part];
        one.y1 = parts->rows[part + 1];
        QFZ_TRY(qfz_sink_open(&slot->sink, &parts->options, &one, err));
    }
    *sink = slot->sink;
    return QFZ_OK;
}

qfz_status qfz_label_parts_read(qfz_label_parts *parts, int thread, qfz_box box, void *pixels,
                                qfz_error *err)
{
    const int64_t row_bytes = qfz_box_w(box) * (int64_t)qfz_out_type_bytes(parts->spec.type);
    char *to = pixels;
    qfz_box piece = box;
    for (; piece.y0 < box.y1; piece.y0 = piece.y1) {
        const int part = part_of(parts, piece.y0);
        const int64_t end = parts->rows[part + 1];
        qfz_sink *sink;
        piece.y1 = end < box.y1 ? end : box.y1;
        QFZ_TRY(find(parts, thread, part, &sink, err));
        QFZ_TRY(qfz_sink_read(sink, piece, to, NULL, err));
        to += qfz_box_h(piece) * row_bytes;
    }
    return QFZ_OK;
}
