/* SPDX-License-Identifier: MIT */
#include "raster/sink_blocks.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "raster/block_batch.h"
#include "raster/error_trap.h"
#include "raster/out_type_facts.h"
#include "raster/retry_vsi.h"
#include "raster/sink_pixels.h"
#include "raster/text.h"
#include "raster/tiff_index.h"

enum { BATCH_BYTES = 2 << 20 }; /* of pixels: opening a batch takes less than a tenth of encoding */

struct qfz_sink_blocks {
    char *name; /* under which GDAL opens the file */
    qfz_block_form form;
    qfz_tiff_index index;
    int64_t n_x, n_y; /* blocks of a band */
    int per_batch;
    pthread_mutex_t lock; /* of end */
    int64_t end;          /* of the file, what is reserved included */
};

/* ------------------------------------------------------------------------------ begin and end */

static char **creation_options(const qfz_sink *sink)
{
    return sink->format.copies ? sink->format.work_options : sink->format.options;
}

static qfz_status close_dataset(qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    GDALClose(sink->dataset);
    qfz_error_trap_end(&trap);
    sink->dataset = NULL;
    return trap.failed ? qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "") : QFZ_OK;
}

static qfz_status reopen_dataset(qfz_sink *sink, const char *name, qfz_error *err)
{
    static const char *const options[] = {"SPARSE_OK=TRUE", NULL};
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    sink->dataset = GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_UPDATE | GDAL_OF_VERBOSE_ERROR, NULL,
                               options, NULL);
    qfz_error_trap_end(&trap);
    if (sink->dataset) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "it could not be opened again");
}

static void free_blocks(qfz_sink_blocks *b)
{
    if (!b) return;
    (void)pthread_mutex_destroy(&b->lock);
    qfz_tiff_index_close(&b->index);
    CSLDestroy(b->form.options);
    free(b->name);
    free(b);
}

static qfz_status find_index(const qfz_sink *sink, qfz_sink_blocks *b, bool *found, qfz_error *err)
{
    VSILFILE *const file = VSIFOpenL(b->name, "rb");
    const int64_t n = b->n_x * b->n_y * sink->spec.n_bands;
    if (!file) return qfz_fail(err, QFZ_EIO, "%s: it could not be read back", sink->path);
    qfz_status st = qfz_tiff_index_open(&b->index, file, n, found, err);
    (void)VSIFSeekL(file, 0, SEEK_END);
    b->end = (int64_t)VSIFTellL(file);
    (void)VSIFCloseL(file);
    return st;
}

/* Of GDAL's file systems, some cannot write to one file through several handles at once: GDAL 3.6
 * moves a file in memory while another thread writes to it. */
static bool is_plain_file(const char *name)
{
    return strncmp(name, QFZ_RETRY_VSI_PREFIX, strlen(QFZ_RETRY_VSI_PREFIX)) == 0;
}

/* *blocks stays NULL if the file is of another form. */
static qfz_status make(const qfz_sink *sink, qfz_sink_blocks **blocks, qfz_error *err)
{
    const int64_t h = sink->spec.y1 - sink->spec.y0;
    const int64_t bytes =
        (int64_t)sink->block_w * sink->block_h * (int64_t)qfz_out_type_bytes(sink->spec.type);
    const char *const name = GDALGetDescription(sink->dataset);
    qfz_sink_blocks *b = NULL;
    if (!is_plain_file(name)) return QFZ_OK;
    char **const options = qfz_block_options(creation_options(sink), sink->block_w, sink->block_h);
    if (!options) return QFZ_OK;
    qfz_status st = QFZ_NEW_ZERO(&b, 1, err);
    if (st == QFZ_OK && pthread_mutex_init(&b->lock, NULL) != 0) {
        free(b);
        b = NULL;
        st = qfz_fail(err, QFZ_ENOMEM, "%s: out of memory for a lock", sink->path);
    }
    if (st != QFZ_OK) {
        CSLDestroy(options);
        return st;
    }
    b->form = (qfz_block_form){.spec = &sink->spec,
                               .options = options,
                               .type = sink->format.buffer_type,
                               .block_w = sink->block_w,
                               .block_h = sink->block_h};
    b->n_x = (sink->spec.w - 1) / sink->block_w + 1;
    b->n_y = (h - 1) / sink->block_h + 1;
    b->per_batch = bytes < BATCH_BYTES ? (int)(BATCH_BYTES / bytes) : 1;
    *blocks = b;
    return qfz_text_copy(&b->name, name, err);
}

