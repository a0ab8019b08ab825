/* SPDX-License-Identifier: MIT */
/* labels.h - the labels of a chunk's regions, as words of a message: the number of regions of the
 * image; the numbers of regions and of border regions of the chunk; the labels before the first one
 * of each row; the labels of border regions, 0 for those that the chunk owns. */
#ifndef QFZ_CHUNKS_LABELS_H
#define QFZ_CHUNKS_LABELS_H

#include "core/engine.h"

/* *words: of a chunk of h rows; the caller frees. */
qfz_status qfz_labels_make(const qfz_numbers *numbers, const qfz_partition *partition, int64_t h,
                           uint64_t n_regions, uint64_t **words, int64_t *n_words, qfz_error *err);

/* *numbers points into words, which may be forged.  *fits: the words are of this partition of a
 * chunk of h x w pixels, and every label would be 1..*n_regions. */
qfz_status qfz_labels_read(uint64_t *words, int64_t n_words, const qfz_partition *partition,
                           int64_t h, int64_t w, qfz_numbers *numbers, uint64_t *n_regions,
                           bool *fits, qfz_error *err);

#endif
