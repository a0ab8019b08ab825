/* SPDX-License-Identifier: MIT */
/* label_strips.h - labels with the pixels around them, each pixel read once or little more.
 *
 * A strip is a row of blocks of the source, as wide as the memory permits.  A thread reads strips
 * from the top of a segment downwards, each in cells of a few blocks from the left to the right.
 * It keeps the last columns of a cell and the last rows of a strip.  So the boxes that are visited
 * lie one pixel above and left of the cells: all pixels around them are in memory. */
#ifndef QFZ_LABEL_STRIPS_H
#define QFZ_LABEL_STRIPS_H

#include "core/label_grid.h"
#include "job/label_pass.h"
#include "raster/raster.h"

typedef struct qfz_label_strip {
    qfz_box box;
    qfz_label_grid labels; /* from one pixel above and left of the box, to one below and right of
                              it; 0 outside the raster */
} qfz_label_strip;

typedef qfz_status (*qfz_strip_visit_fn)(void *arg, int thread, const qfz_label_strip *strip,
                                         qfz_error *err);

/* Visits boxes that cover the raster; of a part, those of its rows, moved up by one pixel.
 * pass->tiling is not used.  tile_px > 0: strips are squares of that side.  bytes: of memory for
 * each thread. */
qfz_status qfz_label_strips_run(const qfz_label_pass *pass, const qfz_source_info *info,
                                int32_t tile_px, int64_t bytes, const char *step, double share,
                                qfz_strip_visit_fn visit, void *arg, qfz_error *err);

#endif
