/* SPDX-License-Identifier: MIT */
/* run.c - the run of one part of a session: memory, worker, computation, results into buffers. */
#include <stdlib.h>

#include "core/memory.h"
#include "qfz_bench.h"
#include "session/state.h"

enum { RECORDS_BYTES = 64 << 20 };

/* ------------------------------------------------------------------------------------- worker */
static void close_worker(qfz_session *s)
{
    if (s->worker) s->engine->close(&s->worker, 1);
    s->worker = NULL;
    s->has_partition = false;
}

/* A worker of this kind that has loaded the image: the present one, or a new one. */
static qfz_status need_worker(qfz_session *s, qfz_kind kind, const qfz_rule *rule, qfz_error *err)
{
    qfz_status st;
    if (s->worker && s->kind == kind) return QFZ_OK;
    close_worker(s);
    s->kind = kind;
    s->worker_rule = *rule;
    const qfz_session_work work = {&s->worker_rule, kind, s->options.gpu_method};
    QFZ_TRY_OR(st, failed, qfz_session_open_worker(s, &work, &s->engine, &s->worker, err));
    QFZ_TRY_OR(st, failed, qfz_session_advance(s, 0.1, "load", err));
    QFZ_TRY_OR(st, failed, qfz_session_load(s, s->engine, s->worker, &s->image, err));
    return QFZ_OK;

failed:
    close_worker(s);
    return st;
}

static qfz_status check_device(const qfz_session *s, const qfz_buffers *into, const void *needed,
                               qfz_error *err)
{
    if (into->memory == QFZ_MEMORY_HOST) return QFZ_OK;
    if (!s->engine->device)
        return qfz_fail(err, QFZ_EARG,
                        "buffers in device memory need the CUDA engine; this session uses the CPU");
    if (needed) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "in device memory, the run needs a buffer for its result");
}

/* ------------------------------------------------------------------------------------- memory */
static qfz_status need_words(uint32_t **words, int64_t n, qfz_error *err)
{
    return *words ? QFZ_OK : QFZ_NEW_LARGE(words, n, err);
}

qfz_status qfz_session_need_labels(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    s->has_labels = false;
    if (into->memory == QFZ_MEMORY_DEVICE || into->labels) return QFZ_OK;
    return need_words(&s->labels, qfz_session_n_px(s), err);
}

static qfz_status need_records(qfz_session *s, qfz_error *err)
{
    const int words = qfz_record_words(s->image.type, s->image.n_bands);
    if (s->records && s->row_area) return QFZ_OK;
    s->records_room = RECORDS_BYTES / (words * (int64_t)sizeof(uint64_t)) + 1;
    if (s->records_room > qfz_session_n_px(s)) s->records_room = qfz_session_n_px(s);
    if (!s->records) QFZ_TRY(QFZ_NEW(&s->records, s->records_room * words, err));
    QFZ_TRY(QFZ_NEW(&s->row_area, s->image.h, err));
    for (int64_t y = 0; y < s->image.h; y++)
        s->row_area[y] = 1;
    return QFZ_OK;
}

/* Words that the tree of this engine needs in each buffer. */
static int64_t tree_words(const qfz_session *s)
{
    return s->engine->tree_room ? s->engine->tree_room(&s->worker_rule, s->image.h, s->image.w)
                                : 2 * qfz_session_n_px(s);
}

static qfz_status need_tree(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    s->has_tree = false;
    s->n_nodes = 0;
    if (!into->tree_parent != !into->tree_level)
        return qfz_fail(err, QFZ_EARG, "tree_parent and tree_level: one of them is NULL");
    if (!into->tree_parent && into->memory == QFZ_MEMORY_HOST) {
        QFZ_TRY(need_words(&s->parent, qfz_session_tree_room(s), err));
        return need_words(&s->node_level, qfz_session_tree_room(s), err);
    }
    if (into->tree_parent && into->tree_room < tree_words(s))
        return qfz_fail(err, QFZ_EARG, "tree_room is %lld; the tree needs %lld",
                        (long long)into->tree_room, (long long)tree_words(s));
    return QFZ_OK;
}

static qfz_status need_levels(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    s->has_levels = false;
    if (into->memory == QFZ_MEMORY_DEVICE || into->levels) return QFZ_OK;
    return need_words(&s->levels, qfz_n_dirs(&s->rule) * qfz_session_n_px(s), err);
}

/* ---------------------------------------------------------------------- summaries (qfz_bench.h) */
static qfz_status summarise(qfz_session *s, qfz_summary *summary, qfz_error *err)
{
    const qfz_box box = {.y1 = s->image.h, .x1 = s->image.w};
    if (s->image.memory == QFZ_MEMORY_DEVICE)
        return qfz_fail(err, QFZ_EARG, "summaries are made of images in host memory only");
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

/* An exterior that changes nothing, as large as a real one: the image's own links. */
static qfz_status need_exterior(qfz_session *s, qfz_error *err)
{
    if (s->exterior.n_ring) return QFZ_OK;
    qfz_summary summary = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, summarise(s, &summary, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&s->exterior.cross_has, summary.n_ring, err));
    s->exterior.n_ring = summary.n_ring;
    s->exterior.external = summary.links;
    summary.links = (qfz_links){0};

cleanup:
    qfz_summary_fini(&summary);
    return st;
}

