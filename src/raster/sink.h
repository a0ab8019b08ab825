/* SPDX-License-Identifier: MIT */
/* sink.h - the insides of a raster that is written. */
#ifndef QFZ_RASTER_SINK_H
#define QFZ_RASTER_SINK_H

#include <pthread.h>

#include "raster/private.h"

struct qfz_sink {
    qfz_sink_spec spec; /* y0 and y1 are always set: the rows that the file holds */
    qfz_format format;
    char *path;           /* of the file: spec.path, or a part's own */
    char *temp;           /* becomes path */
    char *work;           /* format.copies: the GTiff that is copied; else NULL */
    GDALDatasetH dataset; /* being written; after commit path, opened when it is read */
    GDALRasterBandH mask;
    int block_w, block_h; /* of a TIFF, else 0 */
    bool takes_blocks;    /* they are of one band each, and of what the writer gives */
    uint8_t *mask_rows;   /* one chunk of mask values */
    int64_t mask_px;
    qfz_retry retry;
    bool is_fresh;     /* the job has no journal: what is there is not its own */
    bool is_locked_up; /* lock exists */
    bool failed, finished, committed;
    qfz_advance_fn told; /* of copying; NULL: nobody asks */
    void *told_arg;
    pthread_mutex_t lock;
};

/* Is the box in the file? */
qfz_status qfz_sink_check_box(const qfz_sink *sink, qfz_box box, qfz_error *err);

/* A box through GDAL, with the lock: all bands, or validity as GDAL's masks say it. */
CPLErr qfz_sink_move_pixels(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *pixels);
CPLErr qfz_sink_move_mask(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *values);

/* Makes a file of that name, which is temp's, of work by the driver that can only copy; QFZ_EIO too
 * if it does not keep the values. */
qfz_status qfz_sink_copy(const qfz_sink *sink, const char *name, qfz_error *err);

/* Errors of writing may come as late as here. */
qfz_status qfz_sink_close_dataset(qfz_sink *sink, qfz_error *err);

#endif
