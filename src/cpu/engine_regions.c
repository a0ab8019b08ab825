/* SPDX-License-Identifier: MIT */
/* engine_regions.c - regions of a tile of the CPU engine: finds components, lists border regions,
 * writes labels and features.  engine_omega.c has the rest of (alpha, omega). */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/worker.h"
#include "core/memory.h"

/* ---- Open and close. */
/* The longest ring of any tile of at most h x w pixels. */
static int64_t most_ring(int64_t h, int64_t w)
{
    return 2 * (h + w);
}

/* Words of a bit per region. */
static int64_t bit_words(int64_t n_regions)
{
    return n_regions / 64 + 1;
}

static qfz_status open_components(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(
        qfz_alloc_large(&worker->scratch, 1, qfz_components_bytes(h, w, worker->n_threads), err));
    return QFZ_NEW(&worker->ring, most_ring(h, w), err);
}

qfz_status qfz_cpu_regions_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    if (worker->kind == QFZ_COMPONENTS)
        QFZ_TRY(open_components(worker, h, w, err));
    else
        QFZ_TRY(qfz_cpu_omega_open(worker, h, w, err));
    QFZ_TRY(QFZ_NEW(&worker->row_before, h + 1, err));
    QFZ_TRY(QFZ_NEW(&worker->is_border, bit_words(h * w), err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->border_of, h * w, err));
    QFZ_TRY(QFZ_NEW(&worker->border_region_of, most_ring(h, w), err));
    QFZ_TRY(QFZ_NEW(&worker->row_inner, h, err));
    QFZ_TRY(QFZ_NEW(&worker->border_regions, most_ring(h, w), err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->name, h * w, err));
    return QFZ_NEW(&worker->row, worker->n_threads * w, err);
}

void qfz_cpu_regions_close(qfz_worker *worker)
{
    free(worker->row_before);
    free(worker->is_border);
    free(worker->border_of);
    free(worker->border_region_of);
    free(worker->row_inner);
    free(worker->border_regions);
    free(worker->name);
    free(worker->row);
    free(worker->ring);
    free(worker->region_of);
    free(worker->first);
    free(worker->count);
    free(worker->sums);
    free(worker->means);
}

/* ---- Regions. */
/* Border regions are numbered in order of first appearance on the ring. */
static void number_border_regions(qfz_worker *worker)
{
    const int64_t n_ring = qfz_ring_size(worker->tile.h, worker->tile.w);
    for (int64_t i = 0; i < n_ring; i++)
        if (worker->ring[i]) worker->border_of[worker->ring[i] - 1] = QFZ_NONE;
    worker->n_border_regions = 0;
    for (int64_t i = 0; i < n_ring; i++) {
        const uint32_t region = worker->ring[i] - 1;
        if (!worker->ring[i] || worker->border_of[region] != QFZ_NONE) continue;
        worker->border_of[region] = worker->n_border_regions;
        worker->border_region_of[worker->n_border_regions++] = region;
    }
}

static void find_components(qfz_worker *worker)
{
    worker->runs = qfz_components_find(&worker->tile, worker->rule, worker->n_threads,
                                       worker->scratch, worker->row_before);
    worker->n_regions = worker->row_before[worker->tile.h];
    qfz_components_ring(worker->runs, worker->ring);
    number_border_regions(worker);
}

void qfz_cpu_mark_border_regions(qfz_worker *worker)
{
    memset(worker->is_border, 0, (size_t)bit_words(worker->n_regions) * sizeof *worker->is_border);
    for (uint32_t border_region = 0; border_region < worker->n_border_regions; border_region++) {
        const uint32_t r = worker->border_region_of[border_region];
        worker->is_border[r / 64] |= (uint64_t)1 << r % 64;
        worker->border_of[r] = border_region;
    }
}

static bool is_border(const qfz_worker *worker, uint32_t region)
{
    return worker->is_border[region / 64] >> region % 64 & 1;
}

/* Lists the border regions, in the order of their first pixels, with the inner regions before them;
 * counts the inner regions of each row. */
