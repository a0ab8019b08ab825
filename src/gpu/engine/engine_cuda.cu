/* SPDX-License-Identifier: MIT */
/* engine_cuda.cu - the CUDA engine: opens and closes workers, uploads tiles, has the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/omega/omega.cuh"
#include "gpu/engine/worker.cuh"
#include "core/memory.h"

/* ---- Workers --------------------------------------------------------------------------------- */

qfz_status qfz_worker_enter(qfz_worker *worker, qfz_error *err)
{
    worker->gpu.err = err;
    QFZ_TRY_CUDA(err, cudaSetDevice(worker->spec.device.index));
    return QFZ_OK;
}

qfz_status qfz_worker_up(qfz_worker *worker, void *d_to, const void *h_from, size_t bytes)
{
    return qfz_staging_up(&worker->staging, &worker->gpu, d_to, h_from, bytes);
}

qfz_status qfz_worker_down(qfz_worker *worker, void *h_to, const void *d_from, size_t bytes)
{
    return qfz_staging_down(&worker->staging, &worker->gpu, h_to, d_from, bytes);
}

qfz_status qfz_worker_down_links(qfz_worker *worker, const qfz_gpu_links *from, uint32_t n,
                                 qfz_links *links)
{
    QFZ_TRY(qfz_links_reserve(links, n, worker->gpu.err));
    QFZ_TRY(qfz_worker_down(worker, links->u, from->d_u, n * sizeof *links->u));
    QFZ_TRY(qfz_worker_down(worker, links->v, from->d_v, n * sizeof *links->v));
    QFZ_TRY(qfz_worker_down(worker, links->level, from->d_level, n * sizeof *links->level));
    links->n = n;
    return QFZ_OK;
}

