/* SPDX-License-Identifier: MIT */
#include "job/thread_contexts.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "job/setup_memory.h"

static void context_close(qfz_thread_context *context)
{
    qfz_source_close(context->source);
    free(context->pixels);
    free(context->valid);
    free(context->edges);
    free(context->out);
    free(context->records);
}

bool qfz_reads_whole_tiles(const qfz_setup *setup)
{
    return !setup->engine->stream || setup->rule.wants_forest;
}

/* Bytes of the pixels that are read at a time. */
static int64_t read_bytes(const qfz_setup *setup, const qfz_source *source)
{
    const qfz_source_info *const info = &setup->info;
    const int64_t h = setup->tiling.tile_h, w = setup->tiling.tile_w;
    const int64_t px = qfz_reads_whole_tiles(setup) ? h * w : qfz_source_part_px(source, h, w);
    return px * info->n_planes * (int64_t)qfz_type_bytes(info->type);
}

static qfz_status context_open(qfz_thread_context *context, const qfz_setup *setup,
                               const qfz_source *source, qfz_error *err)
{
    const qfz_source_info *const info = &setup->info;
    const qfz_tiling *const t = &setup->tiling;
    const int64_t px = t->tile_w * t->tile_h;
    QFZ_TRY(qfz_source_open_reader(&context->source, source, err));
    QFZ_TRY(qfz_alloc_large(&context->pixels, read_bytes(setup, context->source), 1, err));
    if (info->may_be_invalid) QFZ_TRY(QFZ_NEW_LARGE(&context->valid, px, err));
    if (qfz_setup_edge_bytes(setup) > 0)
        QFZ_TRY(qfz_alloc_large((void **)&context->edges, px, (size_t)qfz_setup_edge_bytes(setup),
                                err));
    if (qfz_setup_out_bytes(setup) > 0)
        QFZ_TRY(qfz_alloc_large(&context->out, px, qfz_setup_out_bytes(setup), err));
    if (!setup->job->regions) return QFZ_OK;
    const int words = qfz_record_words(info->type, info->n_bands);
    context->records_n = QFZ_RECORDS_BYTES / (words * (int64_t)sizeof(uint64_t)) + 1;
    return QFZ_NEW(&context->records, context->records_n * words, err);
}

int qfz_first_context(const qfz_setup *setup, int n, int64_t device)
{
    return (int)(n * device / setup->choice.n_devices);
}

static int first_context(const qfz_thread_contexts *contexts, int64_t device)
{
    return qfz_first_context(contexts->setup, contexts->n, device);
}

/* Workers with a rule of their own, whose alpha_level changes. */
static qfz_status open_each(qfz_thread_contexts *contexts, int first, int end, qfz_worker_spec spec,
                            qfz_error *err)
{
    for (int i = first; i < end; i++) {
        contexts->list[i].rule = *spec.rule;
        spec.rule = &contexts->list[i].rule;
        QFZ_TRY(contexts->setup->engine->open(contexts->workers + i, 1, &spec, err));
    }
    return QFZ_OK;
}

static qfz_status workers_open(qfz_thread_contexts *contexts, int64_t device, qfz_error *err)
{
    const qfz_setup *const setup = contexts->setup;
    const int first = first_context(contexts, device), end = first_context(contexts, device + 1);
    const qfz_worker_spec spec = {.rule = &setup->rule,
                                  .kind = setup->kind,
                                  .max_h = (int32_t)setup->tiling.tile_h,
                                  .max_w = (int32_t)setup->tiling.tile_w,
                                  .rows_bytes = read_bytes(setup, contexts->source),
                                  .n_threads = 1,
                                  .device = setup->choice.devices[device],
                                  .method = setup->method};
    if (setup->job->n_alphas > 0 && !setup->engine->stream)
        return open_each(contexts, first, end, spec, err);
    return end > first ? setup->engine->open(contexts->workers + first, end - first, &spec, err)
                       : QFZ_OK;
}

static void workers_close(qfz_thread_contexts *contexts, int64_t device)
{
    const int first = first_context(contexts, device), end = first_context(contexts, device + 1);
    if (end > first && contexts->workers[first])
        contexts->setup->engine->close(contexts->workers + first, end - first);
}

