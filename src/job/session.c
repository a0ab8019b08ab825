/* SPDX-License-Identifier: MIT */
/* session.c - the public way in for one image in memory. */
#include <stdlib.h>
#include <string.h>

#include "job/engine_choice.h"
#include "gpu/gpu.h"
#include "core/memory.h"
#include "core/criterion.h"
#include "core/clock.h"

struct qfz_session {
    qfz_image image;
    qfz_rule rule;
    double *omega;
    bool equal; /* LABEL joins equal values only */
    int n_threads;
    qfz_choice choice;
    qfz_engine_choice requested;
    const qfz_engine *engine; /* of the worker: what was chosen, if it can do this kind of work */
    const char *method;

    qfz_worker *worker;
    qfz_kind kind;        /* of the worker */
    qfz_rule worker_rule; /* what the worker borrows */

    qfz_exterior answer; /* of RESOLVE: the image's own summary, as if it came from outside */
    uint32_t n_regions;
    uint32_t *labels;
    uint32_t *keys;
    uint32_t *parent, *level;
    int64_t n_nodes;
    uint64_t *records, *row_area; /* of FEATURES: as many as fit at a time */
    int64_t records_n;
};

static const int64_t px_max = (int64_t)1 << 29;
enum { RECORDS_BYTES = 64 << 20 };

static qfz_status check_image(const qfz_image *image, const qfz_criterion *criterion,
                              qfz_error *err)
{
    if (image->h < 1 || image->w < 1 || image->h > px_max / image->w)
        return qfz_fail(err, QFZ_EARG,
                        "an image of %lld x %lld pixels; 1 to 2^29 in all are allowed",
                        (long long)image->w, (long long)image->h);
    if (image->n_bands < 1 || image->n_bands > QFZ_MAX_BANDS)
        return qfz_fail(err, QFZ_EARG, "%d bands; 1 to %d are allowed", image->n_bands,
                        QFZ_MAX_BANDS);
    return qfz_criterion_check(criterion, err);
}

static qfz_status set_rule(qfz_session *s, const qfz_criterion *criterion, qfz_error *err)
{
    const qfz_image *const image = &s->image;
    uint32_t max_level;
    s->rule = (qfz_rule){.connectivity = criterion->connectivity,
                         .distance = criterion->distance,
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .alpha_level = UINT32_MAX};
    QFZ_TRY(qfz_max_level(image->type, image->n_bands, criterion->distance, &max_level, err));
    s->equal = !criterion->has_alpha;
    if (criterion->has_alpha)
        s->rule.alpha_level =
            qfz_level_of_alpha(image->type, criterion->distance, criterion->alpha);
    QFZ_TRY(qfz_criterion_spread_omega(criterion, image->n_bands, &s->omega, err));
    s->rule.omega = s->omega;
    return QFZ_OK;
}

qfz_status qfz_session_open(qfz_session **out, const qfz_image *image,
                            const qfz_criterion *criterion, const qfz_session_options *options,
                            qfz_error *err)
{
    static const qfz_session_options usual = {0};
    const qfz_session_options *const o = options ? options : &usual;
    qfz_session *s = NULL;
    err->status = QFZ_OK;
    QFZ_TRY(check_image(image, criterion, err));
    const bool any_gpu = o->engine == QFZ_ENGINE_CPU || (o->gpu == 0 && !o->gpu_method);
    const qfz_device_request request = {.engine = o->engine,
                                        .gpus = any_gpu ? NULL : &o->gpu,
                                        .n_gpus = 1,
                                        .method = o->gpu_method};
    qfz_choice choice;
    QFZ_TRY(qfz_choose(&choice, &request, err));
    QFZ_TRY(QFZ_NEW_ZERO(&s, 1, err));
    s->image = *image;
    s->choice = choice;
    s->requested = any_gpu ? o->engine : QFZ_ENGINE_CUDA;
    s->engine = choice.engine;
    s->method = o->gpu_method;
    s->n_threads = o->n_threads > 0 ? o->n_threads : 1;
    const qfz_status st = set_rule(s, criterion, err);
    if (st != QFZ_OK) {
        qfz_session_close(s);
        return st;
    }
    *out = s;
    return QFZ_OK;
}

static void close_worker(qfz_session *s)
{
    if (s->worker) s->engine->close(&s->worker, 1);
    s->worker = NULL;
}

void qfz_session_close(qfz_session *s)
{
    if (!s) return;
    close_worker(s);
    qfz_exterior_fini(&s->answer);
    free(s->omega);
    free(s->labels);
    free(s->keys);
    free(s->parent);
    free(s->level);
    free(s->records);
    free(s->row_area);
    free(s);
}

