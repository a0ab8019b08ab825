/* SPDX-License-Identifier: MIT */
#include "job/outputs_labels.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/outputs_files.h"
#include "job/raster_options.h"

/* The raster of labels is the last one of a task. */
static int raster_of(const qfz_outputs *out)
{
    return out->n_rasters - 1;
}

qfz_status qfz_outputs_read(const qfz_outputs *out, int thread, qfz_box box, void *pixels,
                            qfz_error *err)
{
    if (out->label_parts) return qfz_label_parts_read(out->label_parts, thread, box, pixels, err);
    return qfz_sink_read(out->sinks[raster_of(out)], box, pixels, NULL, err);
}

/* Labels that were written, of 32 or 64 bits.  They are read into the end of the grid, from where
 * each moves forward to its place. */
qfz_status qfz_outputs_labels_read(void *arg, int thread, qfz_box box, qfz_label_grid labels,
                                   qfz_error *err)
{
    const qfz_outputs *const out = arg;
    const bool is_wide = out->specs[raster_of(out)].type == QFZ_OUT_U64;
    const int64_t w = qfz_box_w(box), h = qfz_box_h(box), px_bytes = is_wide ? 8 : 4;
    if (labels.is_wide == is_wide && labels.pitch == w)
        return qfz_outputs_read(out, thread, box, labels.labels, err);
    char *const read = (char *)qfz_label_grid_at(labels, h - 1, w) - h * w * px_bytes;
    QFZ_TRY(qfz_outputs_read(out, thread, box, read, err));
    for (int64_t y = 0; y < h; y++) {
        void *const row = qfz_label_grid_at(labels, y, 0);
        const char *const from = read + y * w * px_bytes;
        if (labels.is_wide == is_wide)
            memmove(row, from, (size_t)(w * px_bytes));
        else
            for (int64_t x = 0; x < w; x++)
                ((uint64_t *)row)[x] = ((const uint32_t *)(const void *)from)[x];
    }
    return QFZ_OK;
}

int64_t qfz_outputs_labels_bytes(const qfz_setup *setup)
{
    return (setup->memory_bytes - setup->program_bytes - setup->cache_bytes) / 7 * 4 /
           qfz_job_n_alphas(setup->job);
}

qfz_status qfz_outputs_open_parts(qfz_outputs *out, qfz_error *err)
{
    const int i = raster_of(out);
    const qfz_sink_options options = qfz_outputs_options(out, i);
    int64_t *rows = NULL;
    if (out->run->n_parts == 1) return QFZ_OK;
    QFZ_TRY(qfz_outputs_rows(out, &out->specs[i], &rows, err));
    const qfz_status st = qfz_label_parts_open(&out->label_parts, &options, &out->specs[i], rows,
                                               out->run->setup->n_threads, err);
    free(rows);
    return st;
}

qfz_status qfz_outputs_labels_gather(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    const qfz_setup *const setup = run->setup;
    const qfz_job *const job = setup->job;
    if (!qfz_label_outputs_wanted(job)) return QFZ_OK;
    const bool has_values = job->task != QFZ_CUT;
    qfz_zone_needs needs = qfz_zone_columns_needs(job->columns);
    needs.zones |= job->stats != NULL;
    qfz_thread_contexts_close(&run->contexts);
    qfz_tile_cache_close(&run->cache);
    if (out->journal) qfz_label_outputs_clean(job);
    QFZ_TRY(qfz_outputs_open_parts(out, err));
    QFZ_TRY(QFZ_NEW_ZERO(&out->labels, 1, err));
    *out->labels = (qfz_label_outputs){
        .job = job,
        .source = run->source,
        .pass = {.read = qfz_outputs_labels_read,
                 .arg = out,
                 .is_narrow = out->specs[raster_of(out)].type == QFZ_OUT_U32,
                 .n_threads = setup->n_threads,
                 .progress = run->progress},
        .memory_bytes = qfz_outputs_labels_bytes(setup),
        .needs = needs,
        .image = has_values ? run->source : NULL,
        .rule = has_values ? &setup->rule : NULL,
    };
    QFZ_TRY(qfz_label_outputs_plan(out->labels, err));
    QFZ_TRY(qfz_label_outputs_open(out->labels, err));
    return qfz_label_outputs_gather(out->labels, err);
}
