/* SPDX-License-Identifier: MIT */
/* engine_cpu.c - the engine on processor cores; the definition of right. */
#include <stdlib.h>
#include <string.h>

#include "cpu/contract_omega.h"
#include "cpu/cpu.h"
#include "engine.h"
#include "memory.h"

struct qfz_worker {
    const qfz_rule *rule;
    qfz_kind kind;
    int n_threads;
    qfz_image tile; /* borrowed pixels */

    void *scratch; /* of components and tree */

    qfz_contraction contraction; /* QFZ_LEVELS */
    qfz_omega_contraction omega; /* QFZ_OMEGA */
    uint32_t *mark;              /* of vertices */

    /* QFZ_COMPONENTS, QFZ_OMEGA: regions */
    uint32_t n_regions, n_slots;
    uint32_t *label; /* 1.., 0 invalid */
    uint32_t *first, *count;
    uint32_t *slot_region;
    uint32_t *slot_of; /* per region; QFZ_NONE: not on the ring */
};

static void worker_close(qfz_worker *worker)
{
    if (!worker) return;
    free(worker->scratch);
    qfz_contraction_fini(&worker->contraction);
    qfz_omega_contraction_fini(&worker->omega);
    free(worker->mark);
    free(worker->label);
    free(worker->first);
    free(worker->count);
    free(worker->slot_region);
    free(worker->slot_of);
    free(worker);
}

/* The longest ring of any tile that fits into h x w. */
static int64_t most_ring(int64_t h, int64_t w)
{
    return 2 * (h + w);
}

static qfz_status open_regions(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&worker->label, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->first, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->count, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->slot_of, h * w, err));
    return QFZ_NEW(&worker->slot_region, most_ring(h, w), err);
}

static qfz_status open_contraction(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(qfz_contraction_init(&worker->contraction, worker->rule, h, w, QFZ_BLOCK_SIDE,
                                 worker->n_threads, err));
    return QFZ_NEW(&worker->mark, worker->contraction.max_vertices, err);
}

static qfz_status open_kind(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    const int n_threads = worker->n_threads;
    switch (worker->kind) {
    case QFZ_COMPONENTS:
        QFZ_TRY(qfz_alloc(&worker->scratch, 1, qfz_components_bytes(worker->rule, h, w, n_threads),
                          err));
        return open_regions(worker, h, w, err);
    case QFZ_LEVELS: return open_contraction(worker, h, w, err);
    case QFZ_OMEGA:
        QFZ_TRY(qfz_omega_contraction_init(&worker->omega, worker->rule, h, w, QFZ_BLOCK_SIDE,
                                           n_threads, err));
        QFZ_TRY(QFZ_NEW(&worker->mark, worker->omega.c.max_vertices, err));
        return open_regions(worker, h, w, err);
    case QFZ_TREE:
        return qfz_alloc(&worker->scratch, 1, qfz_tree_bytes(worker->rule, h, w, n_threads), err);
    }
    return QFZ_OK;
}

static qfz_status worker_open(qfz_worker **out, const qfz_worker_spec *spec, qfz_error *err)
{
    qfz_worker *worker = NULL;
    if (spec->method)
        return qfz_fail(err, QFZ_EARG, "method %s belongs to the CUDA engine", spec->method);
    QFZ_TRY(QFZ_NEW_ZERO(&worker, 1, err));
    worker->rule = spec->rule;
    worker->kind = spec->kind;
    worker->n_threads = spec->n_threads;
    const qfz_status st = open_kind(worker, spec->max_h, spec->max_w, err);
    if (st != QFZ_OK) {
        worker_close(worker);
        return st;
    }
    *out = worker;
    return QFZ_OK;
}

static int64_t bytes_per_px(const qfz_rule *rule, qfz_kind kind)
{
    const int64_t side = 1024; /* big enough that the borders' share is small */
    const int64_t regions = 4 * 4;
    const int64_t pixels = side * side;
    switch (kind) {
    case QFZ_COMPONENTS:
        return regions + (int64_t)qfz_components_bytes(rule, side, side, 1) / pixels + 1;
    case QFZ_LEVELS: return qfz_contraction_bytes(rule, side, side) / pixels + 2;
    case QFZ_OMEGA: return qfz_omega_contraction_bytes(rule, side, side) / pixels + 2 + regions;
    case QFZ_TREE: return 16 + (int64_t)qfz_tree_bytes(rule, side, side, 1) / pixels + 1;
    }
    return 0;
}

