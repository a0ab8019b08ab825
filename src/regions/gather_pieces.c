/* SPDX-License-Identifier: MIT */
#include "regions/gather_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Every STEP-th key of each table is a sample, and every SAMPLES-th sample a bound.  So a piece has
 * at most STEP * (SAMPLES + n_tables) records. */
enum { STEP = 512, SAMPLES = 16 };

/* --------------------------------------------------------------------------------------- bounds */
/* The first words are the key, whose other words are 0. */
static int compare_samples(const void *a, const void *b)
{
    const uint64_t *const x = a, *const y = b;
    for (int i = 0; i < QFZ_KEY_WORDS_MAX; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int64_t n_samples(const qfz_gather_pieces *p)
{
    int64_t n = 0;
    for (int t = 0; t < p->n_tables; t++)
        n += p->tables[t].n / STEP;
    return n;
}

static void take_samples(const qfz_gather_pieces *p, uint64_t *samples)
{
    for (int t = 0; t < p->n_tables; t++)
        for (int64_t i = STEP; i <= p->tables[t].n; i += STEP, samples += QFZ_KEY_WORDS_MAX)
            memcpy(samples, qfz_gather_table_sorted(&p->tables[t], i - 1),
                   (size_t)p->format->key_words * sizeof *samples);
}

static qfz_status find_bounds(qfz_gather_pieces *p, qfz_error *err)
{
    const size_t key_bytes = QFZ_KEY_WORDS_MAX * sizeof *p->bounds;
    const int64_t n = n_samples(p);
    QFZ_TRY(QFZ_NEW_ZERO(&p->bounds, QFZ_KEY_WORDS_MAX * (n + 1), err));
    take_samples(p, p->bounds);
    qsort(p->bounds, (size_t)n, key_bytes, compare_samples);
    p->n = n / SAMPLES + 1;
    for (int64_t i = 0; i < n / SAMPLES; i++)
        memcpy(p->bounds + i * QFZ_KEY_WORDS_MAX,
               p->bounds + ((i + 1) * SAMPLES - 1) * QFZ_KEY_WORDS_MAX, key_bytes);
    return QFZ_OK;
}

/* The first record of a table that belongs to the piece. */
static int64_t first_of(const qfz_gather_pieces *p, const qfz_gather_table *table, int64_t piece)
{
    int64_t low = 0, high = table->n;
    if (piece == 0) return 0;
    if (piece == p->n) return table->n;
    const uint64_t *const bound = p->bounds + (piece - 1) * QFZ_KEY_WORDS_MAX;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (qfz_gather_compare(p->format, qfz_gather_table_sorted(table, middle), bound) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------------------------------- all
 */
qfz_status qfz_gather_pieces_open(qfz_gather_pieces *pieces, const qfz_gather_format *format,
                                  const qfz_gather_table *tables, int n_tables, qfz_error *err)
{
    *pieces = (qfz_gather_pieces){.format = format, .tables = tables, .n_tables = n_tables};
    return find_bounds(pieces, err);
}

void qfz_gather_pieces_close(qfz_gather_pieces *pieces)
{
    free(pieces->bounds);
    *pieces = (qfz_gather_pieces){0};
}

/* Returns the number of records in the runs of a piece. */
static int64_t find_runs(const qfz_gather_pieces *p, int64_t piece, qfz_gather_run *runs)
{
    int64_t n = 0;
    for (int t = 0; t < p->n_tables; t++) {
        const qfz_gather_table *const table = &p->tables[t];
        runs[t] = (qfz_gather_run){
            .table = table, .at = first_of(p, table, piece), .n = first_of(p, table, piece + 1)};
        n += runs[t].n - runs[t].at;
    }
    return n;
}

qfz_status qfz_gather_pieces_merge(const qfz_gather_pieces *pieces, int64_t piece,
                                   qfz_gather_some *some, qfz_error *err)
{
    if (!some->runs) QFZ_TRY(QFZ_NEW(&some->runs, pieces->n_tables, err));
    if (!some->heap) QFZ_TRY(QFZ_NEW(&some->heap, pieces->n_tables, err));
    qfz_gather_merge merge = {.format = pieces->format, .heap = some->heap};
    const int64_t n = find_runs(pieces, piece, some->runs);
    QFZ_TRY(qfz_gather_some_reserve(some, n * pieces->format->words, err));
    QFZ_TRY(qfz_gather_merge_begin(&merge, some->runs, pieces->n_tables, err));
    return qfz_gather_merge_some(&merge, n, some, err);
}
