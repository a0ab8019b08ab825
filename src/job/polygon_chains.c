/* SPDX-License-Identifier: MIT */
#include "job/polygon_chains.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/label_strips.h"
#include "job/polygon_batch.h"

enum {
    TILE_PX_MIN = 1 << 12,
    TILE_PX_MAX = 1 << 18, /* what the caches of a processor hold */
    TILE_SIDE = 1 << 9,
    PX_BYTES = 112, /* of a tile in which each pixel is a region: corners and chains */
};

qfz_status qfz_polygon_chains_check(const qfz_job *job, const qfz_source_info *info,
                                    int64_t memory_bytes, qfz_error *err)
{
    const int64_t bytes = qfz_corner_map_bytes(info->w, info->h);
    if (!(job->simplify_tolerance > 0) || bytes <= memory_bytes / 4) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: simplified polygons of %lld x %lld pixels need %lld MB of memory; raise "
                    "--memory, or leave out --simplify-tolerance",
                    job->polygons, (long long)info->w, (long long)info->h,
                    (long long)(4 * bytes >> 20) + 1);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

qfz_status qfz_polygon_chains_open(qfz_polygon_chains *c, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(c->source);
    const int n_threads = c->pass->n_threads;
    const int64_t most = c->memory_bytes / 8 / PX_BYTES / n_threads;
    QFZ_TRY(qfz_polygon_chains_check(c->job, info, c->memory_bytes, err));
    c->tile_px = clamp(most, TILE_PX_MIN, TILE_PX_MAX);
    if (c->job->simplify_tolerance > 0)
        QFZ_TRY(qfz_corner_map_create(&c->map, info->w, info->h, err));
    return qfz_arc_store_create(&c->store, c->memory_bytes / 4,
                                c->memory_bytes / 2 / qfz_polygon_batch_cost(), c->folder, err);
}

static void close_tracing(qfz_polygon_chains *c)
{
    for (int i = 0; c->arcs && i < c->pass->n_threads; i++)
        qfz_arcs_fini(&c->arcs[i]);
    free(c->arcs);
    c->arcs = NULL;
}

void qfz_polygon_chains_close(qfz_polygon_chains *c)
{
    close_tracing(c);
    qfz_arc_store_close(c->store);
    qfz_corner_map_close(c->map);
}

static qfz_status trace_tile(qfz_polygon_chains *c, int thread, qfz_box box, qfz_label_grid labels,
                             qfz_error *err)
{
    qfz_arcs *const arcs = &c->arcs[thread];
    QFZ_TRY(qfz_arcs_trace(arcs, box, labels, err));
    pthread_mutex_lock(&c->lock);
    const qfz_status st = qfz_arc_store_add(c->store, arcs, err);
    if (c->map) qfz_corner_map_add(c->map, box, arcs);
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* Traces tiles of a strip, about as wide as they are high. */
static qfz_status trace_strip(void *arg, int thread, const qfz_label_strip *strip, qfz_error *err)
{
    qfz_polygon_chains *const c = arg;
    const qfz_box box = strip->box;
    const int64_t h = clamp(c->tile_px / qfz_box_w(box), TILE_SIDE, c->tile_px);
    const int64_t w = clamp(c->tile_px / h, 1, c->tile_px);
    for (int64_t y0 = box.y0; y0 < box.y1; y0 += h)
        for (int64_t x0 = box.x0; x0 < box.x1; x0 += w) {
            const qfz_box tile = {y0, x0, y0 + h < box.y1 ? y0 + h : box.y1,
                                  x0 + w < box.x1 ? x0 + w : box.x1};
            const qfz_label_grid labels = {
                qfz_label_grid_at(strip->labels, y0 - box.y0, x0 - box.x0), strip->labels.pitch,
                strip->labels.is_wide};
            QFZ_TRY(trace_tile(c, thread, tile, labels, err));
        }
    return QFZ_OK;
}

qfz_status qfz_polygon_chains_trace(qfz_polygon_chains *c, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(c->source);
    QFZ_TRY(qfz_polygon_chains_open(c, err));
    QFZ_TRY(QFZ_NEW_ZERO(&c->arcs, c->pass->n_threads, err));
    if (pthread_mutex_init(&c->lock, NULL) != 0)
        return qfz_fail(err, QFZ_ENOMEM, "out of memory for a lock");
    const qfz_status st = qfz_label_strips_run(c->pass, info, c->job->tile_px,
                                               c->memory_bytes / 8 / c->pass->n_threads, "tracing",
                                               QFZ_POLYGONS_SHARE / 2, trace_strip, c, err);
    (void)pthread_mutex_destroy(&c->lock);
    close_tracing(c);
    return st;
}