/* Closes GDAL's file and finds the index, or opens the file again if its form is unknown. */
static qfz_status begin(qfz_sink *sink, qfz_error *err)
{
    qfz_sink_blocks *b = NULL;
    bool found = false;
    qfz_status st = make(sink, &b, err);
    if (st == QFZ_OK && b) st = close_dataset(sink, err);
    if (st == QFZ_OK && b) st = find_index(sink, b, &found, err);
    if (st == QFZ_OK && b && !found) st = reopen_dataset(sink, b->name, err);
    if (st == QFZ_OK && found)
        sink->blocks = b;
    else
        free_blocks(b);
    return st;
}

static qfz_status store_index(const qfz_sink *sink, qfz_error *err)
{
    const qfz_sink_blocks *const b = sink->blocks;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    VSILFILE *const file = VSIFOpenL(b->name, "r+b");
    bool ok = file && qfz_tiff_index_store(&b->index, file);
    if (file && VSIFCloseL(file) != 0) ok = false;
    qfz_error_trap_end(&trap);
    if (ok && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path,
                               "the places of its blocks could not be written");
}

qfz_status qfz_sink_blocks_end(qfz_sink *sink, bool reopen, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_rwlock_wrlock(&sink->blocks_lock);
    sink->no_blocks = true;
    if (sink->blocks) {
        st = store_index(sink, err);
        if (st == QFZ_OK && reopen) st = reopen_dataset(sink, sink->blocks->name, err);
        qfz_sink_blocks_close(sink);
    }
    (void)pthread_rwlock_unlock(&sink->blocks_lock);
    return st;
}

void qfz_sink_blocks_close(qfz_sink *sink)
{
    free_blocks(sink->blocks);
    sink->blocks = NULL;
}

/* --------------------------------------------------------------------------------------- write */

/* A box on its way: its blocks are counted row by row, band by band. */
typedef struct writing {
    qfz_sink *sink;
    qfz_box box;
    const char *pixels;
    int64_t n_x, n_y, n_batches;
} writing;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The pixels of block i of the box, and its band, from 0. */
static qfz_box box_of(const writing *w, int64_t i, int *band)
{
    const qfz_sink *const sink = w->sink;
    const int64_t in_band = i % (w->n_x * w->n_y);
    qfz_box part = {.y0 = w->box.y0 + in_band / w->n_x * sink->block_h,
                    .x0 = w->box.x0 + in_band % w->n_x * sink->block_w};
    part.y1 = least(part.y0 + sink->block_h, w->box.y1);
    part.x1 = least(part.x0 + sink->block_w, w->box.x1);
    *band = (int)(i / (w->n_x * w->n_y));
    return part;
}

static void fill(const writing *w, int64_t i, char *block)
{
    const size_t px_bytes = qfz_out_type_bytes(w->sink->spec.type);
    int band;
    const qfz_box part = box_of(w, i, &band);
    const int64_t box_w = qfz_box_w(w->box), n = qfz_box_h(w->box) * box_w;
    const int64_t first = band * n + (part.y0 - w->box.y0) * box_w + part.x0 - w->box.x0;
    qfz_sink_fill_block(w->sink, block, w->pixels + (size_t)first * px_bytes, box_w, part);
}

/* The place of block i of the box in the index. */
static int64_t in_index(const writing *w, int64_t i)
{
    const qfz_sink *const sink = w->sink;
    const qfz_sink_blocks *const b = sink->blocks;
    int band;
    const qfz_box part = box_of(w, i, &band);
    return (band * b->n_y + (part.y0 - sink->spec.y0) / sink->block_h) * b->n_x +
           part.x0 / sink->block_w;
}

/* A place of n_bytes at the end of the file. */
static int64_t reserve(qfz_sink_blocks *b, int64_t n_bytes)
{
    (void)pthread_mutex_lock(&b->lock);
    const int64_t at = b->end;
    b->end += n_bytes;
    (void)pthread_mutex_unlock(&b->lock);
    return at;
}

static qfz_status append(const qfz_sink *sink, const uint8_t *bytes, int64_t n, int64_t at,
                         qfz_error *err)
{
    qfz_error_trap trap;
    if (n == 0) return QFZ_OK;
    qfz_error_trap_begin(&trap);
    VSILFILE *const file = VSIFOpenL(sink->blocks->name, "r+b");
    bool ok = file && VSIFSeekL(file, (vsi_l_offset)at, SEEK_SET) == 0 &&
              VSIFWriteL(bytes, 1, (size_t)n, file) == (size_t)n;
    if (file && VSIFCloseL(file) != 0) ok = false;
    qfz_error_trap_end(&trap);
    if (ok && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "blocks could not be written");
}