qfz_status qfz_worker_down_ranges(qfz_worker *worker, const qfz_gpu_ranges *from, uint32_t n,
                                  qfz_ranges *ranges)
{
    const qfz_rule *const rule = worker->spec.rule;
    const size_t span_bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    const int64_t at = ranges->n;
    QFZ_TRY(qfz_ranges_reserve(ranges, at + n, rule, worker->gpu.err));
    QFZ_TRY(qfz_worker_down(worker, ranges->at + at, from->d_at, n * sizeof *ranges->at));
    QFZ_TRY(qfz_worker_down(worker, ranges->level + at, from->d_level, n * sizeof *ranges->level));
    QFZ_TRY(qfz_worker_down(worker, (char *)ranges->lo + (size_t)at * span_bytes, from->d_lo,
                            n * span_bytes));
    QFZ_TRY(qfz_worker_down(worker, (char *)ranges->hi + (size_t)at * span_bytes, from->d_hi,
                            n * span_bytes));
    ranges->n = at + n;
    return QFZ_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Invalid pixels then are NaN on the device, and no kernel reads validity, which is there only
 * during the upload, in memory that the work uses later. */
bool qfz_worker_makes_nan(const qfz_worker *worker)
{
    const qfz_kind kind = worker->spec.kind;
    if (worker->by_connect) return false;
    if (kind != QFZ_LEVELS && !(kind == QFZ_TREE && worker->trees.by_forest)) return false;
    return qfz_gpu_edges_know_nan(worker->spec.rule);
}

/* Planes of pixels that are passed for each tile. */
static int n_planes(const qfz_rule *rule)
{
    return rule->n_cuts > 0 ? rule->n_cuts : rule->n_bands;
}

static void carve_all(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    const size_t px_bytes = qfz_type_bytes(spec->rule->type) * (size_t)n_planes(spec->rule);
    /* What stays as long as the worker comes first; groups use all memory after it. */
    qfz_carve_take(carve, &worker->d_weights, spec->rule->weights ? spec->rule->n_bands : 0);
    worker->kept_bytes = carve->used;
    worker->d_pixels = qfz_carve_bytes(carve, (size_t)n * px_bytes);
    qfz_carve valid = *carve;
    qfz_carve_take(&valid, &worker->d_valid, n);
    if (!qfz_worker_makes_nan(worker)) *carve = valid;
    qfz_edges_carve(worker, carve);
    switch (spec->kind) {
    case QFZ_COMPONENTS:
    case QFZ_OMEGA: qfz_regions_carve(worker, carve); break;
    case QFZ_LEVELS: qfz_levels_carve(worker, carve); break;
    case QFZ_TREE: qfz_trees_carve(worker, carve); break;
    case QFZ_FILTER: qfz_filter_carve(worker, carve); break;
    case QFZ_JOINS: qfz_joins_carve(worker, carve); break;
    }
}

/* Size of a page-locked buffer: that of the rows of one call of stream->rows(), unless they are
 * large, because page-locked memory takes time to allocate and is not available to others. */
static int64_t staging_bytes(const qfz_worker_spec *spec)
{
    const int64_t least = QFZ_STAGING_BYTES, most = 8 * least, rows = spec->rows_bytes;
    return rows > least && rows <= most ? rows : least;
}

/* Allocates memory for all workers: one allocation on the device and one on the host, because each
 * allocation takes the driver a while. */
static qfz_status take_memory(qfz_worker *const *workers, int n)
{
    qfz_worker *const first = workers[0];
    const qfz_worker_spec *const spec = &first->spec;
    qfz_error *const err = first->gpu.err;
    char what[128];
    qfz_carve one = {NULL, 0};
    carve_all(first, &one);
    (void)snprintf(what, sizeof what, "%d x %zu bytes for tiles of %d x %d pixels on GPU %d", n,
                   one.used, spec->max_w, spec->max_h, spec->device.number);
    QFZ_TRY(qfz_gpu_check(err, cudaMalloc((void **)&first->d_all, (size_t)n * one.used), what));
    QFZ_TRY(qfz_staging_alloc(&first->h_all, n, staging_bytes(spec), err));
    for (int i = 0; i < n; i++) {
        qfz_carve carve = {first->d_all + (size_t)i * one.used, 0};
        workers[i]->d_memory = carve.base;
        workers[i]->d_bytes = one.used;
        carve_all(workers[i], &carve);
        QFZ_TRY(qfz_staging_open(&workers[i]->staging, first->h_all, i, staging_bytes(spec), err));
    }
    return QFZ_OK;
}

/* Selects the method.  A published method serves only the kinds of work of its paper. */
static qfz_status choose_method(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const bool named = spec->method, regions = spec->kind == QFZ_COMPONENTS;
    qfz_method method = QFZ_METHOD_CONNECT_V1; /* of trees, the faster version in most cases */
    if (named)
        QFZ_TRY(qfz_method_find(spec->method, spec->rule, spec->kind, &method, worker->gpu.err));
    worker->regions.published = named && regions;
    worker->regions.method = method;
    worker->by_connect = named && !regions && spec->kind != QFZ_TREE;
    worker->version = method == QFZ_METHOD_CONNECT_V2 ? QFZ_CONNECT_V2 : QFZ_CONNECT_V1;
    worker->trees.by_forest = !named && spec->kind == QFZ_TREE && qfz_trees_can_by_forest(worker);
    return QFZ_OK;
}

/* Without a method, a tree is by forest, as on most devices. */
static int64_t device_tile_bytes(const qfz_rule *rule, qfz_kind kind, const char *method, int32_t h,
                                 int32_t w)
{
    qfz_worker worker = {};
    qfz_carve carve = {NULL, 0};
    qfz_error ignored = {};
    worker.gpu.err = &ignored;
    worker.spec.rule = rule;
    worker.spec.kind = kind;
    worker.spec.method = method;
    worker.spec.max_h = h;
    worker.spec.max_w = w;
    worker.trees.by_forest = true;
    if (method && choose_method(&worker) != QFZ_OK) return 0;
    carve_all(&worker, &carve);
    if (kind == QFZ_TREE) carve.used += qfz_trees_bytes(&worker);
    return (int64_t)carve.used;
}

/* A worker's host memory is proportional to the rows and the ring of the tile: at most a byte per
 * pixel.  Range events of a summary, up to one for each pixel of several bands, are not the
 * worker's: the plan of a job counts them. */
static int64_t bytes_per_px(const qfz_rule *, qfz_kind)
{
    return 1;
}

/* ---- Capabilities ---------------------------------------------------------------------------- */

/* Shared memory that a block of threads needs for this kind of work.  Trees fall back to CONNECT
 * where the device has less; components fit every device. */
static size_t shared_needed(const qfz_rule *rule, qfz_kind kind)
{
    qfz_worker_spec spec = {};
    spec.rule = rule;
    spec.max_h = spec.max_w = 1;
    const qfz_gpu_edges edges = qfz_largest_edges(&spec);
    if (kind == QFZ_COMPONENTS || kind == QFZ_TREE || kind == QFZ_FILTER) return 0;
    if (kind == QFZ_LEVELS || kind == QFZ_JOINS) return qfz_gpu_forest_shared(&edges);
    const size_t forest = qfz_gpu_forest_shared(&edges), omega = qfz_gpu_omega_shared(&edges);
    return omega > forest ? omega : forest;
}

static const char *name_of(qfz_kind kind)
{
    return kind == QFZ_LEVELS ? "saliency" : kind == QFZ_JOINS ? "a curve" : "simplify";
}

/* In a forest QFZ_NONE is no level. */
static bool has_greatest_level(const qfz_rule *rule)
{
    uint32_t max_level = 0;
    qfz_error ignored = {};
    return qfz_max_level(rule, &max_level, &ignored) == QFZ_OK && max_level == QFZ_NONE;
}

const char *qfz_gpu_obstacle(const qfz_rule *rule, qfz_kind kind)
{
    return kind == QFZ_JOINS && has_greatest_level(rule)
               ? "the CUDA engine computes no curve of levels up to 2^32 - 1, which integers of 32 "
                 "bits have"
               : NULL;
}

qfz_status qfz_gpu_can(qfz_device device, const qfz_rule *rule, qfz_kind kind, qfz_error *err)
{
    const size_t needed = shared_needed(rule, kind);
    const char *const obstacle = qfz_gpu_obstacle(rule, kind);
    int there = 0;
    if (obstacle) return qfz_fail(err, QFZ_EGPU, "%s; use --engine cpu", obstacle);
    QFZ_TRY_CUDA(
        err, cudaDeviceGetAttribute(&there, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.index));
    if (needed <= (size_t)there) return QFZ_OK;
    return qfz_fail(
        err, QFZ_EGPU,
        "GPU %d: its blocks have %d bytes of shared memory; %s of such pixels takes %zu",
        device.number, there, name_of(kind), needed);
}

/* ---- Open, close ----------------------------------------------------------------------------- */

static void close_one(qfz_worker *worker)
{
    qfz_regions_close(worker);
    qfz_trees_close(worker);
    qfz_filter_close(worker);
    qfz_joins_close(worker);
    free(worker->ring_values);
    free(worker->ring_valid);
    qfz_staging_close(&worker->staging);
    if (worker->from) (void)cudaEventDestroy(worker->from);
    if (worker->to) (void)cudaEventDestroy(worker->to);
    if (worker->gpu.stream) (void)cudaStreamDestroy(worker->gpu.stream);
    free(worker);
}

static void workers_close(qfz_worker *const *workers, int n)
{
    qfz_worker *const first = n > 0 ? workers[0] : NULL;
    if (!first) return;
    (void)cudaSetDevice(first->spec.device.index);
    char *const d_all = first->d_all, *const h_all = first->h_all;
    for (int i = 0; i < n; i++)
        if (workers[i]) close_one(workers[i]);
    (void)cudaFree(d_all);
    qfz_staging_free(h_all);
    (void)cudaGetLastError(); /* or the check of the next launch would report a failure above */
}

static qfz_status take_device(qfz_worker *worker)
{
    qfz_error *const err = worker->gpu.err;
    const int device = worker->spec.device.index;
    int shared_max = 0;
    QFZ_TRY_CUDA(
        err, cudaDeviceGetAttribute(&worker->gpu.n_sms, cudaDevAttrMultiProcessorCount, device));
    QFZ_TRY_CUDA(
        err, cudaDeviceGetAttribute(&shared_max, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    worker->gpu.shared_max = (size_t)shared_max;
    QFZ_TRY_CUDA(err, cudaStreamCreateWithFlags(&worker->gpu.stream, cudaStreamNonBlocking));
    QFZ_TRY_CUDA(err, cudaEventCreate(&worker->from));
    QFZ_TRY_CUDA(err, cudaEventCreate(&worker->to));
    return QFZ_OK;
}

static qfz_status take_ring_room(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n = qfz_ring_size(spec->max_h, spec->max_w);
    QFZ_TRY(QFZ_NEW(&worker->ring_valid, n, worker->gpu.err));
    return qfz_alloc(&worker->ring_values, n * n_planes(spec->rule),
                     qfz_type_bytes(spec->rule->type), worker->gpu.err);
}

/* Opens one worker, except for the memory that workers share. */
static qfz_status open_one(qfz_worker *worker, qfz_error *err)
{
    const qfz_kind kind = worker->spec.kind;
    const bool regions = kind == QFZ_COMPONENTS || kind == QFZ_OMEGA;
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(take_device(worker));
    QFZ_TRY(choose_method(worker));
    QFZ_TRY(take_ring_room(worker));
    if (kind == QFZ_FILTER) QFZ_TRY(qfz_filter_open(worker));
    if (kind == QFZ_JOINS) QFZ_TRY(qfz_joins_open(worker));
    return regions ? qfz_regions_open(worker) : QFZ_OK;
}

static qfz_status upload_weights(qfz_worker *worker)
{
    const qfz_rule *const rule = worker->spec.rule;
    if (!rule->weights) return QFZ_OK;
    return qfz_worker_up(worker, worker->d_weights, rule->weights,
                         (size_t)rule->n_bands * sizeof *rule->weights);
}

static qfz_status open_all(qfz_worker **workers, int n, const qfz_worker_spec *spec, qfz_error *err)
{
    for (int i = 0; i < n; i++) {
        QFZ_TRY(QFZ_NEW_ZERO(&workers[i], 1, err));
        workers[i]->spec = *spec;
        QFZ_TRY(open_one(workers[i], err));
    }
    if (n < 1) return QFZ_OK;
    QFZ_TRY(take_memory(workers, n));
    for (int i = 0; i < n; i++) {
        QFZ_TRY(qfz_trees_room(workers[i]));
        QFZ_TRY(upload_weights(workers[i]));
    }
    return qfz_worker_warm_up(workers[0]);
}

static qfz_status workers_open(qfz_worker **workers, int n, const qfz_worker_spec *spec,
                               qfz_error *err)
{
    for (int i = 0; i < n; i++)
        workers[i] = NULL;
    const qfz_status st = open_all(workers, n, spec, err);
    if (st == QFZ_OK) return QFZ_OK;
    workers_close(workers, n);
    for (int i = 0; i < n; i++)
        workers[i] = NULL;
    return st;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void use_plane(qfz_worker *worker, int plane)
{
    const qfz_image *const tile = &worker->tile;
    const size_t bytes = (size_t)(tile->h * tile->w) * qfz_type_bytes(tile->type);
    worker->plane = plane;
    worker->image.d_pixels = (char *)worker->d_pixels + (size_t)plane * bytes;
}

static qfz_status load(qfz_worker *worker, const qfz_image *tile, qfz_error *err)
{
    (void)err;
    worker->tile = *tile;
    worker->tile.pixels = NULL;
    worker->image.h = (int32_t)tile->h;
    worker->image.w = (int32_t)tile->w;
    worker->image.n_bands = worker->spec.rule->n_bands;
    worker->image.type = tile->type;
    use_plane(worker, 0);
    worker->image.d_weights = worker->d_weights;
    worker->image.d_zeroed = NULL; /* until qfz_edges_send() */
    worker->image.d_edges = NULL;
    worker->image.d_valid = tile->valid && !qfz_worker_makes_nan(worker) ? worker->d_valid : NULL;
    return QFZ_OK;
}

/* Uploads the validity of n pixels from pixel `first` on, or sets the invalid ones to NaN. */
static qfz_status send_valid(qfz_worker *worker, const uint8_t *valid, int64_t first, size_t n)
{
    uint8_t *d_valid = worker->d_valid;
    if (!qfz_worker_makes_nan(worker)) return qfz_worker_up(worker, d_valid + first, valid, n);
    if (worker->spec.kind == QFZ_TREE) {
        QFZ_TRY(qfz_trees_room(worker));
        d_valid = (uint8_t *)worker->trees.d_forest;
    }
    QFZ_TRY(qfz_worker_up(worker, d_valid, valid, n));
    return qfz_gpu_make_nan(&worker->gpu, d_valid, (int64_t)n, (float *)worker->d_pixels + first);
}

/* Rows that are read into page-locked memory go to the device without another copy. */
static qfz_status room(qfz_worker *worker, void **pixels, qfz_error *err)
{
    const int64_t bytes = worker->spec.rows_bytes;
    if (bytes == 0 || bytes > worker->staging.bytes) return QFZ_OK;
    QFZ_TRY(qfz_worker_enter(worker, err));
    return qfz_staging_room(&worker->staging, &worker->gpu, pixels);
}

static qfz_status rows(qfz_worker *worker, const qfz_rows *rows, qfz_error *err)
{
    const qfz_image *const tile = &worker->tile;
    const bool in_room = qfz_staging_is_room(&worker->staging, rows->pixels);
    const size_t px_bytes = qfz_type_bytes(tile->type);
    const int64_t first = rows->y0 * tile->w;
    const size_t n = (size_t)((rows->y1 - rows->y0) * tile->w);
    QFZ_TRY(qfz_worker_enter(worker, err));
    for (int64_t b = 0; b < tile->n_bands; b++) {
        char *const d_to =
            (char *)worker->d_pixels + (size_t)(b * tile->h * tile->w + first) * px_bytes;
        const char *const from =
            (const char *)rows->pixels + (size_t)(b * rows->plane_px) * px_bytes;
        if (in_room)
            QFZ_TRY(qfz_staging_send(&worker->gpu, d_to, from, n * px_bytes));
        else
            QFZ_TRY(qfz_worker_up(worker, d_to, from, n * px_bytes));
    }
    if (in_room) QFZ_TRY(qfz_staging_leave_room(&worker->staging, &worker->gpu));
    if (tile->valid) QFZ_TRY(send_valid(worker, tile->valid + first, first, n));
    qfz_ring_take(tile, rows, worker->ring_values, worker->ring_valid);
    return QFZ_OK;
}

static qfz_status again(qfz_worker *worker, const qfz_rule *rule, int plane, qfz_error *err)
{
    QFZ_TRY(qfz_worker_enter(worker, err));
    worker->spec.rule = rule;
    use_plane(worker, plane);
    return QFZ_OK;
}

qfz_status qfz_worker_take_ring(const qfz_worker *worker, qfz_summary *summary)
{
    const qfz_image *const tile = &worker->tile;
    const size_t n_ring = (size_t)summary->n_ring;
    const size_t px_bytes = qfz_type_bytes(tile->type);
    memcpy(summary->valid, worker->ring_valid, n_ring);
    memcpy(summary->values,
           (const char *)worker->ring_values + (size_t)worker->plane * n_ring * px_bytes,
           n_ring * (size_t)worker->image.n_bands * px_bytes);
    return qfz_summary_take_edges(summary, tile, worker->spec.rule, worker->gpu.err);
}

static qfz_status summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_edges_send(worker));
    QFZ_TRY(qfz_worker_take_ring(worker, summary));
    QFZ_TRY(qfz_summary_take_zeroed(summary, &worker->tile, err));
    return worker->spec.kind == QFZ_LEVELS ? qfz_levels_summarise(worker, summary)
                                           : qfz_regions_summarise(worker, summary);
}

static qfz_status work(qfz_worker *worker, qfz_part part)
{
    switch (worker->spec.kind) {
    case QFZ_LEVELS: return qfz_levels_work(worker, part);
    case QFZ_TREE: return qfz_trees_work(worker);
    case QFZ_FILTER: return qfz_filter_work(worker);
    default: return qfz_regions_work(worker, part);
    }
}

static qfz_status time_part(qfz_worker *worker, qfz_part part, int n_runs, double *ms,
                            qfz_error *err)
{
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_edges_send(worker));
    for (int i = -1; i < n_runs; i++) { /* the first run is not counted */
        float elapsed = 0;
        QFZ_TRY_CUDA(err, cudaEventRecord(worker->from, worker->gpu.stream));
        QFZ_TRY(work(worker, part));
        QFZ_TRY_CUDA(err, cudaEventRecord(worker->to, worker->gpu.stream));
        QFZ_TRY_CUDA(err, cudaEventSynchronize(worker->to));
        QFZ_TRY_CUDA(err, cudaEventElapsedTime(&elapsed, worker->from, worker->to));
        if (i >= 0) ms[i] = (double)elapsed;
    }
    return QFZ_OK;
}

static int64_t device_bytes(const qfz_worker *worker)
{
    return (int64_t)(worker->d_bytes + worker->trees.forest_bytes);
}

/* Tables in the order of core/engine.h, since nvcc's C++17 has no designated initialisers. */
static const qfz_engine_stream cuda_stream = {room, rows, again};
static const qfz_engine_groups cuda_groups = {qfz_groups_fit, qfz_groups_summarise,
                                              qfz_groups_levels, qfz_groups_regions};
static const qfz_engine_device cuda_device = {
    device_tile_bytes, device_bytes,     time_part,           qfz_device_load, qfz_device_load_cut,
    qfz_device_labels, qfz_device_paint, qfz_device_saliency, qfz_device_tree, qfz_device_fetch};
static const qfz_engine_filter cuda_filter = {qfz_filter_find_summary, qfz_filter_find_bits,
                                              qfz_filter_kept_bytes,   qfz_filter_keep,
                                              qfz_filter_resolve_kept, qfz_filter_drop};

extern "C" {
extern const qfz_engine qfz_engine_cuda = {"cuda",
                                           workers_open,
                                           workers_close,
                                           bytes_per_px,
                                           load,
                                           summarise,
                                           qfz_regions_partition,
                                           qfz_regions_number,
                                           qfz_regions_labels,
                                           qfz_regions_border_sums,
                                           qfz_regions_spans,
                                           qfz_regions_features,
                                           qfz_regions_paint,
                                           qfz_levels_saliency,
                                           NULL, /* tree_room */
                                           qfz_trees_build,
                                           qfz_joins_find,
                                           NULL, /* cache */
                                           &cuda_stream,
                                           &cuda_groups,
                                           &cuda_device,
                                           &cuda_filter};
}
