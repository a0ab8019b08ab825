/* SPDX-License-Identifier: MIT */
/* engine_tree.cu - the CUDA engine's alpha-tree of one image: by forest (tree/forest_tree.cuh), or
 * by CONNECT (published/connect.cuh). */
#include <stdio.h>
#include <string.h>

#include "gpu/engine/worker.cuh"

/* The edges of the largest tile. */
static qfz_gpu_edges largest_edges(const qfz_worker *worker)
{
    qfz_gpu_edges edges = qfz_largest_edges(&worker->spec);
    if (edges.form == QFZ_EDGES_LEVELS && !qfz_gpu_edges_need_levels(worker->spec.rule))
        edges.form = QFZ_EDGES_F32;
    return edges;
}

bool qfz_trees_can_by_forest(const qfz_worker *worker)
{
    const qfz_gpu_edges edges = largest_edges(worker);
    return edges.max_level != QFZ_NONE && qfz_gpu_forest_shared(&edges) <= worker->gpu.shared_max &&
           qfz_gpu_forest_tree_shared(&edges) <= worker->gpu.shared_max;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A tree by forest has an allocation of its own: as much as most trees need.  It grows for a tree
 * that has more nodes, and never shrinks. */
size_t qfz_trees_bytes(const qfz_worker *worker)
{
    const qfz_gpu_edges edges = largest_edges(worker);
    const qfz_gpu_tree_counts counts = qfz_gpu_tree_counts_usual(&edges);
    return worker->trees.by_forest ? qfz_gpu_forest_tree_bytes(&edges, &counts) : 0;
}

void qfz_trees_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_tree_room *const room = &worker->trees;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    if (room->by_forest) return;
    room->d_edge_levels = (uint32_t *)qfz_carve_bytes(carve, qfz_gpu_edges_bytes(spec->rule, n));
    room->d_scratch = qfz_carve_bytes(
        carve, qfz_gpu_tree_bytes(spec->rule->connectivity, spec->max_h, spec->max_w));
    qfz_carve_take(carve, &room->d_parent, 2 * n);
    qfz_carve_take(carve, &room->d_level, 2 * n);
    qfz_carve_take(carve, &room->d_n_nodes, 1);
}

/* Replaces the allocation by a larger one. */
static qfz_status take_forest_memory(qfz_worker *worker, size_t bytes)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_tree_room *const room = &worker->trees;
    char what[128];
    (void)cudaFree(room->d_forest);
    room->d_forest = NULL;
    room->forest_bytes = 0;
    (void)snprintf(what, sizeof what, "%zu bytes for the tree of %d x %d pixels on GPU %d", bytes,
                   spec->max_w, spec->max_h, spec->device.number);
    QFZ_TRY(qfz_gpu_check(worker->gpu.err, cudaMalloc((void **)&room->d_forest, bytes), what));
    room->forest_bytes = bytes;
    return QFZ_OK;
}

qfz_status qfz_trees_room(qfz_worker *worker)
{
    if (!worker->trees.by_forest || worker->trees.d_forest) return QFZ_OK;
    return take_forest_memory(worker, qfz_trees_bytes(worker));
}

