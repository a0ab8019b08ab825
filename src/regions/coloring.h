/* SPDX-License-Identifier: MIT */
/* coloring.h - colours of regions, such that regions that touch, in sides or corners, differ.
 *
 * In ascending order of labels, each region gets the least colour that no neighbour of a lower
 * label has.  So the colours follow from the labels alone, not from tiles or threads. */
#ifndef QFZ_COLORING_H
#define QFZ_COLORING_H

#include "core/status.h"
#include "regions/gather.h"
#include "regions/label_tile.h"

enum { QFZ_COLORS = 255 }; /* colours are 1 .. 255; 0: no region */

typedef struct qfz_coloring qfz_coloring;

/* n_px: of the raster.  bytes: of memory for all threads together.  folder: of temporary files;
 * borrowed, as name, that of the labels, for messages. */
qfz_status qfz_coloring_open(qfz_coloring **coloring, int64_t n_px, int n_threads, int64_t bytes,
                             const char *folder, const char *name, qfz_error *err);
void qfz_coloring_close(qfz_coloring *coloring); /* NULL is allowed */

/* Adds the regions of a tile with a margin. */
qfz_status qfz_coloring_add(qfz_coloring *coloring, int thread, const qfz_label_tile *tile,
                            qfz_error *err);

/* What the tiles have added so far; borrowed, for records of other processes. */
enum { QFZ_COLORING_GATHERS = 3 };
void qfz_coloring_gathers(const qfz_coloring *coloring, qfz_gather *gathers[QFZ_COLORING_GATHERS]);

/* After the last tile.  QFZ_EARG: 255 colours do not suffice.  QFZ_ENOMEM: labels are so far apart
 * that the list of them is needed, and it does not fit. */
qfz_status qfz_coloring_solve(qfz_coloring *coloring, qfz_error *err);

/* The number of colours in use. */
int qfz_coloring_n(const qfz_coloring *coloring);

/* colors[i] = the colour of pixel i of the tile, counted row by row without the margin. */
qfz_status qfz_coloring_paint(qfz_coloring *coloring, int thread, const qfz_label_tile *tile,
                              uint8_t *colors, qfz_error *err);

/* Red, green, blue and opacity of the colours 0 .. 255: the first twelve chosen to be easy to
 * distinguish, the others spread over the hues. */
void qfz_coloring_palette(uint8_t palette[QFZ_COLORS + 1][4]);

#endif
