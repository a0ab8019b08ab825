/* SPDX-License-Identifier: MIT */
/* picture.h - a small picture of coloured regions with their borders, by samples of the labels.
 *
 * A pixel of the picture shows one pixel of the raster; it is dark where the region of the next
 * sample to the right or below is another one. */
#ifndef QFZ_PICTURE_H
#define QFZ_PICTURE_H

#include "core/status.h"
#include "regions/label_tile.h"

enum { QFZ_PICTURE_SIDE = 2048 }; /* pixels, at most */

typedef struct qfz_picture qfz_picture;

/* Of a raster of w x h pixels.  folder: of a temporary file; borrowed. */
qfz_status qfz_picture_open(qfz_picture **picture, int64_t w, int64_t h, const char *folder,
                            qfz_error *err);
void qfz_picture_close(qfz_picture *picture); /* NULL is allowed */

/* Adds a tile and the colours of its pixels (without the margin).  Any thread. */
qfz_status qfz_picture_add(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                           qfz_error *err);

/* After the last tile: *rgb = *w x *h pixels of red, green and blue, which the caller frees.
 * palette: as qfz_coloring_palette(); pixels without a region are white. */
qfz_status qfz_picture_draw(qfz_picture *picture, const uint8_t (*palette)[4], uint8_t **rgb,
                            int *w, int *h, qfz_error *err);

#endif