/* -------------------------------------------------------------------------------------- parts */
static qfz_status prepare_labels(qfz_session *s, qfz_part part, const qfz_buffers *into,
                                 qfz_error *err)
{
    const qfz_kind kind = part == QFZ_PART_ALPHA_OMEGA ? QFZ_OMEGA : QFZ_COMPONENTS;
    qfz_rule rule = s->rule;
    if (kind == QFZ_COMPONENTS && s->equal && rule.edge_levels)
        return qfz_fail(err, QFZ_EARG, "labels from levels of edges need alpha");
    if (kind == QFZ_COMPONENTS && s->equal) {
        rule.alpha_level = 0;
        if (!s->zeroed) { /* equal values join whatever the distance is */
            rule.distance = QFZ_LINF;
            rule.weights = NULL;
        }
    }
    s->has_partition = false;
    QFZ_TRY(qfz_session_need_labels(s, into, err));
    if (part == QFZ_PART_FEATURES) QFZ_TRY(need_records(s, err));
    QFZ_TRY(need_worker(s, kind, &rule, err));
    return check_device(s, into, into->labels, err);
}

static qfz_status prepare_tree(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    qfz_rule rule = s->rule;
    rule.alpha_level = qfz_top_level(&rule);
    if (s->image.zeroed)
        return qfz_fail(err, QFZ_EARG,
                        "the tree has no filter; set qfz_criterion.min_area to 0, and "
                        "qfz_image.zeroed to NULL");
    QFZ_TRY(need_worker(s, QFZ_TREE, &rule, err));
    QFZ_TRY(need_tree(s, into, err));
    return check_device(s, into, into->tree_parent, err);
}

static qfz_status prepare_levels(qfz_session *s, qfz_part part, const qfz_buffers *into,
                                 qfz_error *err)
{
    qfz_rule rule = s->rule;
    rule.alpha_level = qfz_top_level(&rule);
    QFZ_TRY(need_levels(s, into, err));
    QFZ_TRY(need_worker(s, QFZ_LEVELS, &rule, err));
    if (part == QFZ_PART_RESOLVE) QFZ_TRY(need_exterior(s, err));
    return check_device(s, into, into->levels, err);
}

qfz_status qfz_session_prepare(qfz_session *s, qfz_part part, const qfz_buffers *into,
                               qfz_error *err)
{
    QFZ_TRY(qfz_session_advance(s, 0, "start", err));
    if (part == QFZ_PART_FILTER) s->has_zeroed = false;
    if (part != QFZ_PART_TREE) QFZ_TRY(qfz_session_prepare_filter(s, err));
    switch ((int)part) {
    case QFZ_PART_FILTER: return QFZ_OK;
    case QFZ_PART_LABEL:
    case QFZ_PART_ALPHA_OMEGA:
    case QFZ_PART_FEATURES: return prepare_labels(s, part, into, err);
    case QFZ_PART_TREE: return prepare_tree(s, into, err);
    case QFZ_PART_SALIENCY:
    case QFZ_PART_RESOLVE:
    case QFZ_PART_LOCAL:
    case QFZ_PART_MERGED:
    case QFZ_PART_FLATTENED:
    case QFZ_PART_SUMMARISE: return prepare_levels(s, part, into, err);
    default: return qfz_fail(err, QFZ_EARG, "%d is no part of the work", (int)part);
    }
}

qfz_status qfz_session_find_regions(qfz_session *s, const qfz_engine *engine, qfz_worker *worker,
                                    const qfz_buffers *into, uint32_t *n_regions, qfz_error *err)
{
    qfz_partition partition;
    QFZ_TRY(engine->partition(worker, NULL, &partition, err));
    *n_regions = partition.n_regions;
    QFZ_TRY(qfz_session_advance(s, 0.7, "labels", err));
    QFZ_TRY(engine->number(worker, NULL, err));
    if (into->memory == QFZ_MEMORY_DEVICE)
        QFZ_TRY(engine->device->labels(worker, into->labels, s->options.cuda_stream, err));
    else
        QFZ_TRY(engine->labels(worker, false, into->labels ? into->labels : s->labels, err));
    s->n_regions = *n_regions;
    s->has_labels = into->memory == QFZ_MEMORY_HOST && !into->labels;
    return QFZ_OK;
}

