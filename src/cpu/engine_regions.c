/* SPDX-License-Identifier: MIT */
/* engine_regions.c - the CPU engine's regions: found, numbered, labelled, added up, painted. */
#include <stdlib.h>
#include <string.h>

#include "cpu/worker.h"
#include "memory.h"

/* --------------------------------------------------------------------------------- open, close */
/* The longest ring of any tile that fits into h x w. */
static int64_t most_ring(int64_t h, int64_t w)
{
    return 2 * (h + w);
}

/* Words of a list of bits, one a region. */
static int64_t slot_words(int64_t n_regions)
{
    return n_regions / 64 + 1;
}

static qfz_status open_regions(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&worker->row_before, h + 1, err));
    QFZ_TRY(QFZ_NEW(&worker->is_slot, slot_words(h * w), err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->slot_of, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->slot_region, most_ring(h, w), err));
    QFZ_TRY(QFZ_NEW(&worker->row_inner, h, err));
    QFZ_TRY(QFZ_NEW(&worker->slots, most_ring(h, w), err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->name, h * w, err));
    return QFZ_NEW(&worker->row, w, err);
}

qfz_status qfz_cpu_components_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(
        qfz_alloc_large(&worker->scratch, 1, qfz_components_bytes(h, w, worker->n_threads), err));
    QFZ_TRY(QFZ_NEW(&worker->ring, most_ring(h, w), err));
    return open_regions(worker, h, w, err);
}

qfz_status qfz_cpu_omega_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(qfz_omega_contraction_init(&worker->omega, worker->rule, h, w, QFZ_BLOCK_SIDE,
                                       worker->n_threads, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->mark, worker->omega.c.max_vertices, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->label, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->first, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->count, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->sums, h * w * qfz_sum_words(worker->rule->type), err));
    return open_regions(worker, h, w, err);
}

void qfz_cpu_regions_close(qfz_worker *worker)
{
    free(worker->row_before);
    free(worker->is_slot);
    free(worker->slot_of);
    free(worker->slot_region);
    free(worker->row_inner);
    free(worker->slots);
    free(worker->name);
    free(worker->row);
    free(worker->ring);
    free(worker->label);
    free(worker->first);
    free(worker->count);
    free(worker->sums);
}

/* ------------------------------------------------------------------------------------ regions */
/* Regions that touch the ring, in the order in which they appear there, are the slots. */
static void number_slots(qfz_worker *worker)
{
    const int64_t n_ring = qfz_ring_size(worker->tile.h, worker->tile.w);
    for (int64_t i = 0; i < n_ring; i++)
        if (worker->ring[i]) worker->slot_of[worker->ring[i] - 1] = QFZ_NONE;
    worker->n_slots = 0;
    for (int64_t i = 0; i < n_ring; i++) {
        const uint32_t region = worker->ring[i] - 1;
        if (!worker->ring[i] || worker->slot_of[region] != QFZ_NONE) continue;
        worker->slot_of[region] = worker->n_slots;
        worker->slot_region[worker->n_slots++] = region;
    }
}

static void find_components(qfz_worker *worker)
{
    worker->runs = qfz_components_find(&worker->tile, worker->rule, worker->n_threads,
                                       worker->scratch, worker->row_before);
    worker->n_regions = worker->row_before[worker->tile.h];
    qfz_components_ring(worker->runs, worker->ring);
    number_slots(worker);
}

/* What labels name become region numbers, in order of first pixels; names of one slot are one
 * region.  at_name holds a region, or, marked by the high bit, a slot. */
