/* SPDX-License-Identifier: MIT */
/* label_tile.h - a tile of a raster of labels in memory. */
#ifndef QFZ_LABEL_TILE_H
#define QFZ_LABEL_TILE_H

#include "core/box.h"

/* Pixel (y, x) of the tile is labels[(y - box.y0) * w + x - box.x0]; 0: no region.  A tile with a
 * margin also has the next row and the next column of the raster, as far as there are any:
 * h is box.y1 - box.y0 or one more, w is box.x1 - box.x0 or one more. */
typedef struct qfz_label_tile {
    qfz_box box; /* the pixels that belong to the tile */
    int64_t h, w;
    const uint64_t *labels;
} qfz_label_tile;

#endif