static qfz_status run_labels(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    QFZ_TRY(qfz_session_advance(s, 0.2, "regions", err));
    QFZ_TRY(qfz_session_find_regions(s, s->engine, s->worker, into, &s->n_partition, err));
    s->has_partition = true;
    s->n_records = 0;
    return QFZ_OK;
}

qfz_status qfz_session_records(qfz_session *s, int64_t first, int64_t n, uint64_t **at,
                               int64_t *n_there, qfz_error *err)
{
    const qfz_box box = {.y1 = s->image.h, .x1 = s->image.w};
    const int words = qfz_record_words(s->image.type, s->image.n_bands);
    int64_t end = s->records_first + s->n_records;
    QFZ_TRY(need_records(s, err));
    if (first < s->records_first || first >= end) {
        s->n_records = 0;
        const int64_t part = n < s->records_room ? n : s->records_room;
        QFZ_TRY(s->engine->features(s->worker, box, s->row_area, (uint32_t)first, (uint32_t)part,
                                    s->records, err));
        s->records_first = first;
        s->n_records = part;
        end = first + part;
    }
    *at = s->records + (first - s->records_first) * words;
    *n_there = end - first < n ? end - first : n;
    return QFZ_OK;
}

/* All records pass through the room for them; the first that fit stay, for the caller to read. */
static qfz_status run_features(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    QFZ_TRY(run_labels(s, into, err));
    for (int64_t left = s->n_partition, n; left > 0; left -= n) {
        uint64_t *records;
        const int64_t first = left > s->records_room ? left - s->records_room : 0;
        QFZ_TRY(qfz_session_advance(s, 0.95, "features", err));
        QFZ_TRY(qfz_session_records(s, first, left - first, &records, &n, err));
    }
    return QFZ_OK;
}

static qfz_status run_tree(qfz_session *s, const qfz_buffers *into, qfz_error *err)
{
    uint32_t *const parent = into->tree_parent ? into->tree_parent : s->parent;
    uint32_t *const level = into->tree_level ? into->tree_level : s->node_level;
    QFZ_TRY(qfz_session_advance(s, 0.2, "tree", err));
    if (into->memory == QFZ_MEMORY_DEVICE)
        return s->engine->device->tree(s->worker, parent, level, &s->n_nodes,
                                       s->options.cuda_stream, err);
    QFZ_TRY(s->engine->tree(s->worker, parent, level, &s->n_nodes, err));
    s->has_tree = !into->tree_parent;
    return QFZ_OK;
}

static qfz_status run_levels(qfz_session *s, const qfz_exterior *exterior, const qfz_buffers *into,
                             qfz_error *err)
{
    uint32_t *const levels = into->levels ? into->levels : s->levels;
    QFZ_TRY(qfz_session_advance(s, 0.2, "saliency", err));
    if (into->memory == QFZ_MEMORY_DEVICE)
        return s->engine->device->saliency(s->worker, levels, s->options.cuda_stream, err);
    QFZ_TRY(s->engine->saliency(s->worker, exterior, (int)sizeof *levels, levels, err));
    s->has_levels = !into->levels;
    return QFZ_OK;
}

qfz_status qfz_session_compute(qfz_session *s, qfz_part part, const qfz_buffers *into,
                               qfz_error *err)
{
    if (part != QFZ_PART_TREE) QFZ_TRY(qfz_session_filter(s, err));
    switch ((int)part) {
    case QFZ_PART_FILTER: return QFZ_OK;
    case QFZ_PART_FEATURES: return run_features(s, into, err);
    case QFZ_PART_TREE: return run_tree(s, into, err);
    case QFZ_PART_LOCAL: /* phases are apart by the clock of a device only */
    case QFZ_PART_MERGED:
    case QFZ_PART_FLATTENED:
    case QFZ_PART_SALIENCY: return run_levels(s, NULL, into, err);
    case QFZ_PART_RESOLVE: return run_levels(s, &s->exterior, into, err);
    case QFZ_PART_SUMMARISE: return run_summary(s, err);
    default: return run_labels(s, into, err);
    }
}

qfz_status qfz_session_run(qfz_session *s, qfz_part part, const qfz_buffers *into, qfz_error *err)
{
    qfz_error own;
    qfz_buffers buffers;
    err = qfz_api_error(err, &own);
    if (part < QFZ_PART_LABEL || part > QFZ_PART_FEATURES)
        return qfz_fail(err, QFZ_EARG, "%d is no qfz_part", (int)part);
    QFZ_TRY(qfz_session_get_buffers(&buffers, into, err));
    QFZ_TRY(qfz_session_prepare(s, part, &buffers, err));
    QFZ_TRY(qfz_session_compute(s, part, &buffers, err));
    qfz_session_close_filter(s);
    const qfz_progress all = {.struct_size = sizeof all, .done = 1, .step = "end"};
    if (s->options.progress) (void)s->options.progress(&all, s->options.progress_arg);
    return QFZ_OK;
}