static void number_regions(qfz_worker *worker, uint32_t *at_name)
{
    const uint32_t is_slot = 1u << 31;
    const qfz_image *const tile = &worker->tile;
    uint32_t n = 0;
    for (int64_t px = 0, y = 0; px < tile->h * tile->w; px++) {
        if (px == y * tile->w) worker->row_before[y++] = n;
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
    worker->row_before[tile->h] = n;
    worker->n_regions = n;
}

static qfz_status find_omega_regions(qfz_worker *worker, const qfz_answer *answer, qfz_error *err)
{
    const qfz_image *const tile = &worker->tile;
    if (worker->resumed != QFZ_FOUND_GRAPH)
        QFZ_TRY(qfz_omega_contract(&worker->omega, tile, answer != NULL, err));
    worker->found = worker->resumed = QFZ_FOUND_NOTHING; /* levels make room */
    QFZ_TRY(qfz_omega_contraction_regions(&worker->omega, answer ? answer->holds_to : NULL,
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

void qfz_cpu_mark_slots(qfz_worker *worker)
{
    memset(worker->is_slot, 0, (size_t)slot_words(worker->n_regions) * sizeof *worker->is_slot);
    for (uint32_t slot = 0; slot < worker->n_slots; slot++) {
        const uint32_t r = worker->slot_region[slot];
        worker->is_slot[r / 64] |= (uint64_t)1 << r % 64;
        worker->slot_of[r] = slot;
    }
}

static bool is_slot(const qfz_worker *worker, uint32_t region)
{
    return worker->is_slot[region / 64] >> region % 64 & 1;
}

/* Slots in the order of their first pixels: which is the first, and what is inner before it. */
static void take_census(qfz_worker *worker)
{
    const bool by_runs = worker->kind == QFZ_COMPONENTS;
    const uint32_t *const before = worker->row_before;
    qfz_components_seek seek = {0};
    int64_t y = 0;
    uint32_t in_row = 0; /* slots that begin in row y so far */
    qfz_cpu_mark_slots(worker);
    for (int64_t row = 0; row < worker->tile.h; row++)
        worker->row_inner[row] = before[row + 1] - before[row];
    for (int64_t k = 0; k < slot_words(worker->n_regions); k++)
        for (uint64_t bits = worker->is_slot[k]; bits; bits &= bits - 1) {
            const uint32_t r = (uint32_t)(64 * k + __builtin_ctzll(bits));
            for (; r >= before[y + 1]; in_row = 0)
                y++;
            worker->slots[worker->slot_of[r]] =
                (qfz_slot){.first = by_runs ? qfz_components_first(worker->runs, &seek, y, r + 1)
                                            : worker->first[r],
                           .before = r - before[y] - in_row++,
                           .pixels = by_runs ? 0 : worker->count[r]};
            worker->row_inner[y]--;
        }
}

qfz_status qfz_cpu_partition(qfz_worker *worker, const qfz_answer *answer, qfz_partition *out,
                             qfz_error *err)
{
    if (worker->resumed != QFZ_FOUND_REGIONS) {
        if (worker->kind == QFZ_COMPONENTS)
            find_components(worker);
        else
            QFZ_TRY(find_omega_regions(worker, answer, err));
        take_census(worker);
    }
    worker->found = QFZ_FOUND_REGIONS;
    *out = (qfz_partition){.n_regions = worker->n_regions,
                           .row_inner = worker->row_inner,
                           .n_slots = worker->n_slots,
                           .slots = worker->slots};
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ results */
/* Are labels the regions' own numbers, as in a raster of one tile? */
static bool keeps_numbers(const qfz_worker *worker, const qfz_numbers *numbers)
{
    if (!numbers) return true;
    for (int64_t y = 0; y < worker->tile.h; y++)
        if (numbers->row_start[y] != worker->row_before[y]) return false;
    for (uint32_t slot = 0; slot < worker->n_slots; slot++)
        if (numbers->slot_label[slot]) return false;
    return true;
}

qfz_status qfz_cpu_number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err)
{
    (void)err;
    worker->keeps_numbers = keeps_numbers(worker, numbers);
    for (int64_t y = 0; !worker->keeps_numbers && y < worker->tile.h; y++) {
        uint64_t given = numbers->row_start[y];
        for (uint32_t r = worker->row_before[y]; r < worker->row_before[y + 1]; r++) {
            const uint64_t foreign =
                is_slot(worker, r) ? numbers->slot_label[worker->slot_of[r]] : 0;
            worker->name[r] = foreign ? foreign : ++given;
        }
    }
    return QFZ_OK;
}

/* NULL: regions keep their numbers. */
static const uint64_t *names(const qfz_worker *worker)
{
    return worker->keeps_numbers ? NULL : worker->name;
}

/* 1 + region of each pixel of a row of the tile. */
static const uint32_t *regions_of_row(qfz_worker *worker, int64_t y)
{
    if (worker->kind != QFZ_COMPONENTS) return worker->label + y * worker->tile.w;
    qfz_components_row(worker->runs, y, worker->row);
    return worker->row;
}

static void copy_labels(const uint32_t *label, int64_t n, const uint64_t *name, uint32_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] && name ? (uint32_t)name[label[i] - 1] : label[i];
}

static void copy_wide_labels(const uint32_t *label, int64_t n, const uint64_t *name, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = label[i] && name ? name[label[i] - 1] : label[i];
}

qfz_status qfz_cpu_labels(qfz_worker *worker, bool wide, void *out, qfz_error *err)
{
    (void)err;
    const int64_t h = worker->tile.h, w = worker->tile.w;
    const uint64_t *const name = names(worker);
    const int n_threads = h * w < QFZ_BLOCK_PX ? 1 : worker->n_threads;
    if (worker->kind == QFZ_COMPONENTS) {
        qfz_components_labels(worker->runs, name, wide, out);
        return QFZ_OK;
    }
#pragma omp parallel for num_threads(n_threads)
    for (int64_t y = 0; y < h; y++) {
        if (wide)
            copy_wide_labels(worker->label + y * w, w, name, (uint64_t *)out + y * w);
        else
            copy_labels(worker->label + y * w, w, name, (uint32_t *)out + y * w);
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

qfz_status qfz_cpu_slot_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err)
{
    (void)err;
    const int words = qfz_sum_words(worker->tile.type);
    add_up(worker, band);
    for (uint32_t s = 0; s < worker->n_slots; s++)
        memcpy(sums + (int64_t)s * words, worker->sums + (int64_t)worker->slot_region[s] * words,
               (size_t)words * sizeof *sums);
    return QFZ_OK;
}

qfz_status qfz_cpu_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                            uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err)
{
    (void)err;
    const qfz_image *const tile = &worker->tile;
    const int words = qfz_record_words(tile->type, tile->n_bands);
    const uint64_t *const name = names(worker);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t r = first_region + i;
        qfz_record *const record = qfz_record_at(records, words, i);
        qfz_record_clear(record, tile->type, tile->n_bands);
        record->label =
            (name ? name[r] : (uint64_t)r + 1) | (is_slot(worker, r) ? QFZ_RECORD_SHARED : 0);
    }
    for (int64_t y = 0; y < tile->h; y++) {
        const uint32_t *const row = regions_of_row(worker, y);
        for (int64_t x = 0; x < tile->w; x++) {
            const uint32_t region = row[x] - 1; /* 0, invalid, becomes the greatest */
            if (region < first_region || region - first_region >= n) continue;
            qfz_record_add_pixel(qfz_record_at(records, words, region - first_region), tile,
                                 y * tile->w + x, box.y0 + y, box.x0 + x, row_area[y]);
        }
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

qfz_status qfz_cpu_paint(qfz_worker *worker, int band, const void *slot_mean, const void *invalid,
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

/* ---------------------------------------------------------------------------------- summaries */
qfz_status qfz_cpu_components_summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&summary->slot, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++)
        summary->slot[i] = worker->ring[i] ? worker->slot_of[worker->ring[i] - 1] : QFZ_NONE;
    summary->n_slots = worker->n_slots;
    return QFZ_OK;
}
