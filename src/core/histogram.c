/* SPDX-License-Identifier: MIT */
#include "core/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { SLOT_BITS = 19, SLOTS = 1 << SLOT_BITS, MOST_SHIFT = 32 };
_Static_assert((int)SLOTS == 2 * (int)QFZ_HISTOGRAM_BINS, "the table is at most half full");

/* Levels that are bits of floats have a dense bin for level 0 only: the others are far apart. */
static uint32_t dense_of(const qfz_rule *rule, uint32_t max_level)
{
    if (qfz_levels_are_float(rule)) return 1;
    return max_level < QFZ_HISTOGRAM_DENSE ? max_level + 1 : QFZ_HISTOGRAM_DENSE;
}

static bool has_far(uint32_t n_dense, uint32_t max_level)
{
    return n_dense <= max_level;
}

uint32_t qfz_histogram_all_dense(const qfz_rule *rule)
{
    uint32_t max_level = 0;
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_max_level(rule, &max_level, &ignored) != QFZ_OK) return 0;
    const uint32_t n_dense = dense_of(rule, max_level);
    return has_far(n_dense, max_level) ? 0 : n_dense;
}

int64_t qfz_histogram_bytes(const qfz_rule *rule)
{
    uint32_t max_level = 0;
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_max_level(rule, &max_level, &ignored) != QFZ_OK) return 0;
    const uint32_t n_dense = dense_of(rule, max_level);
    const int64_t word = sizeof(uint64_t), half = sizeof(uint32_t);
    const int64_t far = QFZ_HISTOGRAM_BINS * (word + half) + SLOTS * half;
    return (n_dense + 1) * word + (has_far(n_dense, max_level) ? far : 0);
}

qfz_status qfz_histogram_init(qfz_histogram *histogram, const qfz_rule *rule, qfz_error *err)
{
    qfz_histogram h = {0};
    qfz_status st;
    QFZ_TRY(qfz_max_level(rule, &h.max_level, err));
    h.n_dense = dense_of(rule, h.max_level);
    QFZ_TRY_OR(st, failed, QFZ_NEW_ZERO(&h.dense, (int64_t)h.n_dense + 1, err));
    if (has_far(h.n_dense, h.max_level)) {
        QFZ_TRY_OR(st, failed, QFZ_NEW(&h.level, QFZ_HISTOGRAM_BINS, err));
        QFZ_TRY_OR(st, failed, QFZ_NEW(&h.count, QFZ_HISTOGRAM_BINS, err));
        QFZ_TRY_OR(st, failed, QFZ_NEW_ZERO(&h.slot, SLOTS, err));
    }
    *histogram = h;
    return QFZ_OK;

failed:
    qfz_histogram_fini(&h);
    return st;
}

void qfz_histogram_fini(qfz_histogram *histogram)
{
    free(histogram->dense);
    free(histogram->level);
    free(histogram->count);
    free(histogram->slot);
    *histogram = (qfz_histogram){0};
}

/* ---- Bins beyond the dense ones. */
static uint32_t bin_of(const qfz_histogram *h, uint32_t level)
{
    const uint32_t last = level | (uint32_t)(((uint64_t)1 << h->shift) - 1);
    return last < h->max_level ? last : h->max_level;
}

/* The slot of a bin, or the free slot where it belongs. */
static uint32_t *slot_of(const qfz_histogram *h, uint32_t bin)
{
    uint32_t at = bin * 2654435769u >> (32 - SLOT_BITS);
    while (h->slot[at] && h->level[h->slot[at] - 1] != bin)
        at = (at + 1) % SLOTS;
    return &h->slot[at];
}

static void clear_slots(qfz_histogram *h)
{
    if (h->n_bins > QFZ_HISTOGRAM_BINS / 16) {
        memset(h->slot, 0, SLOTS * sizeof *h->slot);
        return;
    }
    for (uint32_t i = h->n_bins; i > 0;
         i--) /* the last one first: its slot is the last of a chain */
        *slot_of(h, h->level[i - 1]) = 0;
}

/* Merges bins to a greater shift. */
static void coarsen(qfz_histogram *h, int shift)
{
    const uint32_t n = h->n_bins;
    clear_slots(h);
    h->n_bins = 0;
    h->shift = shift;
    for (uint32_t i = 0; i < n; i++) /* the bin that is written is never behind the one read */
        qfz_histogram_add_far(h, h->level[i], h->count[i]);
}

void qfz_histogram_add_far(qfz_histogram *h, uint32_t level, uint64_t n)
{
    uint32_t bin = bin_of(h, level), *slot = slot_of(h, bin);
    while (!*slot && h->n_bins == QFZ_HISTOGRAM_BINS) {
        coarsen(h, h->shift + 1);
        bin = bin_of(h, level);
        slot = slot_of(h, bin);
    }
    if (!*slot) {
        h->level[h->n_bins] = bin;
        h->count[h->n_bins] = 0;
        *slot = ++h->n_bins;
    }
    h->count[*slot - 1] += n;
}

