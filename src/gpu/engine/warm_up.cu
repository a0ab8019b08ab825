/* SPDX-License-Identifier: MIT */
/* warm_up.cu - runs a worker's kind of work once, on a small tile, when its device opens.  CUDA
 * loads a kernel at its first launch, during which all threads that launch a kernel wait; this file
 * moves that delay to the start of the job. */
#include <stdlib.h>

#include "gpu/engine/worker.cuh"
#include "core/memory.h"

enum {
    SIDE = 128,
    LEAST_PX = 1 << 18 /* jobs of smaller tiles are too short to gain from a warm-up */
};

namespace
{
/* Host memory for the small tile and its results. */
typedef struct warm_room {
    qfz_image tile;
    uint8_t *pixels;
    uint32_t *edges; /* NULL without edge_levels */
    uint64_t *out;
    qfz_summary summary;
} warm_room;
} // namespace

/* Levels of edges of many kinds of regions. */
static qfz_status make_edges(const qfz_worker *worker, warm_room *room)
{
    const qfz_rule *const rule = worker->spec.rule;
    const int64_t n = qfz_n_dirs(rule) * room->tile.h * room->tile.w;
    if (!rule->edge_levels) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&room->edges, n, worker->gpu.err));
    for (int64_t i = 0; i < n; i++)
        room->edges[i] = (uint32_t)(i / 3 % 5 * (i / SIDE % 7));
    room->tile.edges = room->edges;
    return QFZ_OK;
}

static qfz_status open_room(const qfz_worker *worker, warm_room *room)
{
    enum { PX_BYTES = 64 }; /* per pixel, more than any output, border regions or records need */
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_image *const tile = &room->tile;
    qfz_box box = {};
    box.y1 = tile->h = spec->max_h < SIDE ? spec->max_h : SIDE;
    box.x1 = tile->w = spec->max_w < SIDE ? spec->max_w : SIDE;
    tile->type = spec->rule->type;
    tile->n_bands = spec->rule->n_bands;
    const int64_t n = tile->h * tile->w;
    const int64_t bytes = n * tile->n_bands * (int64_t)qfz_type_bytes(tile->type);
    QFZ_TRY(QFZ_NEW(&room->pixels, bytes, worker->gpu.err));
    QFZ_TRY(qfz_alloc_zero((void **)&room->out, n, PX_BYTES, worker->gpu.err));
    for (int64_t i = 0; i < bytes; i++) /* a pattern of many kinds of regions, without NaN */
        room->pixels[i] = (uint8_t)(i / 3 % 5 + i / SIDE % 7);
    tile->pixels = room->pixels;
    QFZ_TRY(make_edges(worker, room));
    return qfz_summary_init(&room->summary, box, spec->rule, worker->gpu.err);
}

static void close_room(warm_room *room)
{
    free(room->pixels);
    free(room->edges);
    free(room->out);
    qfz_summary_fini(&room->summary);
}

static qfz_status make_regions(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    const qfz_engine *const engine = &qfz_engine_cuda;
    const bool has_means = worker->spec.kind == QFZ_OMEGA;
    qfz_partition partition;
    if (has_means) QFZ_TRY(engine->summarise(worker, &room->summary, err));
    QFZ_TRY(engine->partition(worker, NULL, &partition, err));
    if (has_means) {
        QFZ_TRY(engine->border_sums(worker, 0, room->out, err));
        QFZ_TRY(engine->paint(worker, 0, room->pixels, room->pixels, room->out, err));
    } else {
        QFZ_TRY(engine->summarise(worker, &room->summary, err));
    }
    QFZ_TRY(engine->number(worker, NULL, err));
    return engine->labels(worker, false, room->out, err);
}

static qfz_status make_levels(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    const qfz_engine *const engine = &qfz_engine_cuda;
    const qfz_rule *const rule = worker->spec.rule;
    uint32_t max_level;
    QFZ_TRY(qfz_max_level(rule, &max_level, err));
    QFZ_TRY(engine->summarise(worker, &room->summary, err));
    return engine->saliency(worker, NULL, max_level < UINT16_MAX ? 2 : 4, room->out, err);
}

static qfz_status make_filter(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    const qfz_engine_filter *const filter = qfz_engine_cuda.filter;
    const qfz_box box = room->summary.box;
    uint8_t *const zeroed = (uint8_t *)room->out;
    const bool wants_forest = worker->spec.rule->wants_forest;
    const qfz_edge_bits bits = {zeroed, wants_forest ? zeroed + room->tile.h * room->tile.w : NULL};
    QFZ_TRY(filter->summarise(worker, box, NULL, NULL, &room->summary, err));
    return filter->resolve(worker, box, NULL, NULL, &bits, err);
}

static qfz_status make_joins(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    const qfz_histogram *settled;
    return qfz_engine_cuda.joins(worker, &room->summary, &settled, err);
}

static qfz_status make_any(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    switch (worker->spec.kind) {
    case QFZ_FILTER: return make_filter(worker, room, err);
    case QFZ_LEVELS: return make_levels(worker, room, err);
    case QFZ_JOINS: return make_joins(worker, room, err);
    default: return make_regions(worker, room, err);
    }
}

/* Stitches a group whose only member is the small tile; its crossing edges are a copy of the
 * tile's links. */
static qfz_status solve_group(qfz_worker *worker, warm_room *room, qfz_error *err)
{
    const qfz_engine *const engine = &qfz_engine_cuda;
    const uint32_t n = (uint32_t)room->summary.n_ring, offset[2] = {0, n};
    uint32_t *const ring = (uint32_t *)room->out, *const words = ring + n;
    qfz_summary group_summary = {};
    qfz_exterior own = {}, exterior = {};
    qfz_group_regions found = {words + n, words + 2 * n, words + 3 * n, {}, 0};
    qfz_status st;
    for (uint32_t i = 0; i < n; i++) {
        ring[i] = i;
        words[i] = QFZ_NONE;
    }
    const qfz_group_graph graph = {1, &room->summary, offset, &room->summary.links, NULL, ring, n};
    if (!engine->groups->fits(worker, &graph)) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, engine->groups->summarise(worker, &graph, &group_summary, err));
    own.n_ring = n;
    own.border_region = own.omega_level = words;
    st = worker->spec.kind == QFZ_LEVELS
             ? engine->groups->levels(worker, &graph, &exterior, words, err)
             : engine->groups->regions(worker, &graph, &own, &found, err);

cleanup:
    qfz_summary_fini(&group_summary);
    qfz_exterior_fini(&exterior);
    return st;
}

qfz_status qfz_worker_warm_up(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_error *const err = worker->gpu.err;
    warm_room room = {};
    qfz_status st;
    if ((int64_t)spec->max_h * spec->max_w < LEAST_PX || spec->kind == QFZ_TREE) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, open_room(worker, &room));
    QFZ_TRY_OR(st, cleanup, qfz_engine_load(&qfz_engine_cuda, worker, &room.tile, err));
    QFZ_TRY_OR(st, cleanup, make_any(worker, &room, err));
    if (spec->kind == QFZ_LEVELS || spec->kind == QFZ_OMEGA) st = solve_group(worker, &room, err);

cleanup:
    close_room(&room);
    return st;
}
