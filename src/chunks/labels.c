/* SPDX-License-Identifier: MIT */
#include "chunks/labels.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { HEAD = 3 }; /* words before the rows */

qfz_status qfz_labels_make(const qfz_numbers *numbers, const qfz_partition *partition, int64_t h,
                           uint64_t n_regions, uint64_t **words, int64_t *n_words, qfz_error *err)
{
    const int64_t n = partition->n_border_regions;
    uint64_t *made = NULL;
    QFZ_TRY(QFZ_NEW(&made, HEAD + h + n, err));
    made[0] = n_regions;
    made[1] = partition->n_regions;
    made[2] = (uint64_t)n;
    memcpy(made + HEAD, numbers->row_start, (size_t)h * sizeof *made);
    if (n > 0) memcpy(made + HEAD + h, numbers->border_label, (size_t)n * sizeof *made);
    *words = made;
    *n_words = HEAD + h + n;
    return QFZ_OK;
}

/* The labels of row y are row_start[y] + 1 .. row_start[y] + all regions that begin in the row and
 * that the chunk owns.  begun: room for h counts. */
static bool are_in_range(const qfz_numbers *numbers, const qfz_partition *partition, int64_t h,
                         int64_t w, uint64_t n_regions, uint64_t *begun)
{
    for (int64_t y = 0; y < h; y++)
        begun[y] = partition->row_inner[y];
    for (uint32_t s = 0; s < partition->n_border_regions; s++) {
        if (numbers->border_label[s] > n_regions) return false;
        if (numbers->border_label[s] == 0) begun[partition->border_regions[s].first / w]++;
    }
    for (int64_t y = 0; y < h; y++)
        if (begun[y] > n_regions || numbers->row_start[y] > n_regions - begun[y]) return false;
    return true;
}

qfz_status qfz_labels_read(uint64_t *words, int64_t n_words, const qfz_partition *partition,
                           int64_t h, int64_t w, qfz_numbers *numbers, uint64_t *n_regions,
                           bool *fits, qfz_error *err)
{
    const int64_t n = partition->n_border_regions;
    uint64_t *begun = NULL;
    *fits = n_words == HEAD + h + n && words[1] == partition->n_regions && words[2] == (uint64_t)n;
    if (!*fits) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&begun, h, err));
    *n_regions = words[0];
    *numbers = (qfz_numbers){.row_start = words + HEAD, .border_label = words + HEAD + h};
    *fits = are_in_range(numbers, partition, h, w, *n_regions, begun);
    free(begun);
    return QFZ_OK;
}
