/* SPDX-License-Identifier: MIT */
/* cut.c - labels of alpha-components from the saliency of a session's image.
 *
 * The levels become an image of joins, one byte a pixel: bit d says that the edge in direction d
 * exists and has a level of at most alpha.  The connected components of the joins are the
 * alpha-components.  Levels in host memory are cut by the CPU engine, levels in device memory by
 * the CUDA engine. */
#include <stdlib.h>

#include "core/memory.h"
#include "session/state.h"

void qfz_session_close_cut(qfz_session *s)
{
    if (s->cut_worker) s->cut_engine->close(&s->cut_worker, 1);
    s->cut_worker = NULL;
    free(s->cut_joins);
    s->cut_joins = NULL;
}

static qfz_status need_cut_worker(qfz_session *s, const qfz_engine *engine, qfz_error *err)
{
    if (s->cut_worker && s->cut_engine == engine) return QFZ_OK;
    qfz_session_close_cut(s);
    s->cut_engine = engine;
    s->cut_rule = (qfz_rule){.connectivity = s->rule.connectivity,
                             .distance = QFZ_LINF,
                             .type = QFZ_U8,
                             .n_bands = 1,
                             .edge_bits = true};
    const qfz_worker_spec spec = {.rule = &s->cut_rule,
                                  .kind = QFZ_COMPONENTS,
                                  .max_h = (int32_t)s->image.h,
                                  .max_w = (int32_t)s->image.w,
                                  .n_threads = s->n_threads,
                                  .device = s->choice.devices[0]};
    return engine->open(&s->cut_worker, 1, &spec, err);
}

/* *valid = the validity of the image in host memory, NULL: all are valid. */
static qfz_status get_valid(qfz_session *s, const uint8_t **valid, qfz_error *err)
{
    *valid = s->image.valid;
    if (s->image.memory == QFZ_MEMORY_HOST || !s->image.valid) return QFZ_OK;
    if (!s->host_valid) {
        uint8_t *copy = NULL;
        QFZ_TRY(QFZ_NEW(&copy, qfz_session_n_px(s), err));
        const qfz_status st =
            s->choice.engine->device->fetch(s->choice.devices[0], copy, s->image.valid,
                                            qfz_session_n_px(s), s->options.cuda_stream, err);
        if (st != QFZ_OK) {
            free(copy);
            return st;
        }
        s->host_valid = copy;
    }
    *valid = s->host_valid;
    return QFZ_OK;
}

/* Bit d of the joins of row y, for all d. */
static void join_row(const qfz_session *s, const uint32_t *levels, const uint8_t *valid,
                     uint32_t alpha_level, int64_t y)
{
    const int64_t h = s->image.h, w = s->image.w;
    uint8_t *const joins = s->cut_joins + y * w;
    for (int64_t x = 0; x < w; x++)
        joins[x] = 0;
    for (int d = 0; d < qfz_n_dirs(&s->rule); d++) {
        const int64_t dx = qfz_dir_dx[d], to = qfz_dir_dy[d] * w + dx;
        const uint32_t *const level = levels + (d * h + y) * w;
        if (y + qfz_dir_dy[d] >= h) continue;
        for (int64_t x = dx < 0 ? 1 : 0; x < (dx > 0 ? w - 1 : w); x++) {
            const bool there = !valid || (valid[y * w + x] && valid[y * w + x + to]);
            joins[x] |= (uint8_t)((there && level[x] <= alpha_level) << d);
        }
    }
}

static qfz_status cut_on_host(qfz_session *s, uint32_t alpha_level, const uint32_t *levels,
                              const qfz_buffers *into, qfz_error *err)
{
    qfz_image joins = s->image;
    joins.zeroed = NULL;
    joins.edges = NULL;
    uint32_t n_regions;
    joins.n_bands = 1;
    joins.type = QFZ_U8;
    QFZ_TRY(get_valid(s, &joins.valid, err));
    QFZ_TRY(qfz_session_need_labels(s, into, err));
    QFZ_TRY(need_cut_worker(s, &qfz_engine_cpu, err));
    if (!s->cut_joins) QFZ_TRY(QFZ_NEW_LARGE(&s->cut_joins, qfz_session_n_px(s), err));
    joins.pixels = s->cut_joins;
    joins.memory = QFZ_MEMORY_HOST;
#pragma omp parallel for num_threads(s->n_threads)
    for (int64_t y = 0; y < joins.h; y++)
        join_row(s, levels, joins.valid, alpha_level, y);
    QFZ_TRY(qfz_session_advance(s, 0.2, "regions", err));
    QFZ_TRY(qfz_engine_load(s->cut_engine, s->cut_worker, &joins, err));
    return qfz_session_find_regions(s, s->cut_engine, s->cut_worker, into, &n_regions, err);
}

static qfz_status cut_on_device(qfz_session *s, uint32_t alpha_level, const uint32_t *levels,
                                const qfz_buffers *into, qfz_error *err)
{
    uint32_t n_regions;
    s->has_labels = false;
    if (!s->choice.engine->device)
        return qfz_fail(err, QFZ_EARG,
                        "levels in device memory need the CUDA engine; this session uses the CPU");
    if (!levels || !into->labels)
        return qfz_fail(err, QFZ_EARG, "in device memory, a cut needs levels and labels");
    QFZ_TRY(need_cut_worker(s, s->choice.engine, err));
    QFZ_TRY(s->cut_engine->device->load_cut(s->cut_worker, &s->image, levels, alpha_level,
                                            s->options.cuda_stream, err));
    QFZ_TRY(qfz_session_advance(s, 0.2, "regions", err));
    return qfz_session_find_regions(s, s->cut_engine, s->cut_worker, into, &n_regions, err);
}

qfz_status qfz_session_cut(qfz_session *s, double alpha, const uint32_t *levels,
                           const qfz_buffers *into, qfz_error *err)
{
    qfz_error own;
    qfz_buffers buffers;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_session_get_buffers(&buffers, into, err));
    if (!(alpha >= 0))
        return qfz_fail(err, QFZ_EARG, "alpha is %g; it must be a number that is at least 0",
                        alpha);
    const uint32_t alpha_level = qfz_level_of_alpha(&s->rule, alpha);
    QFZ_TRY(qfz_session_advance(s, 0, "start", err));
    if (buffers.memory == QFZ_MEMORY_DEVICE)
        return cut_on_device(s, alpha_level, levels, &buffers, err);
    if (!levels && !s->has_levels)
        return qfz_fail(err, QFZ_EARG,
                        "the session keeps no levels; run SALIENCY first, or pass levels");
    return cut_on_host(s, alpha_level, levels ? levels : s->levels, &buffers, err);
}
