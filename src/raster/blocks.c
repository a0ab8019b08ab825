/* SPDX-License-Identifier: MIT */
#include "raster/blocks.h"

/* GDAL's table is made of squares from half a square in a row on (GDAL 3.6). */
enum { SQUARE = 64, FEW_ROWS = SQUARE / 2 };

bool qfz_blocks_want_set(int64_t n_x, int64_t n_y)
{
    return n_x >= SQUARE / 2 && n_y < FEW_ROWS;
}

static int64_t n_squares(int64_t n)
{
    return (n - 1) / SQUARE + 1;
}

/* Rasters of more blocks than that get a set from GDAL. */
static int64_t cache_bytes(const qfz_blocks *b)
{
    const int64_t pointer = sizeof(void *), most = 1 << 20;
    if (b->are_in_set || b->n_x * b->n_y >= most / b->n_bands) return 0;
    if (b->n_x < SQUARE / 2) return pointer * b->n_x * b->n_y * b->n_bands;
    return pointer * SQUARE * SQUARE * n_squares(b->n_x) * n_squares(b->n_y) * b->n_bands;
}

int64_t qfz_blocks_table_bytes(const qfz_blocks *blocks)
{
    const int64_t place = 2 * sizeof(uint64_t); /* offset and size in the file */
    return cache_bytes(blocks) + place * blocks->n_x * blocks->n_y * blocks->n_planes;
}
