/* SPDX-License-Identifier: MIT */
/* engine_levels.cu - the CUDA engine's saliency: the links of a tile's boundary summary, and the
 * saliency of every edge. */
#include "gpu/engine/worker.cuh"

qfz_gpu_edges qfz_largest_edges(const qfz_worker_spec *spec)
{
    qfz_gpu_edges edges = {};
    uint32_t max_level = UINT32_MAX;
    qfz_error ignored = {};
    (void)qfz_max_level(spec->rule, &max_level, &ignored);
    edges.h = spec->max_h;
    edges.w = spec->max_w;
    edges.connectivity = spec->rule->connectivity;
    edges.form = qfz_gpu_edges_are_wide(spec->rule)      ? QFZ_EDGES_LEVELS
                 : qfz_type_bytes(spec->rule->type) == 1 ? QFZ_EDGES_U8
                                                         : QFZ_EDGES_U16;
    edges.max_level = max_level;
    return edges;
}

/* True if the width of the joins' levels depends on the pixels: they are integers, and wider than a
 * byte.  Levels that may be QFZ_NONE are always stored in the widest type. */
static bool has_widths(const qfz_worker_spec *spec)
{
    const uint32_t max_level = qfz_largest_edges(spec).max_level;
    return !qfz_levels_are_float(spec->rule) && max_level < UINT32_MAX &&
           qfz_level_bytes(max_level) > 1;
}

/* The memory that finding links needs for the forest. */
static size_t ring_bytes(const qfz_worker_spec *spec, const qfz_gpu_edges *edges)
{
    return has_widths(spec) ? qfz_gpu_forest_bytes(edges, QFZ_FOREST_ALL)
                            : qfz_gpu_ring_forest_bytes(edges);
}

static void carve_default(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n_ring = qfz_ring_size(spec->max_h, spec->max_w);
    const qfz_gpu_edges edges = qfz_largest_edges(spec);
    const size_t links_bytes = qfz_gpu_border_links_bytes(spec->max_h, spec->max_w);
    qfz_carve ring = *carve;
    worker->levels.d_memory = qfz_carve_bytes(carve, qfz_gpu_saliency_bytes(&edges, n_ring));
    (void)qfz_carve_bytes(&ring, ring_bytes(spec, &edges));
    (void)qfz_carve_bytes(&ring, links_bytes);
    carve->used = max(carve->used, ring.used);
}

static void carve_connect(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const qfz_gpu_edges edges = qfz_largest_edges(spec);
    worker->levels.d_memory =
        qfz_carve_bytes(carve, qfz_connect_levels_bytes(edges.connectivity, edges.h, edges.w,
                                                        qfz_gpu_is_narrow(&edges)));
    qfz_carve_take(carve, &worker->levels.d_largest, 1);
}

void qfz_levels_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_level_room *const room = &worker->levels;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    const int64_t n_ring = qfz_ring_size(spec->max_h, spec->max_w);
    /* By default, edges are the band itself where they can be. */
    if (worker->by_connect || qfz_gpu_edges_need_levels(spec->rule))
        room->d_edge_levels =
            (uint32_t *)qfz_carve_bytes(carve, qfz_gpu_edges_bytes(spec->rule, n));
    if (worker->by_connect)
        carve_connect(worker, carve);
    else
        carve_default(worker, carve);
    qfz_gpu_links_take(carve, n_ring, &room->links);
    qfz_gpu_links_take(carve, n_ring, &room->external);
    qfz_carve_take(carve, &room->d_n_links, 1);
    qfz_carve_take(carve, &room->d_n_above, QFZ_LEVEL_LIMITS);
}

/* The greatest levels that one byte, and two, hold beside the mark for no edge. */
static const uint32_t limits[QFZ_LEVEL_LIMITS] = {UINT8_MAX - 1, UINT16_MAX - 1};

/* ---- Operations ------------------------------------------------------------------------------ */

static qfz_status find_links(qfz_worker *worker)
{
    qfz_level_room *const room = &worker->levels;
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_edges edges;
    qfz_gpu_forest forest;
    qfz_carve carve = {(char *)room->d_memory, 0};
    const bool measure = has_widths(&worker->spec);
    QFZ_TRY(
        qfz_gpu_edges_make(gpu, &worker->image, worker->spec.rule, room->d_edge_levels, &edges));
    if (worker->by_connect)
        return qfz_connect_ring_links(gpu, worker->version, &edges, room->d_memory, &room->links,
                                      room->d_n_links, measure ? room->d_largest : NULL);
    void *const d_forest = qfz_carve_bytes(&carve, ring_bytes(&worker->spec, &edges));
    void *const d_scratch = carve.base + carve.used;
    QFZ_TRY(measure ? qfz_gpu_forest_make(gpu, &edges, true, d_forest, &forest)
                    : qfz_gpu_ring_forest_make(gpu, &edges, d_forest, &forest));
    if (measure) QFZ_TRY(qfz_gpu_levels_above(gpu, &forest, limits, room->d_n_above));
    return qfz_gpu_border_links(gpu, &forest, d_scratch, &room->links, room->d_n_links);
}

static uint32_t count_above(const qfz_links *links, uint32_t limit)
{
    uint32_t n = 0;
    for (int64_t i = 0; i < links->n; i++)
        n += links->level[i] > limit;
    return n;
}