void qfz_histogram_clear(qfz_histogram *h)
{
    memset(h->dense, 0, ((size_t)h->n_dense + 1) * sizeof *h->dense);
    if (h->slot) clear_slots(h);
    h->n_bins = 0;
    h->shift = 0;
}

void qfz_histogram_add_all(qfz_histogram *to, const qfz_histogram *from)
{
    for (uint32_t i = 0; i < from->n_dense; i++)
        to->dense[i] += from->dense[i];
    if (from->shift > to->shift) coarsen(to, from->shift);
    for (uint32_t i = 0; i < from->n_bins; i++)
        qfz_histogram_add_far(to, from->level[i], from->count[i]);
}

/* ---- Lists of bins. */
typedef struct bin {
    uint32_t level;
    uint64_t count;
} bin;

static int by_level(const void *a, const void *b)
{
    const uint32_t p = ((const bin *)a)->level, q = ((const bin *)b)->level;
    return (p > q) - (p < q);
}

static uint32_t count_dense(const qfz_histogram *h)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n_dense; i++)
        n += h->dense[i] != 0;
    return n;
}

/* The bins beyond the dense ones, ascending. */
static qfz_status sort_far(const qfz_histogram *h, bin **bins, qfz_error *err)
{
    bin *sorted = NULL;
    QFZ_TRY(QFZ_NEW(&sorted, h->n_bins, err));
    for (uint32_t i = 0; i < h->n_bins; i++)
        sorted[i] = (bin){.level = h->level[i], .count = h->count[i]};
    if (h->n_bins > 1) qsort(sorted, h->n_bins, sizeof *sorted, by_level);
    *bins = sorted;
    return QFZ_OK;
}

qfz_status qfz_histogram_list(const qfz_histogram *h, uint32_t **level, uint64_t **count,
                              int64_t *n, qfz_error *err)
{
    const int64_t all = (int64_t)count_dense(h) + h->n_bins;
    uint32_t *levels = NULL;
    uint64_t *counts = NULL;
    bin *far = NULL;
    qfz_status st;
    int64_t at = 0;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&levels, all, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&counts, all, err));
    QFZ_TRY_OR(st, cleanup, sort_far(h, &far, err));
    for (uint32_t i = 0; i < h->n_dense; i++) {
        if (h->dense[i] == 0) continue;
        levels[at] = i;
        counts[at++] = h->dense[i];
    }
    for (uint32_t i = 0; i < h->n_bins; i++) {
        levels[at] = far[i].level;
        counts[at++] = far[i].count;
    }
    *n = at;
    *level = levels;
    *count = counts;
    levels = NULL;
    counts = NULL;

cleanup:
    free(levels);
    free(counts);
    free(far);
    return st;
}

/* ---- Packed: shift, number of bins, then level, low and high half of the count of each. */
enum { HEAD_WORDS = 2, BIN_WORDS = 3 };

static uint32_t *put_bin(uint32_t *to, uint32_t level, uint64_t count)
{
    *to++ = level;
    *to++ = (uint32_t)count;
    *to++ = (uint32_t)(count >> 32);
    return to;
}

qfz_status qfz_histogram_pack(const qfz_histogram *h, uint32_t **words, int64_t *n_words,
                              qfz_error *err)
{
    const uint32_t n = count_dense(h) + h->n_bins;
    uint32_t *packed = NULL;
    bin *far = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, sort_far(h, &far, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&packed, HEAD_WORDS + BIN_WORDS * (int64_t)n, err));
    uint32_t *to = packed;
    *to++ = (uint32_t)h->shift;
    *to++ = n;
    for (uint32_t i = 0; i < h->n_dense; i++)
        if (h->dense[i] != 0) to = put_bin(to, i, h->dense[i]);
    for (uint32_t i = 0; i < h->n_bins; i++)
        to = put_bin(to, far[i].level, far[i].count);
    *words = packed;
    *n_words = HEAD_WORDS + BIN_WORDS * (int64_t)n;

cleanup:
    free(far);
    return st;
}

qfz_status qfz_histogram_add_packed(qfz_histogram *h, const uint32_t *words, int64_t n_words,
                                    qfz_error *err)
{
    const bool sound = n_words >= HEAD_WORDS && words[0] < MOST_SHIFT &&
                       n_words == HEAD_WORDS + BIN_WORDS * (int64_t)words[1];
    if (!sound) return qfz_fail(err, QFZ_EIO, "the levels of a tile are damaged in the store");
    if ((int)words[0] > h->shift && h->slot) coarsen(h, (int)words[0]);
    for (const uint32_t *from = words + HEAD_WORDS; from < words + n_words; from += BIN_WORDS) {
        if (from[0] > h->max_level)
            return qfz_fail(err, QFZ_EIO, "a level of a tile is damaged in the store");
        qfz_histogram_add(h, from[0], from[1] | (uint64_t)from[2] << 32);
    }
    return QFZ_OK;
}
