/* SPDX-License-Identifier: MIT */
/* picture.h - a small picture of regions with their borders, by samples of the labels: in colours,
 * in means of an image, or as lines over the image.
 *
 * A border is drawn along the right and the lower side of a sample, if the region of the next one
 * there is another; none is drawn if more than half of the picture would be border. */
#ifndef QFZ_PICTURE_H
#define QFZ_PICTURE_H

#include "core/level.h"
#include "regions/label_tile.h"
#include "regions/picture_grid.h"

typedef struct qfz_picture qfz_picture;

/* Of a raster of w x h pixels.  folder: of a temporary file; borrowed. */
qfz_status qfz_picture_open(qfz_picture **picture, qfz_quicklook_style style, int64_t w, int64_t h,
                            const char *folder, qfz_error *err);
void qfz_picture_close(qfz_picture *picture); /* NULL is allowed */

/* Adds a tile.  Style COLORS: the colours of its pixels (without the margin).  Other styles: their
 * values; red, green and blue are those of the bands rgb[], from 0.  Any thread. */
qfz_status qfz_picture_add(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                           const qfz_image *values, const int rgb[QFZ_RGB], qfz_error *err);

/* After the last tile: *rgb = *w x *h pixels of red, green and blue, which the caller frees.
 * palette: as qfz_coloring_palette(); pixels without a region, or without a value, are white. */
qfz_status qfz_picture_draw(qfz_picture *picture, const uint8_t (*palette)[4], uint8_t **rgb,
                            int *w, int *h, qfz_error *err);

#endif
