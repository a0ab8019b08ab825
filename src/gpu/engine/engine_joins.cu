/* SPDX-License-Identifier: MIT */
/* engine_joins.cu - joins() of the CUDA engine: the levels of a tile's minimum spanning forest,
 * less those of the links of its boundary summary (curve/level_counts.cuh).
 *
 * If each level has a bin of its own in a histogram, the device counts in bins, and links are taken
 * away on the host.  Otherwise a histogram has bins for the levels that occur, and how they are
 * shared depends on which ones these are; so links are taken away first. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "gpu/device/collective.cuh"
#include "gpu/engine/worker.cuh"

enum { LEVELS_AT_ONCE = 1 << 18, LEVEL_BITS = 32 }; /* sorted levels whose runs are fetched */

/* Room for sorted levels, where the forest was: one list of levels before them, where hooks are,
 * and the other one after the hooks. */
static void carve_sorted(qfz_joins_room *room, const qfz_gpu_edges *edges, qfz_carve *carve)
{
    const int64_t n_px = (int64_t)edges->h * edges->w;
    qfz_carve before = *carve;
    (void)qfz_carve_bytes(carve, qfz_gpu_forest_bytes(edges, QFZ_FOREST_MADE));
    qfz_carve_take(&before, &room->d_levels[1], n_px);
    if (carve->used < before.used) carve->used = before.used;
    qfz_carve_take(carve, &room->d_levels[0], n_px);
    qfz_carve_take(carve, &room->d_runs, min(n_px, (int64_t)LEVELS_AT_ONCE));
    room->d_sort = qfz_carve_bytes(carve, qfz_gpu_sort_bytes(n_px));
}

/* All that depends on the size of a tile; `edges` has this size. */
static void carve_tile(qfz_joins_room *room, const qfz_rule *rule, const qfz_gpu_edges *edges,
                       qfz_carve *carve)
{
    const int64_t n_px = (int64_t)edges->h * edges->w;
    qfz_gpu_links_take(carve, qfz_ring_size(edges->h, edges->w), &room->links);
    qfz_carve sorted = *carve;
    room->d_forest = qfz_carve_bytes(carve, qfz_gpu_forest_bytes(edges, QFZ_FOREST_ALL));
    room->d_links_scratch = qfz_carve_bytes(carve, qfz_gpu_border_links_bytes(edges->h, edges->w));
    room->d_edge_levels = qfz_gpu_edges_need_levels(rule)
                              ? (uint32_t *)qfz_carve_bytes(carve, qfz_gpu_edges_bytes(rule, n_px))
                              : NULL;
    if (room->n_bins > 0) return;
    carve_sorted(room, edges, &sorted);
    if (carve->used < sorted.used) carve->used = sorted.used;
}

void qfz_joins_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_joins_room *const room = &worker->joins;
    const qfz_gpu_edges edges = qfz_largest_edges(spec);
    room->n_bins = qfz_histogram_all_dense(spec->rule);
    qfz_carve_take(carve, &room->d_n, 1);
    qfz_carve_take(carve, &room->d_bins, room->n_bins);
    room->d_tile = carve->base ? carve->base + carve->used : NULL;
    carve_tile(room, spec->rule, &edges, carve);
}

qfz_status qfz_joins_open(qfz_worker *worker)
{
    const qfz_rule *const rule = worker->spec.rule;
    qfz_error *const err = worker->gpu.err;
    QFZ_TRY(qfz_histogram_init(&worker->joins.settled, rule, err));
    if (qfz_histogram_all_dense(rule) > 0) return QFZ_OK;
    return QFZ_NEW(&worker->joins.runs, LEVELS_AT_ONCE, err);
}

void qfz_joins_close(qfz_worker *worker)
{
    qfz_histogram_fini(&worker->joins.settled);
    free(worker->joins.runs);
}

/* ---- Count ----------------------------------------------------------------------------------- */

static qfz_status count(qfz_worker *worker, const qfz_gpu_forest *forest, const qfz_links *links)
{
    qfz_joins_room *const room = &worker->joins;
    const size_t bytes = room->n_bins * sizeof *room->d_bins;
    QFZ_TRY_CUDA(worker->gpu.err, cudaMemsetAsync(room->d_bins, 0, bytes, worker->gpu.stream));
    QFZ_TRY(qfz_gpu_levels_count(&worker->gpu, forest, room->d_bins));
    QFZ_TRY(qfz_worker_down(worker, room->settled.dense, room->d_bins, bytes));
    for (int64_t i = 0; i < links->n; i++)
        room->settled.dense[links->level[i]]--;
    return QFZ_OK;
}

