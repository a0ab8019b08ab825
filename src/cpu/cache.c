/* SPDX-License-Identifier: MIT */
/* cache.c - cached results of tiles between two passes: the sub-table qfz_engine_cache of the CPU
 * engine.
 *
 * Large results are not copied: the worker exchanges its memory for new memory of the same size,
 * and the other way round on resume.  Working memory stays with the worker, so that its pages, once
 * mapped, serve all tiles. */
#include <stdlib.h>
#include <string.h>

#include "cpu/worker.h"
#include "core/memory.h"

struct qfz_cached {
    qfz_cached_result what;
    qfz_contraction contraction; /* QFZ_CACHED_GRAPH: one of the two, selected by kind */
    qfz_omega_contraction omega;

    /* QFZ_CACHED_REGIONS, as in the worker and its contraction */
    uint32_t n_regions, n_border_regions, n_stops;
    uint16_t *stop;
    qfz_block_stops *block_stops;
    uint32_t *region_of, *row_before, *row_inner, *border_region_of;
    qfz_border_region *border_regions;
    void *means;
};

static int64_t n_blocks(const qfz_worker *worker)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(worker->tile.h, worker->tile.w, QFZ_CPU_BLOCK_SIDE);
    return in.n_y * in.n_x;
}

static int64_t means_bytes(const qfz_worker *worker)
{
    return worker->n_regions * (int64_t)qfz_cpu_means_bytes(worker->rule);
}

static int64_t regions_bytes(const qfz_worker *worker)
{
    const int64_t word = sizeof(uint32_t),
                  border_region = word + (int64_t)sizeof(qfz_border_region);
    const int64_t n_words = 2 * n_blocks(worker) + worker->omega.n_stops + 2 * worker->tile.h + 1;
    return (int64_t)sizeof(uint16_t) * worker->max_h * worker->max_w + word * n_words +
           border_region * worker->n_border_regions + means_bytes(worker);
}

int64_t qfz_cpu_cached_bytes(const qfz_worker *worker)
{
    const int64_t h = worker->max_h, w = worker->max_w;
    if (worker->kind == QFZ_COMPONENTS)
        return 0; /* to find the components again is as fast as to load them */
    switch (worker->found) {
    case QFZ_CACHED_NOTHING: break;
    case QFZ_CACHED_GRAPH:
        return worker->kind == QFZ_LEVELS ? qfz_contraction_used_bytes(&worker->contraction, h, w)
                                          : qfz_omega_contraction_used_bytes(&worker->omega, h, w);
    case QFZ_CACHED_REGIONS: return regions_bytes(worker);
    }
    return 0;
}

/* (alpha, omega)-regions need pixels for their sums; all levels are in the contraction. */
bool qfz_cpu_needs_pixels(const qfz_worker *worker)
{
    return worker->kind != QFZ_LEVELS;
}

void qfz_cpu_drop(qfz_cached *cached)
{
    qfz_contraction_fini(&cached->contraction);
    qfz_omega_contraction_fini(&cached->omega);
    free(cached->stop);
    free(cached->block_stops);
    free(cached->region_of);
    free(cached->row_before);
    free(cached->row_inner);
    free(cached->border_region_of);
    free(cached->border_regions);
    free(cached->means);
    free(cached);
}

/* Exchanges the worker's contraction and the cached one. */
static void exchange_graphs(qfz_worker *worker, qfz_cached *cached)
{
    if (worker->kind == QFZ_LEVELS) {
        const qfz_contraction own = worker->contraction;
        worker->contraction = cached->contraction;
        cached->contraction = own;
        qfz_contraction_swap_rooms(&cached->contraction, &worker->contraction);
    } else {
        const qfz_omega_contraction own = worker->omega;
        worker->omega = cached->omega;
        cached->omega = own;
        qfz_omega_contraction_swap_rooms(&cached->omega, &worker->omega);
    }
}

static qfz_status store_graph(qfz_worker *worker, qfz_cached *cached, qfz_error *err)
{
    const qfz_rule *const rule = worker->rule;
    const int64_t h = worker->max_h, w = worker->max_w, side = QFZ_CPU_BLOCK_SIDE;
    const int n_threads = worker->n_threads;
    if (worker->kind == QFZ_LEVELS)
        QFZ_TRY(qfz_contraction_init(&cached->contraction, rule, h, w, side, true, n_threads, err));
    else
        QFZ_TRY(qfz_omega_contraction_init(&cached->omega, rule, h, w, side, n_threads, err));
    exchange_graphs(worker, cached);
    return QFZ_OK;
}

