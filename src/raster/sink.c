/* SPDX-License-Identifier: MIT */
/* sink.c - a raster that is written, box by box, and appears under its name when complete. */
#include "raster/private.h"

#include "memory.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    qfz_patience patience;
    bool is_locked_up; /* lock exists */
    bool failed, committed;
    pthread_mutex_t lock;
};

qfz_status qfz_sink_check(const qfz_source *source, const qfz_job *job, const qfz_sink_spec *spec,
                          qfz_error *err)
{
    qfz_format format;
    if (spec->w < 1 || spec->h < 1 || spec->w > INT32_MAX || spec->h > INT32_MAX)
        return qfz_fail(err, QFZ_EARG, "%s: %lld x %lld pixels are more than GDAL can hold",
                        spec->path, (long long)spec->w, (long long)spec->h);
    QFZ_TRY(qfz_output_check(source, job, spec->path, err));
    QFZ_TRY(qfz_format_init(&format, source, job, spec, err));
    qfz_format_fini(&format);
    if (spec->n_parts == 0) return QFZ_OK;
    QFZ_TRY(qfz_parts_check(job, spec, err));
    if (!job->merge) return QFZ_OK;
    qfz_sink_spec whole = *spec;
    whole.n_parts = 0;
    QFZ_TRY(qfz_format_init(&format, source, job, &whole, err));
    qfz_format_fini(&format);
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- creation */

/* GTiff and COG are written by name of a file whose writes are tried again. */
static qfz_status name_for_driver(const qfz_sink *sink, GDALDriverH driver, const char *path,
                                  char **name, qfz_error *err)
{
    const char *const format = GDALGetDriverShortName(driver);
    if (EQUAL(format, "GTiff") || EQUAL(format, "COG"))
        return qfz_steady_name(name, path, &sink->patience, err);
    return qfz_text_copy(name, path, err);
}

static qfz_status create_file(qfz_sink *sink, qfz_error *err)
{
    const qfz_format *const f = &sink->format;
    const qfz_sink_spec *const spec = &sink->spec;
    const GDALDriverH driver = f->copies ? GDALGetDriverByName("GTiff") : f->driver;
    char *name = NULL;
    qfz_trap trap;
    QFZ_TRY(name_for_driver(sink, driver, f->copies ? sink->work : sink->temp, &name, err));
    qfz_trap_begin(&trap);
    sink->dataset =
        GDALCreate(driver, name, (int)spec->w, (int)(spec->y1 - spec->y0), spec->n_bands,
                   f->file_type, f->copies ? f->work_options : f->options);
    qfz_trap_end(&trap);
    free(name);
    if (!sink->dataset || trap.failed)
        return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "it could not be created");
    return QFZ_OK;
}