/* Adds the runs that begin at sorted levels first .. end - 1. */
static qfz_status add_runs(qfz_worker *worker, const uint32_t *d_sorted, uint32_t n, uint32_t first,
                           uint32_t end, uint32_t n_links)
{
    qfz_joins_room *const room = &worker->joins;
    uint32_t n_runs;
    QFZ_TRY(qfz_gpu_level_runs(&worker->gpu, d_sorted, n, first, end, room->links.d_level, n_links,
                               room->d_runs, room->d_n));
    QFZ_TRY(qfz_worker_down(worker, &n_runs, room->d_n, sizeof n_runs));
    QFZ_TRY(qfz_worker_down(worker, room->runs, room->d_runs, n_runs * sizeof *room->runs));
    for (uint32_t i = 0; i < n_runs; i++)
        qfz_histogram_add(&room->settled, room->runs[i].level, room->runs[i].n);
    return QFZ_OK;
}

static qfz_status sort_and_count(qfz_worker *worker, const qfz_gpu_forest *forest,
                                 const qfz_links *links)
{
    qfz_joins_room *const room = &worker->joins;
    uint32_t n = 0;
    int in = 0;
    QFZ_TRY(qfz_gpu_levels_list(&worker->gpu, forest, room->d_levels[0], room->d_n));
    QFZ_TRY(qfz_worker_down(worker, &n, room->d_n, sizeof n));
    if (n > 0)
        QFZ_TRY(
            qfz_gpu_sort_keys(&worker->gpu, room->d_sort, room->d_levels, n, 0, LEVEL_BITS, &in));
    for (int64_t first = 0; first < n; first += LEVELS_AT_ONCE)
        QFZ_TRY(add_runs(worker, room->d_levels[in], n, (uint32_t)first,
                         (uint32_t)min(first + LEVELS_AT_ONCE, (int64_t)n), (uint32_t)links->n));
    return QFZ_OK;
}

/* ---- The operation --------------------------------------------------------------------------- */

static qfz_status find_links(qfz_worker *worker, const qfz_gpu_forest *forest, qfz_links *links)
{
    qfz_joins_room *const room = &worker->joins;
    uint32_t n = 0;
    QFZ_TRY(
        qfz_gpu_border_links(&worker->gpu, forest, room->d_links_scratch, &room->links, room->d_n));
    QFZ_TRY(qfz_worker_down(worker, &n, room->d_n, sizeof n));
    return qfz_worker_down_links(worker, &room->links, n, links);
}

qfz_status qfz_joins_find(qfz_worker *worker, qfz_summary *summary, const qfz_histogram **settled,
                          qfz_error *err)
{
    const qfz_rule *const rule = worker->spec.rule;
    qfz_joins_room *const room = &worker->joins;
    const qfz_links none = {};
    qfz_carve carve = {room->d_tile, 0};
    qfz_gpu_edges edges = qfz_largest_edges(&worker->spec);
    qfz_gpu_forest forest;
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_edges_send(worker));
    edges.h = worker->image.h;
    edges.w = worker->image.w;
    carve_tile(room, rule, &edges, &carve);
    QFZ_TRY(qfz_gpu_edges_make(&worker->gpu, &worker->image, rule, room->d_edge_levels, &edges));
    QFZ_TRY(qfz_gpu_forest_make(&worker->gpu, &edges, summary != NULL, room->d_forest, &forest));
    if (summary) {
        QFZ_TRY(qfz_worker_take_ring(worker, summary));
        QFZ_TRY(qfz_summary_take_zeroed(summary, &worker->tile, err));
        QFZ_TRY(find_links(worker, &forest, &summary->links));
    }
    const qfz_links *const links = summary ? &summary->links : &none;
    qfz_histogram_clear(&room->settled);
    QFZ_TRY(room->n_bins > 0 ? count(worker, &forest, links)
                             : sort_and_count(worker, &forest, links));
    *settled = &room->settled;
    return QFZ_OK;
}
