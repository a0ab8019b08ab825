/* SPDX-License-Identifier: MIT */
/* sink_write.c - boxes of pixels on their way into a file: whole blocks of a TIFF go past GDAL
 * (sink_blocks.h) or at least past its cache, all others through it. */
#include "raster/sink_write.h"

#include <cpl_string.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/boxes.h"
#include "raster/error_trap.h"
#include "raster/sink_blocks.h"
#include "raster/sink_pixels.h"
#include "raster/sink_state.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static qfz_status check_open(const qfz_sink *sink, qfz_error *err)
{
    if (sink->why.status != QFZ_OK) return qfz_fail(err, sink->why.status, "%s", sink->why.message);
    if (!sink->committed) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: it is already complete", sink->path);
}

static qfz_status check_open_unlocked(qfz_sink *sink, qfz_error *err)
{
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = check_open(sink, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

/* Writes validity 1 as 255, GDAL's value in masks. */
static qfz_status write_mask(qfz_sink *sink, qfz_box box, const uint8_t *valid, CPLErr *done,
                             qfz_error *err)
{
    const int64_t n_rows = qfz_box_chunk_rows(box), w = qfz_box_w(box);
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
        *done = qfz_sink_move_mask(sink, GF_Write, part, sink->mask_rows);
    }
    return QFZ_OK;
}

/* True if the file is a TIFF and the box is made of whole blocks. */
static bool has_whole_blocks(const qfz_sink *sink, qfz_box box)
{
    const int64_t y0 = sink->spec.y0, h = sink->spec.y1 - y0;
    const int block_w = sink->block_w, block_h = sink->block_h;
    return block_w > 0 && block_h > 0 && box.x0 % block_w == 0 &&
           (box.x1 % block_w == 0 || box.x1 == sink->spec.w) && (box.y0 - y0) % block_h == 0 &&
           ((box.y1 - y0) % block_h == 0 || box.y1 - y0 == h);
}

/* Starts compressing complete blocks now, while other threads compute, and not when the file is
 * closed. Incomplete blocks stay in the cache. */
static CPLErr flush_blocks(const qfz_sink *sink, bool bands)
{
    CPLErr done = CE_None;
    for (int b = 1; bands && b <= sink->spec.n_bands && done == CE_None; b++)
        done = GDALFlushRasterCache(GDALGetRasterBand(sink->dataset, b));
    return done == CE_None && sink->mask ? GDALFlushRasterCache(sink->mask) : done;
}

/* pixels NULL: they are written already, block by block. */
static qfz_status write_locked(qfz_sink *sink, qfz_box box, const void *pixels,
                               const uint8_t *valid, qfz_error *err)
{
    qfz_error_trap trap;
    CPLErr done = CE_None;
    qfz_status st = QFZ_OK;
    QFZ_TRY(check_open(sink, err));
    QFZ_TRY(qfz_sink_blocks_end(sink, true, err));
    qfz_error_trap_begin(&trap);
    if (pixels) done = qfz_sink_move_pixels(sink, GF_Write, box, (void *)(uintptr_t)pixels);
    if (done == CE_None && sink->mask) st = write_mask(sink, box, valid, &done, err);
    if (done == CE_None && st == QFZ_OK && has_whole_blocks(sink, box))
        done = flush_blocks(sink, pixels != NULL);
    qfz_error_trap_end(&trap);
    if (st == QFZ_OK && (done != CE_None || trap.failed))
        st = qfz_error_trap_fail_box(&trap, err, sink->path, box);
    return qfz_sink_keep_failure(sink, st, err);
}

/* ------------------------------------------------------------------------------ block by block
 *
 * A block goes to the compressor directly, past GDAL's cache: other threads would have to wait
 * while the cache finds and fills memory for it. */
static qfz_status write_block(qfz_sink *sink, int band, qfz_box part, void *block, qfz_error *err)
{
    const int x = (int)(part.x0 / sink->block_w);
    const int y = (int)((part.y0 - sink->spec.y0) / sink->block_h);
    qfz_error_trap trap;
    QFZ_TRY(check_open(sink, err));
    qfz_error_trap_begin(&trap);
    const CPLErr done = GDALWriteBlock(GDALGetRasterBand(sink->dataset, band), x, y, block);
    qfz_error_trap_end(&trap);
    if (done == CE_None && !trap.failed) return QFZ_OK;
    return qfz_sink_keep_failure(sink, qfz_error_trap_fail_box(&trap, err, sink->path, part), err);
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
            qfz_sink_fill_block(sink, block, plane + (size_t)at * px_bytes, w, part);
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

/* QFZ_EARG if a painted value does not fit into NBITS bits.  format.c has checked other contents.
 */
static qfz_status check_fits(const qfz_sink *sink, qfz_box box, const char *pixels, qfz_error *err)
{
    enum { SOME = 1024 };
    const int64_t n = qfz_box_h(box) * qfz_box_w(box) * sink->spec.n_bands;
    const int px_bytes = (int)qfz_out_type_bytes(sink->spec.type);
    double values[SOME];
    for (int64_t done = 0; done < n; done += SOME) {
        const int some = (int)least(SOME, n - done);
        GDALCopyWords(pixels + done * px_bytes, sink->format.buffer_type, px_bytes, values,
                      GDT_Float64, sizeof *values, some);
        for (int i = 0; i < some; i++)
            if (values[i] > sink->format.most)
                return qfz_fail(err, QFZ_EARG,
                                "%s: NBITS=%s is too few for a value of %.0f; give more, or leave "
                                "NBITS out",
                                sink->path, CSLFetchNameValue(sink->format.options, "NBITS"),
                                values[i]);
    }
    return QFZ_OK;
}

bool qfz_sink_is_direct(const qfz_sink *sink, int64_t box_w, int64_t box_h)
{
    const int64_t h = sink->spec.y1 - sink->spec.y0;
    return sink->takes_blocks && !sink->mask &&
           (box_w % sink->block_w == 0 || box_w >= sink->spec.w) &&
           (box_h % sink->block_h == 0 || box_h >= h);
}

qfz_status qfz_sink_write(qfz_sink *sink, qfz_box box, const void *pixels, const uint8_t *valid,
                          qfz_error *err)
{
    QFZ_TRY(qfz_sink_check_box(sink, box, err));
    if (isfinite(sink->format.most) && !GDALDataTypeIsFloating(sink->format.buffer_type))
        QFZ_TRY(check_fits(sink, box, pixels, err));
    const bool by_blocks = sink->takes_blocks && has_whole_blocks(sink, box);
    if (by_blocks && !sink->mask && sink->format.overviews == QFZ_OVERVIEWS_NONE) {
        bool written;
        QFZ_TRY(check_open_unlocked(sink, err));
        QFZ_TRY(qfz_sink_blocks_write(sink, box, pixels, &written, err));
        if (written) return QFZ_OK;
    }
    if (by_blocks) QFZ_TRY(write_blocks(sink, box, pixels, err));
    if (by_blocks && !sink->mask) return QFZ_OK;
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = write_locked(sink, box, by_blocks ? NULL : pixels, valid, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}
