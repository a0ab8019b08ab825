/* SPDX-License-Identifier: MIT */
/* picture_grid.h - how a small picture shows a raster: by every step-th pixel, or each pixel as a
 * square of zoom x zoom. */
#ifndef QFZ_PICTURE_GRID_H
#define QFZ_PICTURE_GRID_H

#include <stdint.h>

enum { QFZ_PICTURE_SIDE = 2048, QFZ_PICTURE_ZOOM = 4, QFZ_RGB = 3 };

/* Sample (y, x) is the raster's pixel (y * step, x * step), and zoom x zoom pixels of the picture.
 * One of step and zoom is 1. */
typedef struct qfz_picture_grid {
    int64_t step, zoom;
    int64_t n_x, n_y; /* samples */
} qfz_picture_grid;

/* The largest zoom, up to QFZ_PICTURE_ZOOM, or the least step with which no side of the picture of
 * a raster of w x h pixels is longer than QFZ_PICTURE_SIDE. */
static inline qfz_picture_grid qfz_picture_grid_of(int64_t w, int64_t h)
{
    const int64_t longest = w > h ? w : h;
    const int64_t step = (longest - 1) / QFZ_PICTURE_SIDE + 1;
    const int64_t zoom = longest > QFZ_PICTURE_SIDE ? 1 : QFZ_PICTURE_SIDE / longest;
    return (qfz_picture_grid){.step = step,
                              .zoom = zoom < QFZ_PICTURE_ZOOM ? zoom : QFZ_PICTURE_ZOOM,
                              .n_x = (w - 1) / step + 1,
                              .n_y = (h - 1) / step + 1};
}

#endif
