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

/* The image of a chunk, and a worker that has loaded it. */
typedef struct qfz_loaded {
    qfz_image image;
    uint8_t *zeroed; /* what the image points to, or NULL */
    qfz_worker *worker;
} qfz_loaded;

/* Loads the caller's image for a round; exterior: the payload of the round before, NULL in the
 * first.  With an area filter, later rounds begin with the edges of level 0.  The caller calls
 * qfz_loaded_fini().  QFZ_EARG: the image is not one of this grid.  *fits: the exterior is of it.
 */
qfz_status qfz_grid_load(const qfz_grid *grid, int round, qfz_box box, const qfz_image *image,
                         const qfz_payload *exterior, qfz_loaded *loaded, bool *fits,
                         qfz_error *err);
void qfz_loaded_fini(qfz_loaded *loaded); /* all 0 is allowed */

#endif