static qfz_status load(qfz_worker *worker, const qfz_image *tile, qfz_error *err)
{
    (void)err;
    worker->tile = *tile;
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------- summaries */
static qfz_status summarise_components(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    const qfz_image *const tile = &worker->tile;
    QFZ_TRY(QFZ_NEW(&summary->slot, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        const uint32_t region = worker->label[y * tile->w + x];
        summary->slot[i] = region ? worker->slot_of[region - 1] : QFZ_NONE;
    }
    summary->n_slots = worker->n_slots;
    return QFZ_OK;
}

static qfz_status summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    qfz_summary_take_ring(summary, &worker->tile);
    if (worker->kind == QFZ_COMPONENTS) return summarise_components(worker, summary, err);
    QFZ_TRY(qfz_links_reserve(&summary->links, summary->n_ring, err));
    if (worker->kind == QFZ_OMEGA)
        return qfz_omega_contraction_summarise(&worker->omega, &worker->tile, worker->mark, summary,
                                               err);
    qfz_contract(&worker->contraction, &worker->tile, true);
    qfz_contraction_summarise(&worker->contraction, summary->valid, worker->mark, &summary->links);
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ regions */
/* Regions that touch the ring, in the order in which they appear there, are the slots. */
static void number_slots(qfz_worker *worker)
{
    const qfz_image *const tile = &worker->tile;
    const int64_t n_ring = qfz_ring_size(tile->h, tile->w);
    memset(worker->slot_of, 0xff, worker->n_regions * sizeof *worker->slot_of);
    worker->n_slots = 0;
    for (int64_t i = 0; i < n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        const uint32_t region = worker->label[y * tile->w + x];
        if (!region || worker->slot_of[region - 1] != QFZ_NONE) continue;
        worker->slot_of[region - 1] = worker->n_slots;
        worker->slot_region[worker->n_slots++] = region - 1;
    }
}

static void find_components(qfz_worker *worker)
{
    qfz_components(&worker->tile, worker->rule, worker->n_threads, worker->scratch, worker->label,
                   worker->first, worker->count, &worker->n_regions);
    number_slots(worker);
}

/* What labels name become region numbers, in order of first pixels; names of one slot are one
 * region.  at_name holds a region, or, marked by the high bit, a slot. */
static void number_regions(qfz_worker *worker, uint32_t *at_name)
{
    const uint32_t is_slot = 1u << 31;
    const qfz_image *const tile = &worker->tile;
    uint32_t n = 0;
    for (int64_t px = 0; px < tile->h * tile->w; px++) {
        if (tile->valid && !tile->valid[px]) {
            worker->label[px] = 0;
            continue;
        }
        uint32_t *at = &at_name[worker->label[px]];
        if (*at != QFZ_NONE && (*at & is_slot)) at = &worker->slot_region[*at & ~is_slot];
        if (*at == QFZ_NONE) {
            worker->first[n] = (uint32_t)px;
            worker->count[n] = 0;
            *at = n++;
        }
        worker->count[*at]++;
        worker->label[px] = *at + 1;
    }
    worker->n_regions = n;
}

static qfz_status find_omega_regions(qfz_worker *worker, const qfz_answer *answer, qfz_error *err)
{
    const qfz_image *const tile = &worker->tile;
    QFZ_TRY(qfz_omega_contraction_regions(&worker->omega, tile, answer ? answer->holds_to : NULL,
                                          worker->label, err));
    uint32_t *const at_name = worker->omega.c.level; /* of no more use */
    memset(at_name, 0xff, (size_t)(tile->h * tile->w) * sizeof *at_name);
    worker->n_slots = answer ? answer->n_slots : 0;
    memset(worker->slot_region, 0xff, worker->n_slots * sizeof *worker->slot_region);
    for (int64_t i = 0; answer && i < answer->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        if (answer->slot[i] != QFZ_NONE)
            at_name[worker->label[y * tile->w + x]] = answer->slot[i] | 1u << 31;
    }
    number_regions(worker, at_name);
    return QFZ_OK;
}

static qfz_status partition(qfz_worker *worker, const qfz_answer *answer, qfz_partition *out,
                            qfz_error *err)
{
    if (worker->kind == QFZ_COMPONENTS)
        find_components(worker);
    else
        QFZ_TRY(find_omega_regions(worker, answer, err));
    *out = (qfz_partition){.n_regions = worker->n_regions,
                           .first = worker->first,
                           .count = worker->count,
                           .n_slots = worker->n_slots,
                           .slot_region = worker->slot_region};
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ results */
/* Is lut what the regions of a whole raster have, 1, 2, 3 ...? */
static bool keeps_numbers(const uint64_t *lut, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        if (lut[r] != (uint64_t)r + 1) return false;
    return true;
}

static void copy_labels(const uint32_t *label, int64_t n, const uint64_t *lut, uint32_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] ? (uint32_t)lut[label[i] - 1] : 0;
}

static void copy_wide_labels(const uint32_t *label, int64_t n, const uint64_t *lut, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] ? lut[label[i] - 1] : 0;
}

static qfz_status labels(qfz_worker *worker, const uint64_t *lut, bool wide, void *out,
                         qfz_error *err)
{
    (void)err;
    const int64_t h = worker->tile.h, w = worker->tile.w;
    const uint32_t *const label = worker->label;
    const bool keeps = !wide && keeps_numbers(lut, worker->n_regions);
    const int n_threads = h * w < QFZ_BLOCK_PX ? 1 : worker->n_threads;
#pragma omp parallel for num_threads(n_threads)
    for (int64_t y = 0; y < h; y++) {
        if (wide)
            copy_wide_labels(label + y * w, w, lut, (uint64_t *)out + y * w);
        else if (keeps)
            memcpy((uint32_t *)out + y * w, label + y * w, (size_t)w * sizeof *label);
        else
            copy_labels(label + y * w, w, lut, (uint32_t *)out + y * w);
    }
    return QFZ_OK;
}

static qfz_status sums(qfz_worker *worker, int band, uint64_t *out, qfz_error *err)
{
    (void)err;
    const qfz_image *const tile = &worker->tile;
    const int64_t n = tile->h * tile->w;
    const size_t band_bytes = (size_t)n * qfz_type_bytes(tile->type);
    const size_t words = worker->n_regions * (size_t)qfz_sum_words(tile->type);
    memset(out, 0, words * sizeof *out);
    qfz_sum_add_regions(out, tile->type, (const char *)tile->pixels + (size_t)band * band_bytes,
                        worker->label, n);
    return QFZ_OK;
}

static qfz_status features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                           uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err)
{
    (void)err;
    const qfz_image *const tile = &worker->tile;
    const int words = qfz_record_words(tile->type, tile->n_bands);
    for (uint32_t r = 0; r < n; r++)
        qfz_record_clear(qfz_record_at(records, words, r), tile->type, tile->n_bands);
    for (int64_t i = 0; i < tile->h * tile->w; i++) {
        const uint32_t region = worker->label[i] - 1; /* 0, invalid, becomes the greatest */
        if (region < first_region || region - first_region >= n) continue;
        const int64_t y = i / tile->w, x = i % tile->w;
        qfz_record_add_pixel(qfz_record_at(records, words, region - first_region), tile, i,
                             box.y0 + y, box.x0 + x, row_area[y]);
    }
    return QFZ_OK;
}

