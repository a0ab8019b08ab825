/* SPDX-License-Identifier: MIT */
/* grid.h - the caller's grid of chunks, checked, and its chunks one by one. */
#ifndef QFZ_CHUNKS_GRID_H
#define QFZ_CHUNKS_GRID_H

#include "chunks/message.h"
#include "core/engine.h"

/* The rule borrows from *grid, which stays in place until qfz_grid_fini(). */
qfz_status qfz_grid_init(qfz_grid *grid, const qfz_chunks *chunks, qfz_error *err);
void qfz_grid_fini(qfz_grid *grid);

/* QFZ_EARG: there is no such chunk. */
qfz_status qfz_grid_box(const qfz_grid *grid, int64_t row, int64_t column, qfz_box *box,
                        qfz_error *err);

/* *worker has loaded the caller's image of a chunk, whose copy is *copy; the caller closes the
 * worker.  QFZ_EARG: the image is not one of this grid. */
qfz_status qfz_grid_load(const qfz_grid *grid, qfz_box box, const qfz_image *image, qfz_image *copy,
                         qfz_worker **worker, qfz_error *err);

#endif
