/* SPDX-License-Identifier: MIT */
/* block_batch.h - blocks of a tiled GTiff as the bytes that GDAL makes of them.
 *
 * A batch is a GTiff in memory, one block wide, with the creation options of the file that the
 * blocks are for.  So every codec and predictor of GDAL can be used by several threads at once,
 * each with a batch of its own, and GDAL decides which blocks are left out (SPARSE_OK). */
#ifndef QFZ_RASTER_BLOCK_BATCH_H
#define QFZ_RASTER_BLOCK_BATCH_H

#include <gdal.h>

#include "raster/sink_spec.h"

/* What all batches of a file have in common; borrowed pointers. */
typedef struct qfz_block_form {
    const qfz_sink_spec *spec; /* path, for messages, and nodata */
    char **options;            /* creation options of a batch (qfz_block_options()) */
    GDALDataType type;
    int block_w, block_h;
} qfz_block_form;

typedef struct qfz_block_batch qfz_block_batch;

/* The options of a batch for a tiled GTiff with these creation options; NULL if its blocks cannot
 * be made one by one: a codec that loses values or has tables of its own, or bits that are packed.
 */
char **qfz_block_options(char **creation_options, int block_w, int block_h);

qfz_status qfz_block_batch_open(qfz_block_batch **batch, const qfz_block_form *form, int n,
                                qfz_error *err);

/* Encodes block i, 0 <= i < n. */
qfz_status qfz_block_batch_put(qfz_block_batch *batch, int i, void *block, qfz_error *err);

/* Then, once: *bytes = the encoded blocks, *n_bytes long, borrowed until close. */
qfz_status qfz_block_batch_end(qfz_block_batch *batch, const uint8_t **bytes, int64_t *n_bytes,
                               qfz_error *err);

/* Where block i lies in these bytes; *n_bytes = 0: it is left out. */
void qfz_block_batch_place(const qfz_block_batch *batch, int i, int64_t *at, int64_t *n_bytes);

void qfz_block_batch_close(qfz_block_batch *batch); /* NULL is allowed */

#endif