const char *qfz_session_engine(const qfz_session *s)
{
    return s->engine->name;
}

static qfz_status open_worker(qfz_session *s, qfz_choice *choice, qfz_error *err)
{
    const qfz_worker_spec spec = {.rule = &s->worker_rule,
                                  .kind = s->kind,
                                  .max_h = (int32_t)s->image.h,
                                  .max_w = (int32_t)s->image.w,
                                  .n_threads = s->n_threads,
                                  .device = choice->devices[0],
                                  .method = s->method};
    s->engine = choice->engine;
    return s->engine->open(&s->worker, 1, &spec, err);
}

/* One worker at a time, kept as long as the same kind of part is asked for.  A device may not start
 * when it comes to that. */
static qfz_status need_worker(qfz_session *s, qfz_kind kind, const qfz_rule *rule, qfz_error *err)
{
    if (s->worker && s->kind == kind) return QFZ_OK;
    close_worker(s);
    qfz_choice choice = s->choice;
    QFZ_TRY(qfz_choice_settle(&choice, s->requested, rule, kind, err));
    s->kind = kind;
    s->worker_rule = *rule;
    qfz_status st = open_worker(s, &choice, err);
    if (st == QFZ_EGPU && s->requested == QFZ_ENGINE_AUTO) {
        qfz_choose_cpu(&choice, err);
        err->status = QFZ_OK;
        st = open_worker(s, &choice, err);
    }
    return st == QFZ_OK ? qfz_engine_load(s->engine, s->worker, &s->image, err) : st;
}

static qfz_status need_words(uint32_t **words, int64_t n, qfz_error *err)
{
    return *words ? QFZ_OK : QFZ_NEW_LARGE(words, n, err);
}

static int64_t n_px(const qfz_session *s)
{
    return s->image.h * s->image.w;
}

static qfz_status summarise(qfz_session *s, qfz_summary *summary, qfz_error *err)
{
    const qfz_box box = {.y1 = s->image.h, .x1 = s->image.w};
    QFZ_TRY(qfz_summary_init(summary, box, &s->worker_rule, err));
    return s->engine->summarise(s->worker, summary, err);
}

static qfz_status run_summary(qfz_session *s, qfz_error *err)
{
    qfz_summary summary = {0};
    const qfz_status st = summarise(s, &summary, err);
    qfz_summary_fini(&summary);
    return st;
}

/* An answer that changes nothing, as large as a real one: the links that the image has anyhow. */
static qfz_status prepare_answer(qfz_session *s, qfz_error *err)
{
    if (s->answer.n_ring) return QFZ_OK;
    qfz_summary summary = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, summarise(s, &summary, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&s->answer.cross_has, summary.n_ring, err));
    s->answer.n_ring = summary.n_ring;
    s->answer.external = summary.links;
    summary.links = (qfz_links){0};

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

static qfz_status need_records(qfz_session *s, qfz_error *err)
{
    const int words = qfz_record_words(s->image.type, s->image.n_bands);
    if (s->records) return QFZ_OK;
    s->records_n = RECORDS_BYTES / (words * (int64_t)sizeof(uint64_t)) + 1;
    if (s->records_n > n_px(s)) s->records_n = n_px(s);
    QFZ_TRY(QFZ_NEW(&s->records, s->records_n * words, err));
    QFZ_TRY(QFZ_NEW(&s->row_area, s->image.h, err));
    for (int64_t y = 0; y < s->image.h; y++)
        s->row_area[y] = 1;
    return QFZ_OK;
}

static int64_t tree_room(const qfz_session *s, const qfz_rule *rule)
{
    return s->engine->tree_room ? s->engine->tree_room(rule, s->image.h, s->image.w) : 2 * n_px(s);
}

