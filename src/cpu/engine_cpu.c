/* SPDX-License-Identifier: MIT */
/* engine_cpu.c - the CPU engine, whose results define what is right: workers, tiles, levels, trees,
 * and the engine's table.  Regions are in engine_regions.c. */
#include <stdlib.h>

#include "core/exterior_fits.h"
#include "cpu/worker.h"
#include "core/memory.h"

static void close_one(qfz_worker *worker)
{
    if (!worker) return;
    free(worker->scratch);
    qfz_contraction_fini(&worker->contraction);
    qfz_omega_contraction_fini(&worker->omega);
    qfz_filter_tile_fini(&worker->filter);
    qfz_cpu_joins_close(worker);
    free(worker->mark);
    qfz_cpu_regions_close(worker);
    free(worker);
}

static qfz_status open_contraction(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    const bool stays = worker->kind == QFZ_LEVELS;
    QFZ_TRY(qfz_contraction_init(&worker->contraction, worker->rule, h, w, QFZ_CPU_BLOCK_SIDE,
                                 stays, worker->n_threads, err));
    return QFZ_NEW_LARGE(&worker->mark, worker->contraction.max_vertices, err);
}

static qfz_status open_kind(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    const int n_threads = worker->n_threads;
    switch (worker->kind) {
    case QFZ_COMPONENTS:
    case QFZ_OMEGA: return qfz_cpu_regions_open(worker, h, w, err);
    case QFZ_LEVELS: return open_contraction(worker, h, w, err);
    case QFZ_JOINS:
        QFZ_TRY(open_contraction(worker, h, w, err));
        return qfz_cpu_joins_open(worker, err);
    case QFZ_TREE:
        return qfz_alloc_large(&worker->scratch, 1, qfz_tree_bytes(worker->rule, h, w, n_threads),
                               err);
    case QFZ_FILTER:
        return qfz_filter_tile_init(&worker->filter, worker->rule, h, w, QFZ_CPU_BLOCK_SIDE,
                                    n_threads, err);
    }
    return QFZ_OK;
}

static void workers_close(qfz_worker *const *workers, int n)
{
    for (int i = 0; i < n; i++)
        close_one(workers[i]);
}

static qfz_status open_one(qfz_worker **out, const qfz_worker_spec *spec, qfz_error *err)
{
    qfz_worker *worker = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&worker, 1, err));
    worker->rule = spec->rule;
    worker->kind = spec->kind;
    worker->n_threads = spec->n_threads;
    worker->max_h = spec->max_h;
    worker->max_w = spec->max_w;
    const qfz_status st = open_kind(worker, spec->max_h, spec->max_w, err);
    if (st != QFZ_OK) {
        close_one(worker);
        return st;
    }
    *out = worker;
    return QFZ_OK;
}

static qfz_status workers_open(qfz_worker **workers, int n, const qfz_worker_spec *spec,
                               qfz_error *err)
{
    if (spec->method)
        return qfz_fail(err, QFZ_EARG, "method %s belongs to the CUDA engine", spec->method);
    for (int i = 0; i < n; i++) {
        const qfz_status st = open_one(&workers[i], spec, err);
        if (st == QFZ_OK) continue;
        workers_close(workers, i);
        workers[0] = NULL;
        return st;
    }
    return QFZ_OK;
}

static int64_t bytes_per_px(const qfz_rule *rule, qfz_kind kind)
{
    const int64_t side = 1024; /* so large that the share of borders is small */
    const int64_t narrow = sizeof(uint32_t), word = sizeof(uint64_t);
    const int64_t regions = narrow + word; /* border_of and name */
    const int64_t pixels = side * side;
    switch (kind) {
    case QFZ_COMPONENTS: return regions + (int64_t)qfz_components_bytes(side, side, 1) / pixels + 1;
    case QFZ_LEVELS:
    case QFZ_JOINS: return qfz_contraction_bytes(rule, side, side, kind == QFZ_LEVELS) / pixels + 2;
    case QFZ_OMEGA:
        return qfz_omega_contraction_bytes(rule, side, side) / pixels + 2 + regions + 3 * narrow +
               word * qfz_sum_words(rule->type) + (int64_t)qfz_cpu_means_bytes(rule);
    case QFZ_TREE:
        return (8 * qfz_tree_room(rule, side, side) +
                (int64_t)qfz_tree_bytes(rule, side, side, 1)) /
                   pixels +
               1;
    case QFZ_FILTER: return qfz_filter_tile_bytes(rule, side, side) / pixels + 1;
    }
    return 0;
}

static qfz_status load(qfz_worker *worker, const qfz_image *tile, qfz_error *err)
{
    (void)err;
    worker->tile = *tile;
    worker->found = worker->resumed = QFZ_CACHED_NOTHING;
    return QFZ_OK;
}

