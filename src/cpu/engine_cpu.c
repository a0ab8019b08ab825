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
    uint32_t *slot_of; /* per region; QFZ_NONE: not on the ring */
    uint32_t *slot_region;
    uint64_t *marks;     /* bits of regions: the slots */
    uint32_t *row_inner; /* these two are what a qfz_partition shows */
    qfz_slot *slots;
    uint64_t *name;     /* of each region, its label */
    bool keeps_numbers; /* are names 1, 2, 3 ...? */
    uint64_t *sums;     /* QFZ_OMEGA: of each region, in one band */
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
    free(worker->slot_of);
    free(worker->slot_region);
    free(worker->marks);
    free(worker->row_inner);
    free(worker->slots);
    free(worker->name);
    free(worker->sums);
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
    QFZ_TRY(QFZ_NEW(&worker->name, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->marks, h * w / 64 + 1, err));
    QFZ_TRY(QFZ_NEW(&worker->row_inner, h, err));
    QFZ_TRY(QFZ_NEW(&worker->slot_region, most_ring(h, w), err));
    return QFZ_NEW(&worker->slots, most_ring(h, w), err);
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
        QFZ_TRY(QFZ_NEW(&worker->sums, h * w * qfz_sum_words(worker->rule->type), err));
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
    const int64_t word = sizeof(uint64_t);
    const int64_t regions = 4 * (int64_t)sizeof(uint32_t) + word;
    const int64_t pixels = side * side;
    switch (kind) {
    case QFZ_COMPONENTS:
        return regions + (int64_t)qfz_components_bytes(rule, side, side, 1) / pixels + 1;
    case QFZ_LEVELS: return qfz_contraction_bytes(rule, side, side) / pixels + 2;
    case QFZ_OMEGA:
        return qfz_omega_contraction_bytes(rule, side, side) / pixels + 2 + regions +
               word * qfz_sum_words(rule->type);
    case QFZ_TREE:
        return (8 * qfz_tree_room(rule, side, side) +
                (int64_t)qfz_tree_bytes(rule, side, side, 1)) /
                   pixels +
               1;
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

static void invert_slots(qfz_worker *worker)
{
    memset(worker->slot_of, 0xff, worker->n_regions * sizeof *worker->slot_of);
    for (uint32_t s = 0; s < worker->n_slots; s++)
        worker->slot_of[worker->slot_region[s]] = s;
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
    invert_slots(worker);
    return QFZ_OK;
}

/* The first region that begins at pixel px or later. */
static uint32_t region_from(const qfz_worker *worker, uint32_t low, uint64_t px)
{
    uint32_t step = 1, high;
    for (high = low; high < worker->n_regions && worker->first[high] < px; high += step, step *= 2)
        low = high + 1;
    if (high > worker->n_regions) high = worker->n_regions;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (worker->first[middle] < px)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Regions come by first pixel, so those that begin in a row are a range, and few are slots: they
 * alone are looked at, the ones of a row in their order. */
static void take_census(qfz_worker *worker)
{
    const uint32_t h = (uint32_t)worker->tile.h, w = (uint32_t)worker->tile.w;
    uint64_t *const marks = worker->marks;
    memset(marks, 0, (worker->n_regions / 64 + 1) * sizeof *marks);
    for (uint32_t s = 0; s < worker->n_slots; s++)
        marks[worker->slot_region[s] / 64] |= UINT64_C(1) << worker->slot_region[s] % 64;
    for (uint32_t y = 0, from = 0; y < h; y++) {
        const uint32_t to = region_from(worker, from, (uint64_t)(y + 1) * w);
        uint32_t n_slots = 0;
        for (uint32_t r = from; r < to; r = (r | 63) + 1) {
            uint64_t bits = marks[r / 64] >> r % 64 << r % 64;
            for (; bits; bits &= bits - 1) {
                const uint32_t region = (r & ~63u) + (uint32_t)__builtin_ctzll(bits);
                if (region >= to) break;
                worker->slots[worker->slot_of[region]] =
                    (qfz_slot){.first = worker->first[region],
                               .before = region - from - n_slots++,
                               .pixels = worker->count[region]};
            }
        }
        worker->row_inner[y] = to - from - n_slots;
        from = to;
    }
}

static qfz_status partition(qfz_worker *worker, const qfz_answer *answer, qfz_partition *out,
                            qfz_error *err)
{
    if (worker->kind == QFZ_COMPONENTS)
        find_components(worker);
    else
        QFZ_TRY(find_omega_regions(worker, answer, err));
    take_census(worker);
    *out = (qfz_partition){.n_regions = worker->n_regions,
                           .row_inner = worker->row_inner,
                           .n_slots = worker->n_slots,
                           .slots = worker->slots};
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ results */
/* Regions of a whole raster keep the numbers that they have. */
static qfz_status number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err)
{
    (void)err;
    const uint32_t w = (uint32_t)worker->tile.w;
    uint32_t row = 0, row_end = w;
    uint64_t given = numbers ? numbers->row_start[0] : 0;
    worker->keeps_numbers = true;
    for (uint32_t r = 0; r < worker->n_regions; r++) {
        const uint32_t slot = worker->slot_of[r];
        for (; numbers && worker->first[r] >= row_end; row_end += w)
            given = numbers->row_start[++row];
        const uint64_t foreign = numbers && slot != QFZ_NONE ? numbers->slot_label[slot] : 0;
        worker->name[r] = foreign ? foreign : ++given;
        worker->keeps_numbers &= worker->name[r] == (uint64_t)r + 1;
    }
    return QFZ_OK;
}

static void copy_labels(const uint32_t *label, int64_t n, const uint64_t *name, uint32_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] ? (uint32_t)name[label[i] - 1] : 0;
}

static void copy_wide_labels(const uint32_t *label, int64_t n, const uint64_t *name, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] ? name[label[i] - 1] : 0;
}