/* What sinks that are created and those that are opened have in common. */
static qfz_status name_file(qfz_sink *sink, const qfz_job *job, const qfz_sink_spec *spec,
                            qfz_error *err)
{
    sink->spec = *spec;
    sink->patience = qfz_patience_of(job);
    if (spec->n_parts > 0) {
        QFZ_TRY(qfz_part_path(&sink->path, spec, err));
    } else {
        sink->spec.y0 = 0;
        sink->spec.y1 = spec->h;
        QFZ_TRY(qfz_text_copy(&sink->path, spec->path, err));
    }
    sink->spec.path = sink->path;
    if (pthread_mutex_init(&sink->lock, NULL) != 0)
        return qfz_fail(err, QFZ_ENOMEM, "%s: no lock could be made", sink->path);
    sink->is_locked_up = true;
    return QFZ_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void find_blocks(qfz_sink *sink)
{
    const GDALRasterBandH band = GDALGetRasterBand(sink->dataset, 1);
    const char *const order = GDALGetMetadataItem(sink->dataset, "INTERLEAVE", "IMAGE_STRUCTURE");
    if (!EQUAL(GDALGetDriverShortName(GDALGetDatasetDriver(sink->dataset)), "GTiff")) return;
    GDALGetBlockSize(band, &sink->block_w, &sink->block_h);
    sink->takes_blocks = GDALGetRasterDataType(band) == sink->format.buffer_type &&
                         (sink->spec.n_bands == 1 || (order && EQUAL(order, "BAND")));
}

static void find_mask(qfz_sink *sink)
{
    if (sink->spec.has_mask) sink->mask = GDALGetMaskBand(GDALGetRasterBand(sink->dataset, 1));
}

static qfz_status create(qfz_sink *sink, const qfz_source *source, const qfz_job *job,
                         const qfz_sink_spec *spec, qfz_error *err)
{
    QFZ_TRY(name_file(sink, job, spec, err));
    if (spec->n_parts > 0) QFZ_TRY(qfz_part_make_folder(spec, err));
    QFZ_TRY(qfz_temp_name(&sink->temp, sink->path, "tmp", NULL, err));
    if (sink->format.copies) QFZ_TRY(qfz_temp_name(&sink->work, sink->path, "work", ".tif", err));
    QFZ_TRY(create_file(sink, err));
    QFZ_TRY(qfz_header_fill(sink->dataset, source, &sink->spec, sink->path, err));
    find_blocks(sink);
    find_mask(sink);
    return QFZ_OK;
}

qfz_status qfz_sink_create(qfz_sink **sink, const qfz_source *source, const qfz_job *job,
                           const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_sink *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    qfz_status st = qfz_format_init(&made->format, source, job, spec, err);
    if (st == QFZ_OK) st = create(made, source, job, spec, err);
    if (st != QFZ_OK) {
        qfz_sink_close(made);
        return st;
    }
    *sink = made;
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- pixels */
static CPLErr move_pixels(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *pixels)
{
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    return GDALDatasetRasterIOEx(sink->dataset, way, (int)box.x0, (int)(box.y0 - sink->spec.y0), w,
                                 h, pixels, w, h, sink->format.buffer_type, sink->spec.n_bands,
                                 NULL, 0, 0, 0, NULL);
}

static CPLErr move_mask(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *values)
{
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    return GDALRasterIOEx(sink->mask, way, (int)box.x0, (int)(box.y0 - sink->spec.y0), w, h, values,
                          w, h, GDT_Byte, 0, 0, NULL);
}

static qfz_status check_box(const qfz_sink *sink, qfz_box box, qfz_error *err)
{
    const qfz_sink_spec *const spec = &sink->spec;
    if (box.y0 >= spec->y0 && box.x0 >= 0 && box.y1 <= spec->y1 && box.x1 <= spec->w &&
        box.y0 < box.y1 && box.x0 < box.x1)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: rows %lld..%lld, columns %lld..%lld are not in it",
                    sink->path, (long long)box.y0, (long long)(box.y1 - 1), (long long)box.x0,
                    (long long)(box.x1 - 1));
}

static qfz_status check_open(const qfz_sink *sink, qfz_error *err)
{
    if (!sink->committed && !sink->failed) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: it is complete, or failed before", sink->path);
}

/* GDAL's masks say 255 where we say 1. */
static qfz_status write_mask(qfz_sink *sink, qfz_box box, const uint8_t *valid, CPLErr *done,
                             qfz_error *err)
{
    const int64_t n_rows = qfz_source_chunk_rows(box), w = qfz_box_w(box);
    *done = CE_None;
    for (qfz_box part = box; part.y0 < box.y1 && *done == CE_None; part.y0 += n_rows) {
        part.y1 = part.y0 + n_rows < box.y1 ? part.y0 + n_rows : box.y1;
        const int64_t n = qfz_box_h(part) * w;
        if (n > sink->mask_px) {
            QFZ_TRY(qfz_realloc((void **)&sink->mask_rows, n, 1, err));
            sink->mask_px = n;
        }
        const uint8_t *const from = valid ? valid + (part.y0 - box.y0) * w : NULL;
        for (int64_t i = 0; i < n; i++)
            sink->mask_rows[i] = !from || from[i] ? 255 : 0;
        *done = move_mask(sink, GF_Write, part, sink->mask_rows);
    }
    return QFZ_OK;
}

/* Is it a TIFF's, and made of whole blocks? */
static bool has_whole_blocks(const qfz_sink *sink, qfz_box box)
{
    const int64_t y0 = sink->spec.y0, h = sink->spec.y1 - y0;
    const int block_w = sink->block_w, block_h = sink->block_h;
    return block_w > 0 && block_h > 0 && box.x0 % block_w == 0 &&
           (box.x1 % block_w == 0 || box.x1 == sink->spec.w) && (box.y0 - y0) % block_h == 0 &&
           ((box.y1 - y0) % block_h == 0 || box.y1 - y0 == h);
}

/* Whole blocks are compressed from here on, beside all else that the job does, and not when the
 * file is closed; a block of which a part is missing waits for it. */
static CPLErr pass_on(const qfz_sink *sink, bool bands)
{
    CPLErr done = CE_None;
    for (int b = 1; bands && b <= sink->spec.n_bands && done == CE_None; b++)
        done = GDALFlushRasterCache(GDALGetRasterBand(sink->dataset, b));
    return done == CE_None && sink->mask ? GDALFlushRasterCache(sink->mask) : done;
}

/* pixels NULL: they were written block by block. */
static qfz_status write_locked(qfz_sink *sink, qfz_box box, const void *pixels,
                               const uint8_t *valid, qfz_error *err)
{
    qfz_trap trap;
    CPLErr done = CE_None;
    qfz_status st = QFZ_OK;
    QFZ_TRY(check_open(sink, err));
    qfz_trap_begin(&trap);
    if (pixels) done = move_pixels(sink, GF_Write, box, (void *)(uintptr_t)pixels);
    if (done == CE_None && sink->mask) st = write_mask(sink, box, valid, &done, err);
    if (done == CE_None && st == QFZ_OK && has_whole_blocks(sink, box))
        done = pass_on(sink, pixels != NULL);
    qfz_trap_end(&trap);
    if (st == QFZ_OK && (done != CE_None || trap.failed))
        st = qfz_trap_fail_box(&trap, err, sink->path, box);
    sink->failed = st != QFZ_OK;
    return st;
}

/* ------------------------------------------------------------------------------ block by block
 *
 * A block goes straight to those who compress it: past GDAL's cache, whose memory would have to be
 * found and filled while other threads wait for the lock. */
static qfz_status write_block(qfz_sink *sink, int band, qfz_box part, void *block, qfz_error *err)
{
    const int x = (int)(part.x0 / sink->block_w);
    const int y = (int)((part.y0 - sink->spec.y0) / sink->block_h);
    qfz_trap trap;
    QFZ_TRY(check_open(sink, err));
    qfz_trap_begin(&trap);
    const CPLErr done = GDALWriteBlock(GDALGetRasterBand(sink->dataset, band), x, y, block);
    qfz_trap_end(&trap);
    if (done == CE_None && !trap.failed) return QFZ_OK;
    sink->failed = true;
    return qfz_trap_fail_box(&trap, err, sink->path, part);
}

/* A part of a plane of pixels, stride_px wide, into the upper left of a block; zeros elsewhere. */
static void fill_block(const qfz_sink *sink, char *block, const char *from, int64_t stride_px,
                       qfz_box part)
{
    const size_t px_bytes = qfz_out_type_bytes(sink->spec.type);
    const size_t row_bytes = (size_t)sink->block_w * px_bytes;
    const int64_t h = qfz_box_h(part), w = qfz_box_w(part);
    if (h < sink->block_h || w < sink->block_w) memset(block, 0, row_bytes * (size_t)sink->block_h);
    for (int64_t y = 0; y < h; y++)
        memcpy(block + (size_t)y * row_bytes, from + (size_t)(y * stride_px) * px_bytes,
               (size_t)w * px_bytes);
}

static qfz_status write_plane(qfz_sink *sink, int band, qfz_box box, const char *plane, char *block,
                              qfz_error *err)
{
    const size_t px_bytes = qfz_out_type_bytes(sink->spec.type);
    const int64_t w = qfz_box_w(box);
    qfz_status st = QFZ_OK;
    for (qfz_box part = box; part.y0 < box.y1; part.y0 = part.y1) {
        part.y1 = least(part.y0 + sink->block_h, box.y1);
        for (part.x0 = box.x0; part.x0 < box.x1 && st == QFZ_OK; part.x0 = part.x1) {
            const int64_t at = (part.y0 - box.y0) * w + part.x0 - box.x0;
            part.x1 = least(part.x0 + sink->block_w, box.x1);
            fill_block(sink, block, plane + (size_t)at * px_bytes, w, part);
            (void)pthread_mutex_lock(&sink->lock);
            st = write_block(sink, band, part, block, err);
            (void)pthread_mutex_unlock(&sink->lock);
        }
    }
    return st;
}

static qfz_status write_blocks(qfz_sink *sink, qfz_box box, const void *pixels, qfz_error *err)
{
    const size_t px_bytes = qfz_out_type_bytes(sink->spec.type);
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    char *block = NULL;
    qfz_status st = QFZ_OK;
    QFZ_TRY(qfz_alloc((void **)&block, (int64_t)sink->block_w * sink->block_h, px_bytes, err));
    for (int b = 0; b < sink->spec.n_bands && st == QFZ_OK; b++)
        st = write_plane(sink, b + 1, box, (const char *)pixels + (size_t)(b * n) * px_bytes, block,
                         err);
    free(block);
    return st;
}

qfz_status qfz_sink_write(qfz_sink *sink, qfz_box box, const void *pixels, const uint8_t *valid,
                          qfz_error *err)
{
    QFZ_TRY(check_box(sink, box, err));
    const bool by_blocks = sink->takes_blocks && has_whole_blocks(sink, box);
    if (by_blocks) QFZ_TRY(write_blocks(sink, box, pixels, err));
    if (by_blocks && !sink->mask) return QFZ_OK;
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = write_locked(sink, box, by_blocks ? NULL : pixels, valid, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

/* Errors of writing may come as late as here. */
static qfz_status close_dataset(qfz_sink *sink, qfz_error *err)
{
    qfz_trap trap;
    if (!sink->dataset) return QFZ_OK;
    qfz_trap_begin(&trap);
    GDALFlushCache(sink->dataset);
    GDALClose(sink->dataset);
    qfz_trap_end(&trap);
    sink->dataset = NULL;
    sink->mask = NULL;
    if (trap.failed) return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "");
    return QFZ_OK;
}

static qfz_status reopen(qfz_sink *sink, qfz_error *err)
{
    qfz_trap trap;
    if (sink->dataset) return QFZ_OK;
    qfz_trap_begin(&trap);
    sink->dataset =
        GDALOpenEx(sink->path, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (sink->dataset) find_mask(sink);
    qfz_trap_end(&trap);
    if (!sink->dataset)
        return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "it cannot be read back");
    return QFZ_OK;
}

/* Is what is there what the spec says? */
static qfz_status check_opened(const qfz_sink *sink, qfz_error *err)
{
    const qfz_sink_spec *const spec = &sink->spec;
    const int w = GDALGetRasterXSize(sink->dataset), h = GDALGetRasterYSize(sink->dataset);
    const int n_bands = GDALGetRasterCount(sink->dataset);
    if (w == spec->w && h == spec->y1 - spec->y0 && n_bands == spec->n_bands) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: %d x %d pixels, bands: %d; not the %lld x %lld, %d expected",
                    sink->path, w, h, n_bands, (long long)spec->w, (long long)(spec->y1 - spec->y0),
                    spec->n_bands);
}

qfz_status qfz_sink_open(qfz_sink **sink, const qfz_job *job, const qfz_sink_spec *spec,
                         qfz_error *err)
{
    qfz_sink *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->committed = true;
    made->format.buffer_type = qfz_gdal_type(spec->type);
    qfz_status st = name_file(made, job, spec, err);
    if (st == QFZ_OK) st = reopen(made, err);
    if (st == QFZ_OK) st = check_opened(made, err);
    if (st != QFZ_OK) {
        qfz_sink_close(made);
        return st;
    }
    *sink = made;
    return QFZ_OK;
}

static qfz_status read_locked(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid,
                              qfz_error *err)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    qfz_trap trap;
    if (sink->committed) QFZ_TRY(reopen(sink, err));
    if (!sink->dataset) return qfz_fail(err, QFZ_EIO, "%s: it failed before", sink->path);
    qfz_trap_begin(&trap);
    CPLErr done = move_pixels(sink, GF_Read, box, pixels);
    if (done == CE_None && valid && sink->mask) done = move_mask(sink, GF_Read, box, valid);
    qfz_trap_end(&trap);
    if (done != CE_None || trap.failed) {
        const qfz_status st = qfz_trap_fail_box(&trap, err, sink->path, box);
        if (sink->committed) (void)close_dataset(sink, NULL); /* the next try opens it afresh */
        return st;
    }
    for (int64_t i = 0; valid && i < n; i++)
        valid[i] = !sink->mask || valid[i] != 0;
    return QFZ_OK;
}

