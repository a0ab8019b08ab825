/* SPDX-License-Identifier: MIT */
/* session.c - sessions are opened, closed, and asked for their results. */
#include "session/state.h"

#include <math.h>
#include <stdlib.h>

#include "core/criterion.h"
#include "core/memory.h"
#include "cpu/cpu.h"

static const int64_t px_max = (int64_t)1 << 29;
static const uint32_t infinity_level = 0x7f800000u; /* of singles */

static qfz_status check_image(const qfz_image *image, qfz_error *err)
{
    if (image->h < 1 || image->w < 1 || image->h > px_max / image->w)
        return qfz_fail(err, QFZ_EARG,
                        "an image of %lld x %lld pixels; 1 to 2^29 in all are allowed",
                        (long long)image->w, (long long)image->h);
    if (image->n_bands < 1 || image->n_bands > QFZ_MAX_BANDS)
        return qfz_fail(err, QFZ_EARG, "%d bands; 1 to %d are allowed", image->n_bands,
                        QFZ_MAX_BANDS);
    if (image->type < QFZ_U8 || image->type > QFZ_F32)
        return qfz_fail(err, QFZ_EARG, "%d is no pixel type", (int)image->type);
    if (!image->pixels) return qfz_fail(err, QFZ_EARG, "the pixels of the image are NULL");
    if (image->memory != QFZ_MEMORY_HOST && image->memory != QFZ_MEMORY_DEVICE)
        return qfz_fail(err, QFZ_EARG, "%d is no kind of memory", (int)image->memory);
    if (image->edges_are_float != 0 && (image->edges_are_float != 1 || !image->edges))
        return qfz_fail(err, QFZ_EARG, "qfz_image.edges_are_float is %d; it must be 0%s",
                        image->edges_are_float, image->edges ? " or 1" : " without edges");
    return QFZ_OK;
}

static qfz_status set_rule(qfz_session *s, const qfz_criterion *criterion, qfz_error *err)
{
    const qfz_image *const image = &s->image;
    uint32_t max_level;
    if (!image->edges)
        QFZ_TRY(qfz_criterion_spread_weights(criterion, image->n_bands, &s->weights, err));
    s->rule = (qfz_rule){.connectivity = criterion->connectivity,
                         .distance = criterion->distance,
                         .weights = s->weights,
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .edge_levels = image->edges != NULL,
                         .edges_are_float = image->edges_are_float != 0,
                         .max_edge = image->edges_are_float ? infinity_level : UINT32_MAX - 1};
    s->rule.alpha_level = qfz_top_level(&s->rule);
    QFZ_TRY(qfz_max_level(&s->rule, &max_level, err));
    s->equal = !criterion->has_alpha;
    if (criterion->has_alpha) s->rule.alpha_level = qfz_level_of_alpha(&s->rule, criterion->alpha);
    QFZ_TRY(qfz_criterion_spread_omega(criterion, image->type, image->n_bands, &s->omega, err));
    s->rule.omega = s->omega;
    return qfz_session_set_filter(s, criterion->min_area, err);
}

/* Chooses the CPU for what the CUDA engine lacks; QFZ_EARG if the session has to use CUDA. */
static qfz_status need_cpu(qfz_session *s, const char *what, qfz_error *err)
{
    qfz_session_options *const o = &s->options;
    const bool on_device = s->image.memory == QFZ_MEMORY_DEVICE;
    if (on_device || o->engine == QFZ_ENGINE_CUDA || o->gpu != 0 || o->gpu_method)
        return qfz_fail(err, QFZ_EARG,
                        "the CUDA engine cannot do %s; use engine CPU, an image in host memory, "
                        "and no gpu_method",
                        what);
    o->engine = QFZ_ENGINE_CPU;
    return QFZ_OK;
}

/* Of fewer pixels, the CPU has finished before a GPU begins: docs/dev/measurements/
 * 2026-11-27-writers.md. */
static const int64_t least_px_of_gpu = 256 * 256;

/* Device number 0 without a method is what any GPU engine offers, so AUTO and the CPU remain
 * possible; anything else, and an image in device memory, needs CUDA. */
