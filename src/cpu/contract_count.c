/* SPDX-License-Identifier: MIT */
/* contract_count.c - how often each level occurs among the hooks of a block.
 *
 * Pixels side by side often have hooks of one level, and each would wait until the one before has
 * stored the count.  So they are counted in turn in several small tables, which have the low levels
 * only; other levels are rare. */
#include "core/simd.h"
#include "cpu/contract_parts.h"

enum { TABLES = 4, BINS = 2048, HIGH = BINS - 2, ROOT = BINS - 1, SOME = 256 };

/* The bins of n pixels from pixel `first` on.  Of two pixels that are hooked to each other, the
 * root has the level of their edge, too, but no hook. */
QFZ_CLONES_512 static void find_bins(const uint16_t *restrict up, const uint32_t *restrict level,
                                     int n, int first, uint32_t n_low, uint16_t *restrict bin)
{
    for (int i = 0; i < n; i++) {
        const uint16_t of_level = level[i] < n_low ? (uint16_t)level[i] : HIGH;
        bin[i] = up[i] == (uint16_t)(first + i) ? ROOT : of_level;
    }
}

static void count_bins(uint16_t counts[TABLES][BINS], const uint16_t *bin, int n)
{
    int i = 0;
    for (; i + TABLES <= n; i += TABLES)
        for (int k = 0; k < TABLES; k++)
            counts[k][bin[i + k]]++;
    for (; i < n; i++)
        counts[0][bin[i]]++;
}

static void count_high(const uint16_t *bin, const uint32_t *level, int n, qfz_histogram *settled)
{
    for (int i = 0; i < n; i++)
        if (bin[i] == HIGH) qfz_histogram_add(settled, level[i], 1);
}

static uint32_t sum_of(uint16_t counts[TABLES][BINS], uint32_t bin)
{
    uint32_t sum = 0;
    for (int k = 0; k < TABLES; k++)
        sum += counts[k][bin];
    return sum;
}

static void count_pixels(const qfz_block_work *b, qfz_histogram *settled)
{
    const uint16_t *const up = b->s->lightest.up;
    const uint32_t *const level = b->px_first;
    const int n_px = (int)b->block->n_px;
    const uint32_t n_low = settled->n_dense < HIGH ? settled->n_dense : HIGH;
    uint32_t n_high = 0;
    uint16_t counts[TABLES][BINS] = {{0}}, bin[SOME] = {0};
    for (int first = 0; first < n_px; first += SOME) {
        const int n = n_px - first < SOME ? n_px - first : SOME;
        find_bins(up + first, level + first, n, first, n_low, bin);
        count_bins(counts, bin, n);
        if (sum_of(counts, HIGH) > n_high) count_high(bin, level + first, n, settled);
        n_high = sum_of(counts, HIGH);
    }
    for (uint32_t i = 0; i < n_low; i++)
        settled->dense[i] += sum_of(counts, i);
}

/* The levels of the hooks of nodes ascend. */
static void count_nodes(const uint32_t *level, uint32_t n, qfz_histogram *settled)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && level[end] == level[i];)
            end++;
        qfz_histogram_add(settled, level[i], end - i);
    }
}

void qfz_block_count(const qfz_block_work *b, qfz_histogram *settled)
{
    count_pixels(b, settled);
    count_nodes(b->level, b->block->n_hooks, settled);
}