#define PAINT(TYPE)                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((TYPE *)out)[i] = label[i] ? ((const TYPE *)lut)[label[i] - 1] : *(const TYPE *)invalid

static qfz_status paint(qfz_worker *worker, const void *lut, const void *invalid, void *out,
                        qfz_error *err)
{
    (void)err;
    const int64_t n = worker->tile.h * worker->tile.w;
    const uint32_t *const label = worker->label;
    switch (qfz_type_bytes(worker->tile.type)) {
    case 1: PAINT(uint8_t); break;
    case 2: PAINT(uint16_t); break;
    default: PAINT(uint32_t); break;
    }
    return QFZ_OK;
}

static qfz_status saliency(qfz_worker *worker, const qfz_answer *answer, uint32_t *keys,
                           qfz_error *err)
{
    (void)err;
    qfz_contraction *const c = &worker->contraction;
    qfz_contract(c, &worker->tile, answer != NULL);
    if (answer) qfz_contraction_add_ghosts(c, &answer->ghosts);
    qfz_graph_sort(&c->graph);
    qfz_forest_grow(&c->forest, &c->graph);
    qfz_contraction_saliency(c, keys);
    if (answer)
        qfz_answer_place_cross(answer, worker->tile.h, worker->tile.w, qfz_n_dirs(worker->rule),
                               keys);
    return QFZ_OK;
}

static qfz_status tree(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                       qfz_error *err)
{
    (void)err;
    qfz_tree_build(&worker->tile, worker->rule, worker->n_threads, worker->scratch, parent, level,
                   n_nodes);
    return QFZ_OK;
}

const qfz_engine qfz_engine_cpu = {
    .name = "cpu",
    .open = worker_open,
    .close = worker_close,
    .bytes_per_px = bytes_per_px,
    .load = load,
    .summarise = summarise,
    .partition = partition,
    .labels = labels,
    .sums = sums,
    .features = features,
    .paint = paint,
    .saliency = saliency,
    .tree = tree,
};
