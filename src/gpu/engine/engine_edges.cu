/* SPDX-License-Identifier: MIT */
/* engine_edges.cu - what the caller has of a tile's edges: their levels, under a rule with
 * edge_levels, and which of them have level 0, under a rule with an area filter. */
#include "gpu/engine/worker.cuh"

static bool takes_zeroed(const qfz_worker_spec *spec)
{
    return spec->rule->min_mass > 0 && spec->kind != QFZ_FILTER;
}

void qfz_edges_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    if (takes_zeroed(spec)) qfz_carve_take(carve, &worker->d_zeroed, n);
    if (spec->rule->edge_levels)
        qfz_carve_take(carve, &worker->d_edges, qfz_n_dirs(spec->rule) * n);
}

qfz_status qfz_edges_send(qfz_worker *worker)
{
    const qfz_image *const tile = &worker->tile;
    const size_t n = (size_t)(tile->h * tile->w);
    qfz_gpu_image *const image = &worker->image;
    if (tile->zeroed && takes_zeroed(&worker->spec) && !image->d_zeroed) {
        QFZ_TRY(qfz_worker_up(worker, worker->d_zeroed, tile->zeroed, n));
        image->d_zeroed = worker->d_zeroed;
    }
    if (worker->spec.rule->edge_levels && !image->d_edges) {
        const size_t n_levels = (size_t)qfz_n_dirs(worker->spec.rule) * n;
        QFZ_TRY(
            qfz_worker_up(worker, worker->d_edges, tile->edges, n_levels * sizeof *tile->edges));
        image->d_edges = worker->d_edges;
    }
    return QFZ_OK;
}