static qfz_status encode(const writing *w, qfz_block_batch *batch, int64_t first, int64_t n,
                         qfz_error *err)
{
    const qfz_sink *const sink = w->sink;
    const size_t px_bytes = qfz_out_type_bytes(sink->spec.type);
    char *block = NULL;
    qfz_status st = QFZ_OK;
    QFZ_TRY(qfz_alloc((void **)&block, (int64_t)sink->block_w * sink->block_h, px_bytes, err));
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        fill(w, first + i, block);
        st = qfz_block_batch_put(batch, (int)i, block, err);
    }
    free(block);
    return st;
}

/* Sets the places of n encoded blocks of the box, the bytes of which begin at this offset. */
static qfz_status set_places(const writing *w, const qfz_block_batch *batch, int64_t first,
                             int64_t n, int64_t offset, qfz_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at, n_bytes;
        qfz_block_batch_place(batch, (int)i, &at, &n_bytes);
        const int64_t place = n_bytes > 0 ? offset + at : 0;
        if (!qfz_tiff_index_set(&w->sink->blocks->index, in_index(w, first + i), place, n_bytes))
            return qfz_fail(err, QFZ_EIO,
                            "%s: it grows beyond what a TIFF of 32 bits can hold; use "
                            "--co BIGTIFF=YES",
                            w->sink->path);
    }
    return QFZ_OK;
}

static qfz_status write_encoded(const writing *w, qfz_block_batch *batch, int64_t first, int64_t n,
                                qfz_error *err)
{
    const uint8_t *bytes = NULL;
    int64_t n_bytes = 0;
    QFZ_TRY(qfz_block_batch_end(batch, &bytes, &n_bytes, err));
    const int64_t at = reserve(w->sink->blocks, n_bytes);
    QFZ_TRY(set_places(w, batch, first, n, at, err));
    return append(w->sink, bytes, n_bytes, at, err);
}

static qfz_status write_batch(void *arg, int64_t item, int worker, qfz_error *err)
{
    const writing *const w = arg;
    const qfz_sink_blocks *const b = w->sink->blocks;
    const int64_t all = w->n_x * w->n_y * w->sink->spec.n_bands, first = item * b->per_batch;
    const int64_t n = least(b->per_batch, all - first);
    qfz_block_batch *batch = NULL;
    (void)worker;
    QFZ_TRY(qfz_block_batch_open(&batch, &b->form, (int)n, err));
    qfz_status st = encode(w, batch, first, n, err);
    if (st == QFZ_OK) st = write_encoded(w, batch, first, n, err);
    qfz_block_batch_close(batch);
    return st;
}

static qfz_status write_box(qfz_sink *sink, qfz_box box, const void *pixels, qfz_error *err)
{
    writing w = {.sink = sink,
                 .box = box,
                 .pixels = pixels,
                 .n_x = (qfz_box_w(box) - 1) / sink->block_w + 1,
                 .n_y = (qfz_box_h(box) - 1) / sink->block_h + 1};
    const int64_t all = w.n_x * w.n_y * sink->spec.n_bands, per_batch = sink->blocks->per_batch;
    const int n_threads = sink->n_threads > 0 ? sink->n_threads : CPLGetNumCPUs();
    return qfz_parallel_within(n_threads, (all - 1) / per_batch + 1, write_batch, &w, err);
}

/* Begins with the first box. */
static qfz_status begin_once(qfz_sink *sink, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_mutex_lock(&sink->lock);
    (void)pthread_rwlock_wrlock(&sink->blocks_lock);
    if (!sink->blocks && !sink->no_blocks) st = begin(sink, err);
    if (!sink->blocks) sink->no_blocks = true;
    (void)pthread_rwlock_unlock(&sink->blocks_lock);
    st = qfz_sink_keep_failure(sink, st, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

qfz_status qfz_sink_blocks_write(qfz_sink *sink, qfz_box box, const void *pixels, bool *written,
                                 qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_rwlock_rdlock(&sink->blocks_lock);
    if (!sink->blocks && !sink->no_blocks) {
        (void)pthread_rwlock_unlock(&sink->blocks_lock);
        QFZ_TRY(begin_once(sink, err));
        (void)pthread_rwlock_rdlock(&sink->blocks_lock);
    }
    *written = sink->blocks != NULL;
    if (*written) st = write_box(sink, box, pixels, err);
    (void)pthread_rwlock_unlock(&sink->blocks_lock);
    if (st == QFZ_OK) return QFZ_OK;
    (void)pthread_mutex_lock(&sink->lock);
    st = qfz_sink_keep_failure(sink, st, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}
