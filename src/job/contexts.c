/* SPDX-License-Identifier: MIT */
#include "job/contexts.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "job/tiles.h"

static void hand_close(qfz_thread_context *context)
{
    qfz_source_close(context->source);
    free(context->pixels);
    free(context->valid);
    free(context->out);
    free(context->records);
}

/* Of the pixels that are read at a time. */
static int64_t read_bytes(const qfz_setup *setup, const qfz_source *source)
{
    const qfz_source_info *const info = &setup->info;
    const int64_t h = setup->tiling.tile_h, w = setup->tiling.tile_w;
    const int64_t px = setup->engine->stream ? qfz_source_part_px(source, h, w) : h * w;
    return px * info->n_bands * (int64_t)qfz_type_bytes(info->type);
}

static qfz_status hand_open(qfz_thread_context *context, const qfz_setup *setup,
                            const qfz_source *source, qfz_error *err)
{
    const qfz_source_info *const info = &setup->info;
    const qfz_tiling *const t = &setup->tiling;
    const int64_t px = t->tile_w * t->tile_h;
    QFZ_TRY(qfz_source_open_reader(&context->source, source, err));
    QFZ_TRY(qfz_alloc_large(&context->pixels, read_bytes(setup, context->source), 1, err));
    if (info->may_be_invalid) QFZ_TRY(QFZ_NEW_LARGE(&context->valid, px, err));
    if (qfz_setup_out_bytes(setup) > 0)
        QFZ_TRY(qfz_alloc_large(&context->out, px, qfz_setup_out_bytes(setup), err));
    if (!setup->job->regions) return QFZ_OK;
    const int words = qfz_record_words(info->type, info->n_bands);
    context->records_n = QFZ_RECORDS_BYTES / (words * (int64_t)sizeof(uint64_t)) + 1;
    return QFZ_NEW(&context->records, context->records_n * words, err);
}

/* The first of the contexts of a device; they stand side by side. */
static int first_context(const qfz_run *run, int64_t device)
{
    return (int)(run->n_contexts * device / run->setup->choice.n_devices);
}

static qfz_status workers_open(qfz_run *run, int64_t device, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const int first = first_context(run, device), end = first_context(run, device + 1);
    const qfz_worker_spec spec = {.rule = &setup->rule,
                                  .kind = setup->kind,
                                  .max_h = (int32_t)setup->tiling.tile_h,
                                  .max_w = (int32_t)setup->tiling.tile_w,
                                  .rows_bytes = read_bytes(setup, run->source),
                                  .n_threads = 1,
                                  .device = setup->choice.devices[device],
                                  .method = setup->method};
    return end > first ? setup->engine->open(run->workers + first, end - first, &spec, err)
                       : QFZ_OK;
}

static void workers_close(qfz_run *run, int64_t device)
{
    const int first = first_context(run, device), end = first_context(run, device + 1);
    if (end > first && run->workers[first])
        run->setup->engine->close(run->workers + first, end - first);
}

static void read_one_ahead(qfz_run *run, qfz_thread_context *context, int64_t tile, bool *more)
{
    const qfz_tiling *const t = &run->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    qfz_tile_cache_entry *const kept = &run->kept[tile];
    qfz_error ignored = {.status = QFZ_OK};
    *more = qfz_tile_keep(run, tile, &ignored) == QFZ_OK && kept->pixels;
    if (!*more) return;
    *more = qfz_source_read(context->source, box, kept->pixels, kept->valid, &ignored) == QFZ_OK;
    if (!*more) qfz_tile_drop(run, tile);
}

/* Devices take longer to start than all else that comes before the first pass, and meanwhile tiles
 * are read, as many as may be kept.  One that cannot be read is left to the pass, which says why.
 */
static void read_ahead(qfz_run *run, qfz_thread_context *context)
{
    bool more = run->setup->choice.device_memory_bytes > 0 && !run->work;
    while (more) {
        int n_waiting;
        int64_t tile;
#pragma omp atomic read
        n_waiting = run->n_waiting;
        if (n_waiting <= 0) return;
#pragma omp atomic capture
        tile = run->next_ahead++;
        if (tile >= run->end_tile) return;
        read_one_ahead(run, context, tile, &more);
    }
}

/* Items of one loop: contexts, the first of which learns more of the source meanwhile, and devices'
 * workers.  Nobody waits for devices after a failure.
 *
 * The thread that opens a context, and reads with it ahead, is that which has it in all passes:
 * GDAL lets datasets that one thread has opened share a file's handle and its position, as those of
 * raw files in a VRT do, so they must not be read by two. */
static qfz_status open_item(void *arg, int64_t item, int thread, qfz_error *err)
{
    (void)thread;
    qfz_run *const run = arg;
    const int n_devices = run->setup->choice.n_devices;
    const bool is_device = item >= run->n_contexts;
    qfz_thread_context *const context = is_device ? NULL : &run->contexts[item];
    qfz_status st = QFZ_OK;
    if (context == run->contexts) st = qfz_source_locate(run->source, err);
    if (st == QFZ_OK)
        st = is_device ? workers_open(run, item - run->n_contexts, err)
                       : hand_open(context, run->setup, run->source, err);
    const int done = st != QFZ_OK ? n_devices : is_device ? 1 : 0;
#pragma omp atomic
    run->n_waiting -= done;
    if (context && st == QFZ_OK) read_ahead(run, context);
    return st;
}

static qfz_status close_item(void *arg, int64_t item, int thread, qfz_error *err)
{
    (void)thread;
    (void)err;
    qfz_run *const run = arg;
    const int n_devices = run->setup->choice.n_devices;
    if (item < n_devices)
        workers_close(run, item);
    else
        hand_close(&run->contexts[item - n_devices]);
    return QFZ_OK;
}

qfz_status qfz_contexts_open(qfz_run *run, int n_contexts, qfz_error *err)
{
    const int n = run->setup->choice.n_devices + n_contexts;
    QFZ_TRY(QFZ_NEW_ZERO(&run->workers, n_contexts, err));
    QFZ_TRY(QFZ_NEW_ZERO(&run->contexts, n_contexts, err));
    run->n_contexts = n_contexts;
    run->n_waiting = run->setup->choice.n_devices;
    run->next_ahead = run->first_tile;
    if (n_contexts == 0) return qfz_source_locate(run->source, err);
    QFZ_TRY(qfz_parallel_each(n, open_item, run, err));
    for (int i = 0; i < n_contexts; i++)
        run->contexts[i].worker = run->workers[i];
    return QFZ_OK;
}

void qfz_contexts_close(qfz_run *run)
{
    qfz_error none = {.status = QFZ_OK};
    const int n = run->n_contexts > 0 ? run->setup->choice.n_devices + run->n_contexts : 0;
    (void)qfz_parallel_for(n, n, close_item, run, &none);
    free(run->contexts);
    free(run->workers);
}