static qfz_status labels(qfz_worker *worker, bool wide, void *out, qfz_error *err)
{
    (void)err;
    const int64_t h = worker->tile.h, w = worker->tile.w;
    const uint32_t *const label = worker->label;
    const int n_threads = h * w < QFZ_BLOCK_PX ? 1 : worker->n_threads;
#pragma omp parallel for num_threads(n_threads)
    for (int64_t y = 0; y < h; y++) {
        if (wide)
            copy_wide_labels(label + y * w, w, worker->name, (uint64_t *)out + y * w);
        else if (worker->keeps_numbers)
            memcpy((uint32_t *)out + y * w, label + y * w, (size_t)w * sizeof *label);
        else
            copy_labels(label + y * w, w, worker->name, (uint32_t *)out + y * w);
    }
    return QFZ_OK;
}

static void add_up(qfz_worker *worker, int band)
{
    const qfz_image *const tile = &worker->tile;
    const int64_t n = tile->h * tile->w;
    const size_t band_bytes = (size_t)n * qfz_type_bytes(tile->type);
    const size_t words = worker->n_regions * (size_t)qfz_sum_words(tile->type);
    memset(worker->sums, 0, words * sizeof *worker->sums);
    qfz_sum_add_regions(worker->sums, tile->type,
                        (const char *)tile->pixels + (size_t)band * band_bytes, worker->label, n);
}

static qfz_status slot_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err)
{
    (void)err;
    const int words = qfz_sum_words(worker->tile.type);
    add_up(worker, band);
    for (uint32_t s = 0; s < worker->n_slots; s++)
        memcpy(sums + (int64_t)s * words, worker->sums + (int64_t)worker->slot_region[s] * words,
               (size_t)words * sizeof *sums);
    return QFZ_OK;
}

static qfz_status features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                           uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err)
{
    (void)err;
    const qfz_image *const tile = &worker->tile;
    const int words = qfz_record_words(tile->type, tile->n_bands);
    for (uint32_t r = 0; r < n; r++) {
        const bool shared = worker->slot_of[first_region + r] != QFZ_NONE;
        qfz_record *const record = qfz_record_at(records, words, r);
        qfz_record_clear(record, tile->type, tile->n_bands);
        record->label = worker->name[first_region + r] | (shared ? QFZ_RECORD_SHARED : 0);
    }
    for (int64_t i = 0; i < tile->h * tile->w; i++) {
        const uint32_t region = worker->label[i] - 1; /* 0, invalid, becomes the greatest */
        if (region < first_region || region - first_region >= n) continue;
        const int64_t y = i / tile->w, x = i % tile->w;
        qfz_record_add_pixel(qfz_record_at(records, words, region - first_region), tile, i,
                             box.y0 + y, box.x0 + x, row_area[y]);
    }
    return QFZ_OK;
}

/* The mean of each region in one band, as dense as the raster's type is. */
static const void *find_means(qfz_worker *worker, int band, const void *slot_mean)
{
    const qfz_type type = worker->tile.type;
    const int words = qfz_sum_words(type);
    const size_t bytes = qfz_type_bytes(type);
    add_up(worker, band);
    char *const means = (char *)worker->sums; /* a sum is longer than its mean */
    for (uint32_t r = 0; r < worker->n_regions; r++)
        qfz_sum_mean(worker->sums + (int64_t)r * words, worker->count[r], type, means + r * bytes);
    for (uint32_t s = 0; s < worker->n_slots; s++)
        memcpy(means + worker->slot_region[s] * bytes, (const char *)slot_mean + s * bytes, bytes);
    return means;
}

#define PAINT(TYPE)                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((TYPE *)out)[i] = label[i] ? ((const TYPE *)means)[label[i] - 1] : *(const TYPE *)invalid

static qfz_status paint(qfz_worker *worker, int band, const void *slot_mean, const void *invalid,
                        void *out, qfz_error *err)
{
    (void)err;
    const int64_t n = worker->tile.h * worker->tile.w;
    const uint32_t *const label = worker->label;
    const void *const means = find_means(worker, band, slot_mean);
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
    .number = number,
    .labels = labels,
    .slot_sums = slot_sums,
    .features = features,
    .paint = paint,
    .saliency = saliency,
    .tree_room = qfz_tree_room,
    .tree = tree,
};
