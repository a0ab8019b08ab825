/* SPDX-License-Identifier: MIT */
/* sink_state.h - the insides of a sink, for the files that write it. */
#ifndef QFZ_RASTER_SINK_STATE_H
#define QFZ_RASTER_SINK_STATE_H

#include <gdal.h>
#include <pthread.h>

#include "raster/format.h"
#include "raster/placement.h"
#include "raster/sink.h"

typedef struct qfz_sink_blocks qfz_sink_blocks; /* sink_blocks.c */

struct qfz_sink {
    qfz_sink_spec spec; /* y0 and y1 are always set: the rows of the file */
    qfz_format format;
    char *path;           /* of the file: spec.path, or the path of the part */
    char *temp;           /* renamed to path in the end */
    char *whole;          /* of a part in a bucket: the VRT that is deleted before the part appears;
                             else NULL */
    char *work;           /* format.copies: the GTiff that is copied; else NULL */
    GDALDatasetH dataset; /* being written; after commit the complete file, opened for reading; NULL
                             while blocks is set */
    GDALRasterBandH mask;
    int block_w, block_h;    /* of a TIFF, else 0 */
    bool takes_blocks;       /* blocks hold one band each, in the type that the caller writes */
    qfz_sink_blocks *blocks; /* blocks are written past GDAL, else NULL */
    bool no_blocks;          /* no more blocks are written past GDAL */
    int n_threads;           /* that may encode one box; 0: one for each processor */
    uint8_t *mask_rows;      /* buffer for mask values */
    int64_t mask_px;
    qfz_retry retry;
    qfz_placement placement; /* of a file that has its name, until commit */
    bool overwrite;          /* the file may replace another one */
    bool placed;
    bool is_fresh; /* no journal: existing side files are not left over from the same job */
    bool has_lock; /* lock and blocks_lock are initialised */
    bool is_read; /* it has been read: threads of GDAL compress no blocks any more, which a read may
                     not find */
    bool finished, committed;
    bool differs;            /* the copy has other values than the GTiff */
    qfz_error why;           /* the first failure of a write or of the end */
    qfz_advance_fn progress; /* of copying; NULL: none */
    void *progress_arg;
    int64_t n_attributes; /* rows of its attribute table; 0: none */
    double copy_from;     /* the share of the end that is done before the copy */
    pthread_mutex_t lock;
    pthread_rwlock_t blocks_lock; /* of blocks; taken after lock */
};

/* After the file was closed: QFZ_EIO unless its attribute table reads back with as many rows as it
 * got (attributes.c). */
qfz_status qfz_sink_check_attributes(const qfz_sink *sink, qfz_error *err);

/* Keeps the first failure, which all later writes report: threads that wait for the lock may return
 * before the thread that failed.  Returns st, the status that was written to *err. */
static inline qfz_status qfz_sink_keep_failure(qfz_sink *sink, qfz_status st, const qfz_error *err)
{
    if (st != QFZ_OK && sink->why.status == QFZ_OK) {
        if (err) sink->why = *err;
        sink->why.status = st;
    }
    return st;
}

#endif
