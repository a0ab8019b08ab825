/* SPDX-License-Identifier: MIT */
/* tiff_index.h - where the blocks of a tiled TIFF lie in the file: its arrays TileOffsets and
 * TileByteCounts (TIFF 6.0, section 15; BigTIFF has the same with 64 bits). */
#ifndef QFZ_RASTER_TIFF_INDEX_H
#define QFZ_RASTER_TIFF_INDEX_H

#include <cpl_vsi.h>

#include "core/status.h"

typedef struct qfz_tiff_array {
    int64_t at;      /* in the file */
    int width;       /* bytes of a number: 2, 4 or 8 */
    uint64_t *value; /* one for each block; owned */
} qfz_tiff_array;

/* Blocks of band 1 row by row, then those of band 2 ...  Offset and size 0: the block is left out,
 * and all its pixels are nodata. */
typedef struct qfz_tiff_index {
    int64_t n;
    qfz_tiff_array offset, bytes;
} qfz_tiff_index;

/* Finds the arrays of the file's first raster, and sets all values to 0.  *found = false, and no
 * memory is kept, if the file is not tiled, has another number of blocks than n, or another order
 * of bytes than this machine. */
qfz_status qfz_tiff_index_open(qfz_tiff_index *index, VSILFILE *file, int64_t n, bool *found,
                               qfz_error *err);

/* Sets the place of a block; false, and nothing is set, if the arrays cannot hold it. */
bool qfz_tiff_index_set(qfz_tiff_index *index, int64_t block, int64_t offset, int64_t bytes);

/* Writes the values into the file; false if that failed. */
bool qfz_tiff_index_store(const qfz_tiff_index *index, VSILFILE *file);

void qfz_tiff_index_close(qfz_tiff_index *index); /* a zeroed index is allowed */

#endif
