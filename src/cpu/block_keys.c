/* SPDX-License-Identifier: MIT */
/* block_keys.c - the order of (level, position) in a row of squares, in 64 bits. */
#include "core/position.h"
#include "core/simd.h"
#include "cpu/block_rows.h"

/* Indices step along a row of the raster, in the bits above the direction. */
QFZ_CLONES_512 static void set_keys(const uint32_t *restrict levels, uint64_t first,
                                    uint64_t *restrict keys)
{
    for (int i = 0; i < QFZ_SQUARES; i++) {
        const uint64_t key =
            (uint64_t)levels[i] << 32 | qfz_mix64(first + ((uint64_t)i << 2)) >> 32;
        keys[i] = levels[i] == QFZ_NONE ? UINT64_MAX : key;
    }
}

void qfz_square_row_set_keys(qfz_square_row *row, int64_t y, int64_t x, int connectivity)
{
    const uint64_t a = ((uint64_t)y << 34) + ((uint64_t)x << 2), b = a + (1 << 2);
    set_keys(row->h, a | qfz_position_number(QFZ_RIGHT), row->key[QFZ_EDGE_H]);
    set_keys(row->v, a | qfz_position_number(QFZ_BELOW), row->key[QFZ_EDGE_V]);
    if (connectivity == 4) return;
    set_keys(row->fall, a | qfz_position_number(QFZ_BELOW_RIGHT), row->key[QFZ_EDGE_FALL]);
    set_keys(row->rise, b | qfz_position_number(QFZ_BELOW_LEFT), row->key[QFZ_EDGE_RISE]);
}