typedef struct reading {
    qfz_sink *sink;
    qfz_box box;
    void *pixels;
    uint8_t *valid;
} reading;

static qfz_status read_once(void *arg, qfz_error *err)
{
    const reading *const r = arg;
    return read_locked(r->sink, r->box, r->pixels, r->valid, err);
}

qfz_status qfz_sink_read(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid, qfz_error *err)
{
    QFZ_TRY(check_box(sink, box, err));
    reading r = {.sink = sink, .box = box, .pixels = pixels, .valid = valid};
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = sink->committed ? qfz_patience_try(&sink->patience, read_once, &r, err)
                                          : read_once(&r, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

/* ------------------------------------------------------------------------------------ the end */

static qfz_status copy_work(qfz_sink *sink, qfz_error *err)
{
    GDALDatasetH copy = NULL;
    char *name = NULL;
    qfz_trap trap;
    if (!sink->format.copies) return QFZ_OK;
    QFZ_TRY(name_for_driver(sink, sink->format.driver, sink->temp, &name, err));
    qfz_trap_begin(&trap);
    const GDALDatasetH work =
        GDALOpenEx(sink->work, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (work)
        copy =
            GDALCreateCopy(sink->format.driver, name, work, TRUE, sink->format.options, NULL, NULL);
    if (copy) GDALClose(copy);
    if (work) GDALClose(work);
    qfz_trap_end(&trap);
    free(name);
    if (!copy || trap.failed)
        return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "the format could not be written");
    return QFZ_OK;
}

/* HFA's files name each other, so its driver must rename them. */
static qfz_status rename_temp(qfz_sink *sink, qfz_error *err)
{
    qfz_trap trap;
    const GDALDriverH driver = sink->format.driver;
    if (!EQUAL(GDALGetDriverShortName(driver), "HFA"))
        return qfz_temp_rename(sink->temp, sink->path, err);
    qfz_trap_begin(&trap);
    const CPLErr done = GDALRenameDataset(driver, sink->path, sink->temp);
    qfz_trap_end(&trap);
    if (done != CE_None)
        return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "it could not be given its name");
    return QFZ_OK;
}

static qfz_status commit_locked(qfz_sink *sink, qfz_error *err)
{
    if (sink->committed) return QFZ_OK;
    if (sink->failed) return qfz_fail(err, QFZ_EIO, "%s: writing failed before", sink->path);
    QFZ_TRY(close_dataset(sink, err));
    QFZ_TRY(copy_work(sink, err));
    QFZ_TRY(rename_temp(sink, err));
    qfz_temp_delete(sink->work);
    return QFZ_OK;
}

qfz_status qfz_sink_commit(qfz_sink *sink, qfz_error *err)
{
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = commit_locked(sink, err);
    sink->committed = st == QFZ_OK;
    sink->failed = st != QFZ_OK;
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

void qfz_sink_close(qfz_sink *sink)
{
    if (!sink) return;
    (void)close_dataset(sink, NULL);
    if (!sink->committed) {
        qfz_temp_delete(sink->temp);
        qfz_temp_delete(sink->work);
    }
    if (sink->is_locked_up) (void)pthread_mutex_destroy(&sink->lock);
    qfz_format_fini(&sink->format);
    free(sink->mask_rows);
    free(sink->work);
    free(sink->temp);
    free(sink->path);
    free(sink);
}