/* ---- Summaries. */
static qfz_status summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(qfz_summary_take_ring(summary, &worker->tile, worker->rule, err));
    if (worker->kind == QFZ_COMPONENTS) return qfz_cpu_components_summarise(worker, summary, err);
    QFZ_TRY(qfz_links_reserve(&summary->links, summary->n_ring, err));
    worker->found = QFZ_CACHED_GRAPH;
    if (worker->kind == QFZ_OMEGA) {
        QFZ_TRY(qfz_omega_contract(&worker->omega, &worker->tile, true, err));
        return qfz_omega_contraction_summarise(&worker->omega, worker->mark, summary, err);
    }
    qfz_contract(&worker->contraction, &worker->tile, true);
    const uint32_t largest = qfz_contraction_summarise(&worker->contraction, summary->valid,
                                                       worker->mark, &summary->links);
    const int in_blocks = qfz_contraction_level_bytes(&worker->contraction);
    const int between = qfz_level_bytes(largest);
    summary->level_bytes = between > in_blocks ? between : in_blocks;
    return QFZ_OK;
}

/* ---- Results. */
/* Two pixels without an edge between them have no saliency, although they may meet. */
static void drop_missing(const uint32_t *edges, int64_t n, int level_bytes, void *levels)
{
    for (int64_t i = 0; i < n; i++) {
        if (edges[i] != QFZ_NONE) continue;
        if (level_bytes == sizeof(uint16_t))
            ((uint16_t *)levels)[i] = UINT16_MAX;
        else
            ((uint32_t *)levels)[i] = QFZ_NONE;
    }
}

static qfz_status saliency(qfz_worker *worker, const qfz_exterior *exterior, int level_bytes,
                           void *levels, qfz_error *err)
{
    const int n_dirs = qfz_n_dirs(worker->rule);
    qfz_contraction *const c = &worker->contraction;
    if (exterior) QFZ_TRY(qfz_exterior_fits(exterior, &worker->tile, err));
    if (worker->resumed != QFZ_CACHED_GRAPH) qfz_contract(c, &worker->tile, exterior != NULL);
    worker->found = worker->resumed =
        QFZ_CACHED_NOTHING; /* external links change the contraction */
    if (exterior) qfz_contraction_add_external(c, &exterior->external);
    qfz_graph_sort(&c->graph);
    (void)qfz_forest_grow(&c->forest, &c->graph);
    qfz_contraction_saliency(c, level_bytes, levels);
    if (worker->tile.edges)
        drop_missing(worker->tile.edges, n_dirs * worker->tile.h * worker->tile.w, level_bytes,
                     levels);
    if (exterior)
        qfz_exterior_place_cross(exterior, worker->tile.h, worker->tile.w, n_dirs, level_bytes,
                                 levels);
    return QFZ_OK;
}

static qfz_status tree(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                       qfz_error *err)
{
    (void)err;
    qfz_tree_build(&worker->tile, worker->rule, worker->n_threads, worker->scratch, parent, level,
                   n_nodes);
    return QFZ_OK;
}

/* ---- The area filter. */
static qfz_status filter_summarise(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                   const qfz_edge_bits *bits, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(qfz_summary_take_ring(summary, &worker->tile, worker->rule, err));
    return qfz_filter_tile_summarise(&worker->filter, &worker->tile, box, row_mass, bits, summary,
                                     err);
}

static qfz_status filter_resolve(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                 const qfz_exterior *exterior, const qfz_edge_bits *bits,
                                 qfz_error *err)
{
    return qfz_filter_tile_resolve(&worker->filter, &worker->tile, box, row_mass, exterior, bits,
                                   err);
}

static int64_t filter_kept_bytes(const qfz_worker *worker)
{
    return qfz_filter_tile_kept_bytes(&worker->filter);
}

static qfz_status filter_keep(const qfz_worker *worker, const qfz_edge_bits *bits,
                              qfz_filter_kept **kept, qfz_error *err)
{
    return qfz_filter_tile_keep(&worker->filter, bits, kept, err);
}

static qfz_status filter_resolve_kept(qfz_worker *worker, const qfz_image *tile, qfz_box box,
                                      const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                      const qfz_edge_bits *bits, qfz_error *err)
{
    worker->tile = *tile;
    return qfz_filter_tile_resolve_kept(&worker->filter, tile, box, kept, exterior, bits, err);
}

static const qfz_engine_filter filter = {
    .summarise = filter_summarise,
    .resolve = filter_resolve,
    .kept_bytes = filter_kept_bytes,
    .keep = filter_keep,
    .resolve_kept = filter_resolve_kept,
    .drop = qfz_filter_kept_drop,
};

static const qfz_engine_cache cache = {
    .bytes = qfz_cpu_cached_bytes,
    .store = qfz_cpu_store,
    .resume = qfz_cpu_resume,
    .needs_pixels = qfz_cpu_needs_pixels,
    .drop = qfz_cpu_drop,
};

const qfz_engine qfz_engine_cpu = {
    .name = "cpu",
    .open = workers_open,
    .close = workers_close,
    .bytes_per_px = bytes_per_px,
    .load = load,
    .summarise = summarise,
    .partition = qfz_cpu_partition,
    .number = qfz_cpu_number,
    .labels = qfz_cpu_labels,
    .border_sums = qfz_cpu_border_sums,
    .spans = qfz_cpu_spans,
    .features = qfz_cpu_features,
    .paint = qfz_cpu_paint,
    .saliency = saliency,
    .tree_room = qfz_tree_room,
    .tree = tree,
    .joins = qfz_cpu_joins,
    .cache = &cache,
    .filter = &filter,
};
