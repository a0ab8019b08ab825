/* SPDX-License-Identifier: MIT */
/* contours.h - a small picture of a hierarchy: the edges of a saliency raster as lines, the greater
 * the level, the darker and wider.
 *
 * Lines lie between the squares that show pixels; where a pixel of the picture stands for several
 * edges, it shows the greatest of their levels. */
#ifndef QFZ_CONTOURS_H
#define QFZ_CONTOURS_H

#include "core/status.h"
#include "regions/picture_grid.h"

typedef struct qfz_contours qfz_contours;

/* Of a raster of w x h pixels. */
qfz_status qfz_contours_open(qfz_contours **contours, int64_t w, int64_t h, qfz_error *err);
void qfz_contours_close(qfz_contours *contours); /* NULL is allowed */

/* The edge from pixel (y, x) in direction dir (core/level.h), of a level >= 0.  One thread. */
void qfz_contours_add(qfz_contours *contours, int dir, int64_t y, int64_t x, float level);

/* After the last edge: *rgb = *w x *h pixels of red, green and blue, which the caller frees. */
qfz_status qfz_contours_draw(const qfz_contours *contours, uint8_t **rgb, int *w, int *h,
                             qfz_error *err);

#endif
