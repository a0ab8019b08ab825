/* SPDX-License-Identifier: MIT */
/* blocks.h - the memory that GDAL and libtiff take for the blocks of a raster, beside the pixels of
 * the blocks. */
#ifndef QFZ_RASTER_BLOCKS_H
#define QFZ_RASTER_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qfz_blocks {
    int64_t n_x, n_y; /* of one band */
    int n_bands;      /* bands that have a table of blocks in GDAL's cache */
    int n_planes;     /* bands whose blocks have places of their own in the file */
    bool are_in_set;  /* opened with GDAL_OF_HASHSET_BLOCK_ACCESS */
} qfz_blocks;

/* True if a set of the blocks in the cache takes much less memory than GDAL's table, which has
 * squares of 64 x 64 blocks: a raster of few rows of blocks would fill a small part of each. */
bool qfz_blocks_want_set(int64_t n_x, int64_t n_y);

/* Bytes of the tables of an open dataset, at most. */
int64_t qfz_blocks_table_bytes(const qfz_blocks *blocks);

#endif
