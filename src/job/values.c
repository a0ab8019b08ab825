/* SPDX-License-Identifier: MIT */
#include "job/values.h"

#include <stdlib.h>

#include "core/memory.h"

typedef struct reader {
    qfz_source *source;
    void *pixels;
    uint8_t *valid; /* NULL: every pixel is */
    uint32_t *edges;
} reader;

struct qfz_values {
    const qfz_source_info *info;
    reader *readers;
    int n_threads;
};

static int64_t edge_bytes(const qfz_source_info *info)
{
    return info->edges_connectivity / 2 * (int64_t)sizeof(uint32_t);
}

int64_t qfz_values_px_bytes(const qfz_source_info *info)
{
    return info->n_bands * (int64_t)qfz_type_bytes(info->type) + 1 + edge_bytes(info);
}

static qfz_status open_reader(const qfz_values *values, reader *r, const qfz_source *source,
                              int64_t px, qfz_error *err)
{
    const qfz_source_info *const info = values->info;
    QFZ_TRY(qfz_alloc(&r->pixels, px * info->n_bands, qfz_type_bytes(info->type), err));
    if (info->may_be_invalid) QFZ_TRY(QFZ_NEW(&r->valid, px, err));
    if (info->edges_connectivity)
        QFZ_TRY(QFZ_NEW(&r->edges, px * info->edges_connectivity / 2, err));
    return qfz_source_open_reader(&r->source, source, err);
}

qfz_status qfz_values_open(qfz_values **values, const qfz_source *source, int n_threads,
                           int64_t max_px, qfz_error *err)
{
    qfz_values *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->info = qfz_source_get_info(source);
    qfz_status st = QFZ_NEW_ZERO(&made->readers, n_threads, err);
    if (st == QFZ_OK) made->n_threads = n_threads;
    for (int i = 0; i < n_threads && st == QFZ_OK; i++)
        st = open_reader(made, &made->readers[i], source, max_px, err);
    if (st != QFZ_OK) {
        qfz_values_close(made);
        return st;
    }
    *values = made;
    return QFZ_OK;
}

void qfz_values_close(qfz_values *values)
{
    if (!values) return;
    for (int i = 0; i < values->n_threads; i++) {
        qfz_source_close(values->readers[i].source);
        free(values->readers[i].pixels);
        free(values->readers[i].valid);
        free(values->readers[i].edges);
    }
    free(values->readers);
    free(values);
}

qfz_status qfz_values_read(qfz_values *values, int thread, qfz_box box, qfz_image *image,
                           qfz_error *err)
{
    const qfz_source_info *const info = values->info;
    reader *const r = &values->readers[thread];
    QFZ_TRY(qfz_source_read(r->source, box, r->pixels, r->valid, err));
    if (r->edges) QFZ_TRY(qfz_source_read_edges(r->source, box, r->edges, err));
    *image = (qfz_image){.h = qfz_box_h(box),
                         .w = qfz_box_w(box),
                         .n_bands = info->n_bands,
                         .type = info->type,
                         .pixels = r->pixels,
                         .valid = r->valid,
                         .edges = r->edges};
    return QFZ_OK;
}