static qfz_status copy_words(uint32_t **to, const uint32_t *from, int64_t n, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(to, n, err));
    memcpy(*to, from, (size_t)n * sizeof *from);
    return QFZ_OK;
}

static qfz_status store_regions(qfz_worker *worker, qfz_cached *cached, qfz_error *err)
{
    qfz_omega_contraction *const o = &worker->omega;
    const int64_t h = worker->tile.h;
    uint16_t *fresh;
    cached->n_regions = worker->n_regions;
    cached->n_border_regions = worker->n_border_regions;
    cached->n_stops = o->n_stops;
    QFZ_TRY(QFZ_NEW(&cached->block_stops, n_blocks(worker), err));
    memcpy(cached->block_stops, o->block_stops,
           (size_t)n_blocks(worker) * sizeof *cached->block_stops);
    QFZ_TRY(copy_words(&cached->region_of, worker->region_of, o->n_stops, err));
    QFZ_TRY(copy_words(&cached->row_before, worker->row_before, h + 1, err));
    QFZ_TRY(copy_words(&cached->row_inner, worker->row_inner, h, err));
    QFZ_TRY(copy_words(&cached->border_region_of, worker->border_region_of,
                       worker->n_border_regions, err));
    QFZ_TRY(QFZ_NEW(&cached->border_regions, worker->n_border_regions, err));
    memcpy(cached->border_regions, worker->border_regions,
           worker->n_border_regions * sizeof *cached->border_regions);
    QFZ_TRY(qfz_alloc(&cached->means, means_bytes(worker), 1, err));
    memcpy(cached->means, worker->means, (size_t)means_bytes(worker));
    QFZ_TRY(QFZ_NEW_LARGE(&fresh, worker->max_h * worker->max_w, err));
    cached->stop = o->stop;
    o->stop = fresh;
    return QFZ_OK;
}

qfz_status qfz_cpu_store(qfz_worker *worker, qfz_cached **out, qfz_error *err)
{
    qfz_cached *cached = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&cached, 1, err));
    cached->what = worker->found;
    const qfz_status st = cached->what == QFZ_CACHED_GRAPH ? store_graph(worker, cached, err)
                                                           : store_regions(worker, cached, err);
    if (st != QFZ_OK) {
        qfz_cpu_drop(cached);
        return st;
    }
    worker->found = QFZ_CACHED_NOTHING;
    *out = cached;
    return QFZ_OK;
}

static void resume_regions(qfz_worker *worker, qfz_cached *cached)
{
    qfz_omega_contraction *const o = &worker->omega;
    const size_t h = (size_t)worker->tile.h, word = sizeof(uint32_t);
    worker->n_regions = cached->n_regions;
    worker->n_border_regions = cached->n_border_regions;
    o->n_stops = cached->n_stops;
    o->c.layout = qfz_cpu_blocks_of(worker->tile.h, worker->tile.w, QFZ_CPU_BLOCK_SIDE);
    memcpy(o->block_stops, cached->block_stops,
           (size_t)n_blocks(worker) * sizeof *cached->block_stops);
    memcpy(worker->region_of, cached->region_of, cached->n_stops * word);
    memcpy(worker->row_before, cached->row_before, (h + 1) * word);
    memcpy(worker->row_inner, cached->row_inner, h * word);
    memcpy(worker->border_region_of, cached->border_region_of, cached->n_border_regions * word);
    memcpy(worker->border_regions, cached->border_regions,
           cached->n_border_regions * sizeof *cached->border_regions);
    memcpy(worker->means, cached->means, (size_t)means_bytes(worker));
    qfz_cpu_mark_border_regions(worker);
    free(o->stop);
    o->stop = cached->stop;
    cached->stop = NULL;
}

bool qfz_cpu_resume(qfz_worker *worker, const qfz_image *tile, qfz_cached *cached)
{
    worker->tile = *tile;
    worker->found = QFZ_CACHED_NOTHING;
    worker->resumed = cached->what;
    if (cached->what == QFZ_CACHED_GRAPH)
        exchange_graphs(worker, cached);
    else
        resume_regions(worker, cached);
    qfz_cpu_drop(cached);
    return true;
}