/* *more: there may be room for another tile. */
static void read_one_ahead(qfz_tile_cache *cache, qfz_thread_context *context, int64_t tile,
                           bool *more)
{
    const qfz_tiling *const t = &cache->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    qfz_tile_cache_entry *const entry = &cache->entries[tile];
    qfz_error ignored = {.status = QFZ_OK};
    *more = qfz_tile_cache_add_pixels(cache, tile, &ignored) == QFZ_OK && entry->pixels;
    if (!*more) return;
    *more = qfz_source_read(context->source, box, entry->pixels, entry->valid, &ignored) == QFZ_OK;
    if (!*more) qfz_tile_cache_drop_pixels(cache, tile);
}

static void read_ahead(qfz_thread_contexts *contexts, qfz_thread_context *context)
{
    bool more = contexts->reads_ahead;
    while (more) {
        int n_waiting;
        int64_t tile;
#pragma omp atomic read
        n_waiting = contexts->n_waiting;
        if (n_waiting <= 0) return;
#pragma omp atomic capture
        tile = contexts->next_ahead++;
        if (tile >= contexts->end_tile) return;
        read_one_ahead(contexts->cache, context, tile, &more);
    }
}

/* The items of one loop: first the contexts, then the devices.  The thread of the first context
 * also locates the source.  After a failure n_waiting falls to 0 or below, so that reading ahead
 * ends without waiting for devices. */
static qfz_status open_item(void *arg, int64_t item, int thread, qfz_error *err)
{
    (void)thread;
    qfz_thread_contexts *const contexts = arg;
    const int n_devices = contexts->setup->choice.n_devices;
    const bool is_device = item >= contexts->n;
    qfz_thread_context *const context = is_device ? NULL : &contexts->list[item];
    qfz_status st = QFZ_OK;
    if (context == contexts->list) st = qfz_source_locate(contexts->source, err);
    if (st == QFZ_OK)
        st = is_device ? workers_open(contexts, item - contexts->n, err)
                       : context_open(context, contexts->setup, contexts->source, err);
    const int done = st != QFZ_OK ? n_devices : is_device ? 1 : 0;
#pragma omp atomic
    contexts->n_waiting -= done;
    if (context && st == QFZ_OK) read_ahead(contexts, context);
    return st;
}

static qfz_status close_item(void *arg, int64_t item, int thread, qfz_error *err)
{
    (void)thread;
    (void)err;
    qfz_thread_contexts *const contexts = arg;
    const int n_devices = contexts->setup->choice.n_devices;
    if (item < n_devices)
        workers_close(contexts, item);
    else
        context_close(&contexts->list[item - n_devices]);
    return QFZ_OK;
}

qfz_status qfz_thread_contexts_open(qfz_thread_contexts *contexts, const qfz_setup *setup, int n,
                                    qfz_source *source, qfz_tile_cache *cache, bool reads_ahead,
                                    int64_t first_tile, int64_t end_tile, qfz_error *err)
{
    *contexts = (qfz_thread_contexts){.setup = setup,
                                      .source = source,
                                      .cache = cache,
                                      .reads_ahead = reads_ahead,
                                      .n_waiting = setup->choice.n_devices,
                                      .next_ahead = first_tile,
                                      .end_tile = end_tile};
    QFZ_TRY(QFZ_NEW_ZERO(&contexts->workers, n, err));
    QFZ_TRY(QFZ_NEW_ZERO(&contexts->list, n, err));
    contexts->n = n;
    if (n == 0) return qfz_source_locate(source, err);
    QFZ_TRY(qfz_parallel_each(setup->choice.n_devices + n, open_item, contexts, err));
    for (int i = 0; i < n; i++)
        contexts->list[i].worker = contexts->workers[i];
    return QFZ_OK;
}

void qfz_thread_contexts_close(qfz_thread_contexts *contexts)
{
    qfz_error none = {.status = QFZ_OK};
    const int n = contexts->n > 0 ? contexts->setup->choice.n_devices + contexts->n : 0;
    (void)qfz_parallel_for(n, n, close_item, contexts, &none);
    free(contexts->list);
    free(contexts->workers);
    *contexts = (qfz_thread_contexts){0};
}