/* Each link stands for one of the joins, of the same level. */
static qfz_status find_level_bytes(qfz_worker *worker, qfz_summary *summary)
{
    uint32_t n_above[QFZ_LEVEL_LIMITS], largest = 0;
    if (worker->by_connect) {
        QFZ_TRY(qfz_worker_down(worker, &largest, worker->levels.d_largest, sizeof largest));
    } else {
        QFZ_TRY(qfz_worker_down(worker, n_above, worker->levels.d_n_above, sizeof n_above));
        for (int i = 0; i < QFZ_LEVEL_LIMITS; i++)
            if (n_above[i] > count_above(&summary->links, limits[i])) largest = limits[i] + 1;
    }
    summary->level_bytes = qfz_level_bytes(largest);
    return QFZ_OK;
}

qfz_status qfz_levels_summarise(qfz_worker *worker, qfz_summary *summary)
{
    const uint32_t max_level = qfz_largest_edges(&worker->spec).max_level;
    qfz_level_room *const room = &worker->levels;
    uint32_t n = 0;
    QFZ_TRY(find_links(worker));
    QFZ_TRY(qfz_worker_down(worker, &n, room->d_n_links, sizeof n));
    QFZ_TRY(qfz_worker_down_links(worker, &room->links, n, &summary->links));
    summary->level_bytes =
        max_level < UINT32_MAX ? qfz_level_bytes(max_level) : (int32_t)sizeof max_level;
    return has_widths(&worker->spec) ? find_level_bytes(worker, summary) : QFZ_OK;
}

static qfz_status send_external(qfz_worker *worker, const qfz_links *external)
{
    qfz_gpu_links *const to = &worker->levels.external;
    const size_t bytes = (size_t)external->n * sizeof *external->u;
    to->n = external->n;
    QFZ_TRY(qfz_worker_up(worker, to->d_u, external->u, bytes));
    QFZ_TRY(qfz_worker_up(worker, to->d_v, external->v, bytes));
    return qfz_worker_up(worker, to->d_level, external->level, bytes);
}

static qfz_status find_saliency(qfz_worker *worker, const qfz_gpu_links *external,
                                qfz_connect_phase last, bool *narrow)
{
    qfz_level_room *const room = &worker->levels;
    qfz_gpu *const gpu = &worker->gpu;
    qfz_gpu_edges edges;
    QFZ_TRY(
        qfz_gpu_edges_make(gpu, &worker->image, worker->spec.rule, room->d_edge_levels, &edges));
    *narrow = qfz_gpu_is_narrow(&edges);
    if (worker->by_connect)
        return qfz_connect_saliency(gpu, worker->version, &edges, external, last, room->d_memory,
                                    &room->d_saliency);
    QFZ_TRY(qfz_gpu_saliency(gpu, &edges, external, room->d_memory, &room->d_saliency));
    return worker->spec.rule->edge_levels ? qfz_gpu_drop_missing(gpu, &edges, room->d_saliency)
                                          : QFZ_OK;
}

/* Downloads n levels of 16 bits as words of 32, in parts for which there is room in front of them,
 * in memory that is free by now. */
static qfz_status fetch_widened(qfz_worker *worker, size_t n, uint32_t *levels)
{
    const qfz_level_room *const room = &worker->levels;
    uint32_t *const d_wide = (uint32_t *)room->d_memory;
    const size_t most = (size_t)((uint32_t *)room->d_saliency - d_wide);
    for (size_t first = 0, part; first < n; first += part) {
        part = min(most, n - first);
        QFZ_TRY(qfz_device_widen_levels(worker, first, part, d_wide));
        QFZ_TRY(qfz_worker_down(worker, levels + first, d_wide, part * sizeof *d_wide));
    }
    return QFZ_OK;
}

/* Downloads n levels and converts them from 2 or 4 bytes, on the device, to level_bytes. */
static qfz_status fetch_levels(qfz_worker *worker, size_t n, bool narrow, int level_bytes,
                               void *levels)
{
    if (narrow && level_bytes == 4) return fetch_widened(worker, n, (uint32_t *)levels);
    QFZ_TRY(qfz_worker_down(worker, levels, worker->levels.d_saliency, (narrow ? 2 : 4) * n));
    if (!narrow && level_bytes == 2) qfz_levels_narrow_in_place(levels, (int64_t)n);
    return QFZ_OK;
}

qfz_status qfz_levels_saliency(qfz_worker *worker, const qfz_exterior *exterior, int level_bytes,
                               void *levels, qfz_error *err)
{
    qfz_level_room *const room = &worker->levels;
    const int n_dirs = qfz_n_dirs(worker->spec.rule);
    const size_t n = (size_t)n_dirs * qfz_worker_px(worker);
    bool narrow = false;
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_edges_send(worker));
    if (exterior) QFZ_TRY(send_external(worker, &exterior->external));
    QFZ_TRY(find_saliency(worker, exterior ? &room->external : NULL, QFZ_CONNECT_READ, &narrow));
    QFZ_TRY(fetch_levels(worker, n, narrow, level_bytes, levels));
    if (exterior)
        qfz_exterior_place_cross(exterior, worker->image.h, worker->image.w, n_dirs, level_bytes,
                                 levels);
    return QFZ_OK;
}

qfz_status qfz_levels_work(qfz_worker *worker, qfz_part part)
{
    bool narrow;
    if (part == QFZ_PART_SUMMARISE) return find_links(worker);
    return find_saliency(worker, NULL, qfz_worker_phase(part), &narrow);
}
