/* SPDX-License-Identifier: MIT */
/* histogram.h - how often each level occurs among the joins of a minimum spanning forest.
 *
 * Levels below n_dense have a bin each.  The other levels have a bin each as long as there are at
 * most QFZ_HISTOGRAM_BINS of them; then neighbouring levels share bins of 2^shift levels, and a bin
 * is named by its last level.  So the sum of all bins up to a bin's name is exact in any case.
 *
 * Invariant: the bins of a sum of histograms depend on the levels alone, not on the order of
 * additions: shift is the least one for which the levels fit. */
#ifndef QFZ_HISTOGRAM_H
#define QFZ_HISTOGRAM_H

#include "core/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QFZ_HISTOGRAM_DENSE = 1 << 20, QFZ_HISTOGRAM_BINS = 1 << 18 };

typedef struct qfz_histogram {
    uint32_t n_dense;
    uint32_t max_level;
    uint64_t *dense; /* n_dense counts, and one that is ignored */

    /* Levels from n_dense on, in order of discovery. */
    int shift;
    uint32_t n_bins;
    uint32_t *level;
    uint64_t *count;
    uint32_t *slot; /* hash table: 1 + number of a bin, 0 where free; NULL: no such levels exist */
} qfz_histogram;

/* An empty histogram of the levels of rasters with this rule. */
qfz_status qfz_histogram_init(qfz_histogram *histogram, const qfz_rule *rule, qfz_error *err);
void qfz_histogram_fini(qfz_histogram *histogram); /* all zero is allowed */
void qfz_histogram_clear(qfz_histogram *histogram);

/* The number of levels of such rasters, if all of them are dense; else 0. */
uint32_t qfz_histogram_all_dense(const qfz_rule *rule);

/* Upper bound of the memory of a histogram. */
int64_t qfz_histogram_bytes(const qfz_rule *rule);

/* Adds n joins of a level beyond the dense ones. */
void qfz_histogram_add_far(qfz_histogram *histogram, uint32_t level, uint64_t n);

static inline void qfz_histogram_add(qfz_histogram *histogram, uint32_t level, uint64_t n)
{
    if (level < histogram->n_dense)
        histogram->dense[level] += n;
    else
        qfz_histogram_add_far(histogram, level, n);
}

/* Both of the same rule. */
void qfz_histogram_add_all(qfz_histogram *to, const qfz_histogram *from);

/* The bins that are not empty, ascending by level; the caller frees both arrays. */
qfz_status qfz_histogram_list(const qfz_histogram *histogram, uint32_t **level, uint64_t **count,
                              int64_t *n, qfz_error *err);

/* A histogram as n_words words, for the store, journals and messages; the caller frees them. */
qfz_status qfz_histogram_pack(const qfz_histogram *histogram, uint32_t **words, int64_t *n_words,
                              qfz_error *err);

/* Adds a packed histogram of the same rule; QFZ_EIO if the words are not one. */
qfz_status qfz_histogram_add_packed(qfz_histogram *histogram, const uint32_t *words,
                                    int64_t n_words, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