static void list_regions(qfz_worker *worker)
{
    const bool by_runs = worker->kind == QFZ_COMPONENTS;
    const uint32_t *const before = worker->row_before;
    qfz_components_seek seek = {0};
    int64_t y = 0;
    uint32_t in_row = 0; /* border regions in row y so far */
    qfz_cpu_mark_border_regions(worker);
    for (int64_t row = 0; row < worker->tile.h; row++)
        worker->row_inner[row] = before[row + 1] - before[row];
    for (int64_t k = 0; k < bit_words(worker->n_regions); k++)
        for (uint64_t bits = worker->is_border[k]; bits; bits &= bits - 1) {
            const uint32_t r = (uint32_t)(64 * k + __builtin_ctzll(bits));
            for (; r >= before[y + 1]; in_row = 0)
                y++;
            worker->border_regions[worker->border_of[r]] = (qfz_border_region){
                .first = by_runs ? qfz_components_first(worker->runs, &seek, y, r + 1)
                                 : worker->first[r],
                .before = r - before[y] - in_row++,
                .pixels = by_runs ? 0 : worker->count[r]};
            worker->row_inner[y]--;
        }
}

qfz_status qfz_cpu_partition(qfz_worker *worker, const qfz_exterior *exterior, qfz_partition *out,
                             qfz_error *err)
{
    if (worker->resumed != QFZ_CACHED_REGIONS) {
        if (worker->kind == QFZ_COMPONENTS)
            find_components(worker);
        else
            QFZ_TRY(qfz_cpu_omega_find(worker, exterior, err));
        list_regions(worker);
    }
    *out = (qfz_partition){.n_regions = worker->n_regions,
                           .row_inner = worker->row_inner,
                           .n_border_regions = worker->n_border_regions,
                           .border_regions = worker->border_regions};
    return QFZ_OK;
}

/* ---- Results. */
/* True if the label of each region is its own number + 1, as in a raster of one tile. */
static bool keeps_numbers(const qfz_worker *worker, const qfz_numbers *numbers)
{
    if (!numbers) return true;
    for (int64_t y = 0; y < worker->tile.h; y++)
        if (numbers->row_start[y] != worker->row_before[y]) return false;
    for (uint32_t border_region = 0; border_region < worker->n_border_regions; border_region++)
        if (numbers->border_label[border_region]) return false;
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
                is_border(worker, r) ? numbers->border_label[worker->border_of[r]] : 0;
            worker->name[r] = foreign ? foreign : ++given;
        }
    }
    return QFZ_OK;
}

/* NULL if the label of each region is its number + 1. */
static const uint64_t *names(const qfz_worker *worker)
{
    return worker->keeps_numbers ? NULL : worker->name;
}

/* 1 + region of each pixel of a row of the tile, in the thread's own memory. */
static const uint32_t *regions_of_row(const qfz_worker *worker, int64_t y, int thread)
{
    const int64_t w = worker->tile.w;
    uint32_t *const row = worker->row + thread * w;
    if (worker->kind == QFZ_COMPONENTS)
        qfz_components_row(worker->runs, y, row);
    else
        qfz_omega_contraction_row(&worker->omega, y, worker->region_of, row);
    return row;
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
    const int n_threads = h * w < QFZ_CPU_BLOCK_PX ? 1 : worker->n_threads;
    if (worker->kind == QFZ_COMPONENTS) {
        qfz_components_labels(worker->runs, name, wide, out);
        return QFZ_OK;
    }
#pragma omp parallel for num_threads(n_threads)
    for (int64_t y = 0; y < h; y++) {
        const uint32_t *const row = regions_of_row(worker, y, omp_get_thread_num());
        if (wide)
            copy_wide_labels(row, w, name, (uint64_t *)out + y * w);
        else
            copy_labels(row, w, name, (uint32_t *)out + y * w);
    }
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
            (name ? name[r] : (uint64_t)r + 1) | (is_border(worker, r) ? QFZ_RECORD_SHARED : 0);
    }
    for (int64_t y = 0; y < tile->h; y++) {
        const uint32_t *const row = regions_of_row(worker, y, 0);
        for (int64_t x = 0; x < tile->w; x++) {
            const uint32_t region = row[x] - 1; /* 0, invalid, becomes the greatest */
            if (region < first_region || region - first_region >= n) continue;
            qfz_record_add_pixel(qfz_record_at(records, words, region - first_region), tile,
                                 y * tile->w + x, box.y0 + y, box.x0 + x, row_area[y]);
        }
    }
    return QFZ_OK;
}

/* ---- Summaries. */
qfz_status qfz_cpu_components_summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&summary->border_region, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++)
        summary->border_region[i] =
            worker->ring[i] ? worker->border_of[worker->ring[i] - 1] : QFZ_NONE;
    summary->n_border_regions = worker->n_border_regions;
    return QFZ_OK;
}