static qfz_status choose_engine(qfz_session *s, qfz_error *err)
{
    const qfz_session_options *const o = &s->options;
    const bool on_device = s->image.memory == QFZ_MEMORY_DEVICE;
    const bool any_gpu = o->engine == QFZ_ENGINE_CPU || (o->gpu == 0 && !o->gpu_method);
    if (on_device && o->engine == QFZ_ENGINE_CPU)
        return qfz_fail(
            err, QFZ_EARG,
            "the CPU engine cannot read an image in device memory; the CUDA engine can");
    s->requested = any_gpu && !on_device ? o->engine : QFZ_ENGINE_CUDA;
    const bool is_small = (int64_t)s->image.h * s->image.w < least_px_of_gpu;
    const bool takes_cpu = s->requested == QFZ_ENGINE_AUTO && is_small;
    const qfz_device_request request = {.engine = takes_cpu ? QFZ_ENGINE_CPU : s->requested,
                                        .gpus = any_gpu ? NULL : &o->gpu,
                                        .n_gpus = 1,
                                        .method = o->gpu_method};
    QFZ_TRY(qfz_choose(&s->choice, &request, err));
    s->engine = s->choice.engine;
    return QFZ_OK;
}

static qfz_status fill(qfz_session *s, const qfz_image *image, const qfz_criterion *criterion,
                       const qfz_session_options *options, qfz_error *err)
{
    if (!criterion) return qfz_fail(err, QFZ_EARG, "the pointer to a qfz_criterion is NULL");
    QFZ_TRY(qfz_api_read(&s->image, sizeof s->image, image, "qfz_image", err));
    if (options)
        QFZ_TRY(qfz_api_read(&s->options, sizeof s->options, options, "qfz_session_options", err));
    s->n_threads = s->options.n_threads > 0 ? s->options.n_threads : 1;
    QFZ_TRY(check_image(&s->image, err));
    QFZ_TRY(qfz_criterion_check(criterion, err));
    if (s->image.zeroed) QFZ_TRY(need_cpu(s, "edges of level 0 (qfz_image.zeroed)", err));
    QFZ_TRY(choose_engine(s, err));
    return set_rule(s, criterion, err);
}

qfz_status qfz_session_open(qfz_session **session, const qfz_image *image,
                            const qfz_criterion *criterion, const qfz_session_options *options,
                            qfz_error *err)
{
    qfz_error own;
    qfz_session *s = NULL;
    err = qfz_api_error(err, &own);
    if (!session) return qfz_fail(err, QFZ_EARG, "the pointer to the session is NULL");
    QFZ_TRY(QFZ_NEW_ZERO(&s, 1, err));
    const qfz_status st = fill(s, image, criterion, options, err);
    if (st != QFZ_OK) {
        qfz_session_close(s);
        return st;
    }
    *session = s;
    return QFZ_OK;
}

void qfz_session_close(qfz_session *s)
{
    if (!s) return;
    if (s->worker) s->engine->close(&s->worker, 1);
    qfz_session_close_cut(s);
    qfz_session_close_filter(s);
    free(s->zeroed);
    qfz_exterior_fini(&s->exterior);
    free(s->omega);
    free(s->weights);
    free(s->labels);
    free(s->levels);
    free(s->parent);
    free(s->node_level);
    free(s->records);
    free(s->row_area);
    free(s->host_valid);
    free(s);
}

/* ------------------------------------------------------------------------------------ results */
const char *qfz_session_engine(const qfz_session *s)
{
    return s->engine->name;
}

uint32_t qfz_session_n_regions(const qfz_session *s)
{
    return s->n_regions;
}

const uint32_t *qfz_session_labels(const qfz_session *s, uint32_t *n_regions)
{
    if (n_regions) *n_regions = s->n_regions;
    return s->has_labels ? s->labels : NULL;
}

const uint32_t *qfz_session_saliency(const qfz_session *s)
{
    return s->has_levels ? s->levels : NULL;
}

qfz_tree qfz_session_tree(const qfz_session *s)
{
    return (qfz_tree){.n_nodes = s->n_nodes,
                      .parent = s->has_tree ? s->parent : NULL,
                      .level = s->has_tree ? s->node_level : NULL};
}

double qfz_session_level(const qfz_session *s, uint32_t level)
{
    return qfz_level_value(&s->rule, level);
}