/* Memory for a part, taken before its time is measured. */
static qfz_status prepare(qfz_session *s, qfz_part part, qfz_error *err)
{
    qfz_rule rule = s->rule;
    switch (part) {
    case QFZ_PART_FEATURES: QFZ_TRY(need_records(s, err)); /* fall through */
    case QFZ_PART_LABEL:
        if (s->equal) {
            rule.distance = QFZ_LINF;
            rule.alpha_level = 0;
        }
        QFZ_TRY(need_words(&s->labels, n_px(s), err));
        return need_worker(s, QFZ_COMPONENTS, &rule, err);
    case QFZ_PART_ALPHA_OMEGA:
        QFZ_TRY(need_words(&s->labels, n_px(s), err));
        return need_worker(s, QFZ_OMEGA, &rule, err);
    case QFZ_PART_TREE:
        rule.alpha_level = UINT32_MAX;
        QFZ_TRY(need_words(&s->parent, tree_room(s, &rule), err));
        QFZ_TRY(need_words(&s->level, tree_room(s, &rule), err));
        return need_worker(s, QFZ_TREE, &rule, err);
    case QFZ_PART_SALIENCY:
    case QFZ_PART_RESOLVE:
    case QFZ_PART_SUMMARISE:
        rule.alpha_level = UINT32_MAX;
        QFZ_TRY(need_words(&s->keys, qfz_n_dirs(&rule) * n_px(s), err));
        QFZ_TRY(need_worker(s, QFZ_LEVELS, &rule, err));
        return part == QFZ_PART_RESOLVE ? prepare_answer(s, err) : QFZ_OK;
    }
    return qfz_fail(err, QFZ_EARG, "no such part: %d", (int)part);
}

static qfz_status run_labels(qfz_session *s, qfz_error *err)
{
    qfz_partition partition;
    QFZ_TRY(s->engine->partition(s->worker, NULL, &partition, err));
    s->n_regions = partition.n_regions;
    QFZ_TRY(s->engine->number(s->worker, NULL, err));
    return s->engine->labels(s->worker, false, s->labels, err);
}

static qfz_status run_features(qfz_session *s, qfz_error *err)
{
    const qfz_box box = {.y1 = s->image.h, .x1 = s->image.w};
    QFZ_TRY(run_labels(s, err));
    for (int64_t first = 0; first < s->n_regions; first += s->records_n) {
        const int64_t left = s->n_regions - first;
        QFZ_TRY(s->engine->features(s->worker, box, s->row_area, (uint32_t)first,
                                    (uint32_t)(left < s->records_n ? left : s->records_n),
                                    s->records, err));
    }
    return QFZ_OK;
}

static qfz_status run_part(qfz_session *s, qfz_part part, qfz_error *err)
{
    switch (part) {
    case QFZ_PART_LABEL:
    case QFZ_PART_ALPHA_OMEGA: return run_labels(s, err);
    case QFZ_PART_FEATURES: return run_features(s, err);
    case QFZ_PART_TREE: return s->engine->tree(s->worker, s->parent, s->level, &s->n_nodes, err);
    case QFZ_PART_SALIENCY:
        return s->engine->saliency(s->worker, NULL, (int)sizeof *s->keys, s->keys, err);
    case QFZ_PART_RESOLVE:
        return s->engine->saliency(s->worker, &s->answer, (int)sizeof *s->keys, s->keys, err);
    case QFZ_PART_SUMMARISE: return run_summary(s, err);
    }
    return QFZ_OK;
}

qfz_status qfz_session_run(qfz_session *s, qfz_part part, double *ms, qfz_error *err)
{
    err->status = QFZ_OK;
    QFZ_TRY(prepare(s, part, err));
    const double started = qfz_seconds_now();
    QFZ_TRY(run_part(s, part, err));
    *ms = 1e3 * (qfz_seconds_now() - started);
    return QFZ_OK;
}

qfz_status qfz_session_time(qfz_session *s, qfz_part part, int n_runs, double *ms, qfz_error *err)
{
    double warm_ms;
    err->status = QFZ_OK;
    QFZ_TRY(prepare(s, part, err));
    if (s->engine->device) return s->engine->device->time(s->worker, part, n_runs, ms, err);
    QFZ_TRY(qfz_session_run(s, part, &warm_ms, err));
    for (int i = 0; i < n_runs; i++)
        QFZ_TRY(qfz_session_run(s, part, &ms[i], err));
    return QFZ_OK;
}

int64_t qfz_session_gpu_bytes(const qfz_session *s)
{
    return s->worker && s->engine->device ? s->engine->device->bytes(s->worker) : 0;
}

qfz_status qfz_gpu_copy_rate(int gpu, double *bytes_per_s, qfz_error *err)
{
    err->status = QFZ_OK;
    return qfz_gpu_measure_copy(gpu, bytes_per_s, err);
}

const uint32_t *qfz_session_labels(const qfz_session *s, uint32_t *n_regions)
{
    *n_regions = s->n_regions;
    return s->labels;
}

const uint32_t *qfz_session_saliency(const qfz_session *s)
{
    return s->keys;
}

qfz_tree qfz_session_tree(const qfz_session *s)
{
    return (qfz_tree){.n_nodes = s->n_nodes, .parent = s->parent, .level = s->level};
}

double qfz_session_level(const qfz_session *s, uint32_t key)
{
    return qfz_level_value(s->rule.type, s->rule.distance, key);
}
