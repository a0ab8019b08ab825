/* SPDX-License-Identifier: MIT */
#include "job/outputs_labels.h"

#include "core/memory.h"
#include "job/raster_options.h"

/* Labels of the sink, of 32 or 64 bits. */
static qfz_status read_labels(void *arg, int thread, qfz_box box, uint64_t *labels, qfz_error *err)
{
    const qfz_outputs *const out = arg;
    const int i = out->n_rasters - 1; /* the last raster of a task has the labels */
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    (void)thread;
    if (out->specs[i].type == QFZ_OUT_U64)
        return qfz_sink_read(out->sinks[i], box, labels, NULL, err);
    const uint32_t *const narrow = (const uint32_t *)labels + n;
    QFZ_TRY(qfz_sink_read(out->sinks[i], box, (uint32_t *)labels + n, NULL, err));
    for (int64_t p = 0; p < n; p++)
        labels[p] = narrow[p];
    return QFZ_OK;
}

int64_t qfz_outputs_labels_bytes(const qfz_setup *setup)
{
    return (setup->memory_bytes - setup->program_bytes - setup->cache_bytes) / 7 * 4;
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
    QFZ_TRY(QFZ_NEW_ZERO(&out->labels, 1, err));
    *out->labels = (qfz_label_outputs){
        .job = job,
        .source = run->source,
        .pass = {.read = read_labels,
                 .arg = out,
                 .n_threads = setup->n_threads,
                 .progress = &run->progress},
        .memory_bytes = qfz_outputs_labels_bytes(setup),
        .needs = needs,
        .image = has_values ? run->source : NULL,
        .rule = has_values ? &setup->rule : NULL,
    };
    QFZ_TRY(qfz_label_outputs_open(out->labels, err));
    return qfz_label_outputs_gather(out->labels, err);
}
