/* SPDX-License-Identifier: MIT */
/* census.h - the regions of a chunk, as far as their numbers need them, as words of a message: the
 * numbers of regions and of border regions, the inner regions that begin in each row, and of each
 * border region its first pixel and the inner regions before it in that row. */
#ifndef QFZ_CHUNKS_CENSUS_H
#define QFZ_CHUNKS_CENSUS_H

#include "core/engine.h"

/* *words: of a chunk of h rows; the caller frees. */
qfz_status qfz_census_make(const qfz_partition *partition, int64_t h, uint64_t **words,
                           int64_t *n_words, qfz_error *err);

/* A partition that the caller releases by qfz_census_fini(), from words that may be forged; the
 * first *n_used of them are the census.  *fits: whether they can be of a chunk of h x w pixels. */
qfz_status qfz_census_read(const uint64_t *words, int64_t n_words, int64_t h, int64_t w,
                           qfz_partition *partition, int64_t *n_used, bool *fits, qfz_error *err);
void qfz_census_fini(qfz_partition *partition);

#endif
