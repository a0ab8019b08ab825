/* SPDX-License-Identifier: MIT */
/* label_paint.h - regions in colours: a raster with a colour table, and a small picture.
 *
 * A pass over the labels finds which regions touch; then each region has its colour, and a second
 * pass paints.  A picture in means, or of the image itself, needs no colours. */
#ifndef QFZ_LABEL_PAINT_H
#define QFZ_LABEL_PAINT_H

#include "job/label_pass.h"
#include "job/values.h"
#include "raster/raster.h"

typedef struct qfz_label_paint {
    const qfz_job *job;       /* borrowed, as source, pass, folder and image */
    const qfz_source *source; /* of the georeference; located */
    const qfz_label_pass *pass;
    const char *folder;
    const qfz_source *image; /* that a picture shows; NULL: none */
    uint8_t palette[QFZ_COLORS + 1][4];
    qfz_coloring *coloring; /* NULL: no colours are needed */
    uint8_t **colors;       /* of a tile, for each thread */
    qfz_sink *sink;         /* of --colors; NULL: none */
    qfz_picture *picture;
    qfz_values *values; /* of image */
    int rgb[QFZ_RGB];   /* its bands */
    qfz_png *png;
} qfz_label_paint;

/* True if regions need colours, and if the picture needs an image. */
bool qfz_label_paint_colors(const qfz_job *job);
bool qfz_label_paint_shows_image(const qfz_job *job);

/* Checks what is known before labels are. */
qfz_status qfz_label_paint_check(const qfz_job *job, qfz_source *source, qfz_error *err);

/* The first six members are set.  bytes: of memory.  The caller calls close() in any case. */
qfz_status qfz_label_paint_open(qfz_label_paint *paint, int64_t bytes, qfz_error *err);
void qfz_label_paint_close(qfz_label_paint *paint); /* deletes unfinished files */

/* In the first pass over the labels: a tile with a margin. */
qfz_status qfz_label_paint_add(qfz_label_paint *paint, int thread, const qfz_label_tile *tile,
                               qfz_error *err);

/* The colours and the second pass, of this share of the run time; then the outputs are complete
 * under temporary names. */
qfz_status qfz_label_paint_finish(qfz_label_paint *paint, double share, qfz_error *err);

/* As qfz_sink_place() and qfz_sink_commit(). */
qfz_status qfz_label_paint_place(qfz_label_paint *paint, qfz_error *err);
qfz_status qfz_label_paint_commit(qfz_label_paint *paint, qfz_error *err);

#endif
