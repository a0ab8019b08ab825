/* SPDX-License-Identifier: MIT */
#include "chunks/census.h"

#include <stdlib.h>

#include "core/memory.h"

enum { HEAD = 2 }; /* words before the rows */

qfz_status qfz_census_make(const qfz_partition *partition, int64_t h, uint64_t **words,
                           int64_t *n_words, qfz_error *err)
{
    const int64_t n = partition->n_border_regions;
    uint64_t *made = NULL;
    QFZ_TRY(QFZ_NEW(&made, HEAD + h + 2 * n, err));
    uint64_t *const rows = made + HEAD, *const first = rows + h, *const before = first + n;
    made[0] = partition->n_regions;
    made[1] = (uint64_t)n;
    for (int64_t y = 0; y < h; y++)
        rows[y] = partition->row_inner[y];
    for (int64_t s = 0; s < n; s++) {
        first[s] = partition->border_regions[s].first;
        before[s] = partition->border_regions[s].before;
    }
    *words = made;
    *n_words = HEAD + h + 2 * n;
    return QFZ_OK;
}

/* Copies the words; false if a number is out of range. */
static bool take(const uint64_t *words, int64_t h, int64_t w, uint32_t *rows,
                 qfz_border_region *border)
{
    const int64_t n = (int64_t)words[1];
    const uint64_t *const first = words + HEAD + h, *const before = first + n;
    uint64_t n_inner = 0;
    for (int64_t y = 0; y < h; y++) {
        const uint64_t in_row = words[HEAD + y];
        if (in_row > (uint64_t)w) return false;
        rows[y] = (uint32_t)in_row;
        n_inner += in_row;
    }
    for (int64_t s = 0; s < n; s++) {
        if (first[s] >= (uint64_t)(h * w) || before[s] > rows[(int64_t)first[s] / w]) return false;
        border[s] = (qfz_border_region){.first = (uint32_t)first[s], .before = (uint32_t)before[s]};
    }
    return n_inner + (uint64_t)n == words[0];
}

qfz_status qfz_census_read(const uint64_t *words, int64_t n_words, int64_t h, int64_t w,
                           qfz_partition *partition, int64_t *n_used, bool *fits, qfz_error *err)
{
    uint32_t *rows = NULL;
    qfz_border_region *border = NULL;
    qfz_status st;
    *fits = false;
    if (n_words < HEAD + h || words[1] > (uint64_t)(n_words - HEAD - h) / 2 ||
        words[0] > (uint64_t)(h * w))
        return QFZ_OK;
    const int64_t n = (int64_t)words[1];
    QFZ_TRY_OR(st, failed, QFZ_NEW(&rows, h, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&border, n, err));
    *fits = take(words, h, w, rows, border);
    *n_used = HEAD + h + 2 * n;
    *partition = (qfz_partition){.n_regions = (uint32_t)words[0],
                                 .row_inner = rows,
                                 .n_border_regions = (uint32_t)n,
                                 .border_regions = border};
    return QFZ_OK;

failed:
    free(rows);
    free(border);
    return st;
}

void qfz_census_fini(qfz_partition *partition)
{
    free((void *)(uintptr_t)partition->row_inner);
    free((void *)(uintptr_t)partition->border_regions);
    *partition = (qfz_partition){0};
}