void qfz_trees_close(qfz_worker *worker)
{
    (void)cudaFree(worker->trees.d_forest);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static qfz_status begin_by_forest(qfz_worker *worker, qfz_gpu_edges *edges,
                                  qfz_gpu_tree_counts *counts)
{
    qfz_tree_room *const room = &worker->trees;
    const qfz_gpu_edges largest = largest_edges(worker);
    uint32_t *const d_edge_levels = largest.form == QFZ_EDGES_LEVELS
                                        ? qfz_gpu_forest_tree_edge_levels(&largest, room->d_forest)
                                        : NULL;
    QFZ_TRY(
        qfz_gpu_edges_make(&worker->gpu, &worker->image, worker->spec.rule, d_edge_levels, edges));
    QFZ_TRY(qfz_gpu_forest_tree_begin(&worker->gpu, edges, worker->spec.rule->alpha_level,
                                      room->d_forest, room->forest_bytes, &room->tree));
    return qfz_worker_down(worker, counts, room->tree.d_counts, sizeof *counts);
}

/* Builds the tree; where it does not fit, allocates more than it needed and starts again, because
 * another run may find a slightly different forest with another number of pairs.  Each time the
 * memory grows by at least 1/64, and no tree has more than a pair or a node per pixel, so the loop
 * ends. */
static qfz_status by_forest(qfz_worker *worker)
{
    qfz_tree_room *const room = &worker->trees;
    qfz_gpu_edges edges;
    qfz_gpu_tree_counts counts;
    QFZ_TRY(qfz_trees_room(worker));
    for (;;) {
        QFZ_TRY(begin_by_forest(worker, &edges, &counts));
        const size_t needed = qfz_gpu_forest_tree_bytes(&edges, &counts);
        if (needed <= room->forest_bytes) break;
        QFZ_TRY(take_forest_memory(worker, needed + needed / 64));
    }
    return qfz_gpu_forest_tree_end(&worker->gpu, &room->tree, &edges, &counts);
}

qfz_status qfz_trees_work(qfz_worker *worker)
{
    qfz_tree_room *const room = &worker->trees;
    qfz_gpu_edges edges;
    QFZ_TRY(qfz_edges_send(worker));
    if (room->by_forest) return by_forest(worker);
    QFZ_TRY(qfz_gpu_edges_make(&worker->gpu, &worker->image, worker->spec.rule, room->d_edge_levels,
                               &edges));
    return qfz_gpu_tree(&worker->gpu, worker->version, &edges, worker->spec.rule->alpha_level,
                        room->d_scratch, room->d_parent, room->d_level, room->d_n_nodes);
}

/* ---- Results --------------------------------------------------------------------------------- */

qfz_status qfz_trees_fetch(qfz_worker *worker, const qfz_tree_out *out, uint32_t *parent,
                           uint32_t *level, int64_t *n_nodes)
{
    const qfz_tree_room *const room = &worker->trees;
    const qfz_gpu_forest_tree *const tree = &room->tree;
    const size_t n_px = qfz_worker_px(worker), word = sizeof *parent;
    qfz_gpu_tree_counts counts;
    uint32_t n = 0;
    if (!room->by_forest) {
        QFZ_TRY(qfz_worker_down(worker, &n, room->d_n_nodes, sizeof n));
        *n_nodes = n;
        QFZ_TRY(out->take(worker, parent, room->d_parent, n * word));
        return out->take(worker, level, room->d_level, n * word);
    }
    QFZ_TRY(qfz_worker_down(worker, &counts, tree->d_counts, sizeof counts));
    const size_t n_inside = counts.inside, first = n_px + n_inside, n_others = counts.others;
    *n_nodes = (int64_t)(first + n_others);
    QFZ_TRY(out->take(worker, parent, tree->d_parent, n_px * word));
    QFZ_TRY(out->take(worker, parent + n_px, tree->d_inside_parent, n_inside * word));
    QFZ_TRY(out->take(worker, parent + first, tree->d_other_parent, n_others * word));
    QFZ_TRY(out->clear(worker, level, n_px * word));
    QFZ_TRY((tree->forest.wide ? out->take : out->widen)(worker, level + n_px, tree->d_inside_level,
                                                         n_inside * word));
    return out->take(worker, level + first, tree->d_other_level, n_others * word);
}

static qfz_status clear(qfz_worker *, void *level, size_t bytes)
{
    memset(level, 0, bytes);
    return QFZ_OK;
}

/* Downloads levels of 16 bits into the second half of the place of `bytes` bytes, and widens them
 * to 32 bits.  Each write is to bytes that were read before. */
static qfz_status widen(qfz_worker *worker, void *to, const void *d_level, size_t bytes)
{
    uint32_t *const level = static_cast<uint32_t *>(to);
    const char *const from = static_cast<const char *>(to) + bytes / 2;
    QFZ_TRY(qfz_worker_down(worker, static_cast<char *>(to) + bytes / 2, d_level, bytes / 2));
    for (size_t i = 0; i < bytes / sizeof *level; i++) {
        uint16_t narrow;
        memcpy(&narrow, from + 2 * i, sizeof narrow);
        level[i] = narrow;
    }
    return QFZ_OK;
}

qfz_status qfz_trees_build(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           qfz_error *err)
{
    const qfz_tree_out out = {qfz_worker_down, clear, widen};
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_trees_work(worker));
    return qfz_trees_fetch(worker, &out, parent, level, n_nodes);
}
