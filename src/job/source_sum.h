/* SPDX-License-Identifier: MIT */
/* source_sum.h - a checksum of the pixels of each tile, by which later passes notice a source that
 * has changed since the first one.
 *
 * The sum of a row is a fast mix of its bytes, not a cryptographic one; the sum of a tile adds its
 * rows, so that rows may come in parts. */
#ifndef QFZ_SOURCE_SUM_H
#define QFZ_SOURCE_SUM_H

#include "core/rows.h"
#include "qfz.h"

/* The sum of some rows of a tile, of all its bands.  Sizes and type are the tile's. */
uint64_t qfz_source_sum_rows(const qfz_image *tile, const qfz_rows *rows);

/* The sum of what comes beside the pixels: validity and the levels of edges.  n_dirs: planes of
 * levels. */
uint64_t qfz_source_sum_beside(const qfz_image *tile, int n_dirs);

#endif
