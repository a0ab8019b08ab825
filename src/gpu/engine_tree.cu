/* SPDX-License-Identifier: MIT */
/* engine_tree.cu - the CUDA engine's alpha-tree of one image. */
#include <string.h>

#include "gpu/forest_tree.cuh"
#include "gpu/worker.cuh"

/* A forest knows no edges of the greatest key that there is, and takes much shared memory. */
static bool forest_can(const qfz_worker *worker)
{
    const qfz_gpu_edges edges = qfz_largest_edges(&worker->spec);
    return edges.max_key != QFZ_NONE && qfz_gpu_forest_shared(&edges) <= worker->gpu.shared_max &&
           qfz_gpu_forest_tree_shared(&edges) <= worker->gpu.shared_max;
}

qfz_status qfz_trees_choose(qfz_worker *worker)
{
    const char *const name = worker->spec.method;
    qfz_tree_room *const room = &worker->trees;
    room->by_forest = !name && forest_can(worker);
    room->version = QFZ_CONNECT_V1; /* the faster in most cases */
    if (!name || strcmp(name, "connect-v1") == 0) return QFZ_OK;
    room->version = QFZ_CONNECT_V2;
    if (strcmp(name, "connect-v2") == 0) return QFZ_OK;
    return qfz_fail(worker->gpu.err, QFZ_EARG,
                    "method %s does not make alpha-trees; connect-v1 and connect-v2 do", name);
}

/* Of the largest tile. */
static size_t scratch_bytes(const qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const qfz_gpu_edges edges = qfz_largest_edges(spec);
    if (worker->trees.by_forest) return qfz_gpu_forest_tree_bytes(&edges);
    return qfz_gpu_tree_bytes(spec->rule->connectivity, spec->max_h, spec->max_w);
}

void qfz_trees_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_tree_room *const room = &worker->trees;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    room->d_keys = (uint32_t *)qfz_carve_bytes(carve, qfz_gpu_edges_bytes(spec->rule, n));
    room->d_scratch = qfz_carve_bytes(carve, scratch_bytes(worker));
    qfz_carve_take(carve, &room->d_parent, 2 * n);
    qfz_carve_take(carve, &room->d_level, 2 * n);
    qfz_carve_take(carve, &room->d_n_nodes, 1);
}

static qfz_status by_forest(qfz_worker *worker, const qfz_gpu_edges *edges)
{
    qfz_tree_room *const room = &worker->trees;
    qfz_gpu_forest_tree tree;
    uint32_t counts[2] = {0, 0};
    QFZ_TRY(qfz_gpu_forest_tree_begin(&worker->gpu, edges, worker->spec.rule->alpha_key,
                                      room->d_scratch, room->d_parent, room->d_level, &tree));
    QFZ_TRY(qfz_worker_down(worker, counts, tree.d_counts, sizeof counts));
    return qfz_gpu_forest_tree_end(&worker->gpu, &tree, counts, room->d_n_nodes);
}

qfz_status qfz_trees_work(qfz_worker *worker)
{
    qfz_tree_room *const room = &worker->trees;
    qfz_gpu_edges edges;
    QFZ_TRY(
        qfz_gpu_edges_make(&worker->gpu, &worker->image, worker->spec.rule, room->d_keys, &edges));
    if (room->by_forest) return by_forest(worker, &edges);
    return qfz_gpu_tree(&worker->gpu, room->version, &edges, worker->spec.rule->alpha_key,
                        room->d_scratch, room->d_parent, room->d_level, room->d_n_nodes);
}

qfz_status qfz_trees_build(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           qfz_error *err)
{
    qfz_tree_room *const room = &worker->trees;
    uint32_t n = 0;
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_trees_work(worker));
    QFZ_TRY(qfz_worker_down(worker, &n, room->d_n_nodes, sizeof n));
    QFZ_TRY(qfz_worker_down(worker, parent, room->d_parent, n * sizeof *parent));
    QFZ_TRY(qfz_worker_down(worker, level, room->d_level, n * sizeof *level));
    *n_nodes = n;
    return QFZ_OK;
}
