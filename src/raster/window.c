/* SPDX-License-Identifier: MIT */
/* window.c - reads a box of one band.
 *
 * Where the sources of a VRT have another pixel size than the VRT, GDAL resamples them for each
 * window that is read.  Means of pixels then depend on the window; so does the nearest pixel, once
 * in thousands of windows, if the sizes differ much.  So that no result depends on tiles, such
 * bands are read by whole blocks of the VRT, whose position is fixed. */
#include "raster/window.h"

#include <cpl_vsi.h>
#include <string.h>

#include "raster/boxes.h"

/* Copies the pixels that two boxes have in common. */
static void copy_common(const char *from, qfz_box from_box, char *to, qfz_box to_box,
                        size_t px_bytes)
{
    const qfz_box box = qfz_box_common(from_box, to_box);
    for (int64_t y = box.y0; y < box.y1; y++) {
        const int64_t at = (y - from_box.y0) * qfz_box_w(from_box) + box.x0 - from_box.x0;
        const int64_t into = (y - to_box.y0) * qfz_box_w(to_box) + box.x0 - to_box.x0;
        memcpy(to + (size_t)into * px_bytes, from + (size_t)at * px_bytes,
               (size_t)qfz_box_w(box) * px_bytes);
    }
}

static CPLErr read_window(GDALRasterBandH band, qfz_box box, GDALDataType type, void *pixels)
{
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    return GDALRasterIOEx(band, GF_Read, (int)box.x0, (int)box.y0, w, h, pixels, w, h, type, 0, 0,
                          NULL);
}

static CPLErr read_blocks(GDALRasterBandH band, qfz_box box, GDALDataType type, void *pixels)
{
    const qfz_box raster = {0, 0, GDALGetRasterBandYSize(band), GDALGetRasterBandXSize(band)};
    const size_t px_bytes = (size_t)GDALGetDataTypeSizeBytes(type);
    int block_w = 0, block_h = 0;
    GDALGetBlockSize(band, &block_w, &block_h);
    void *const block = VSI_MALLOC3_VERBOSE((size_t)block_w, (size_t)block_h, px_bytes);
    CPLErr done = block ? CE_None : CE_Failure;
    for (int64_t y0 = box.y0 - box.y0 % block_h; y0 < box.y1; y0 += block_h)
        for (int64_t x0 = box.x0 - box.x0 % block_w; x0 < box.x1 && done == CE_None;
             x0 += block_w) {
            const qfz_box all =
                qfz_box_common((qfz_box){y0, x0, y0 + block_h, x0 + block_w}, raster);
            done = read_window(band, all, type, block);
            copy_common(block, all, pixels, box, px_bytes);
        }
    VSIFree(block);
    return done;
}

CPLErr qfz_window_read(GDALRasterBandH band, qfz_box box, GDALDataType type, bool by_blocks,
                       void *pixels)
{
    return by_blocks ? read_blocks(band, box, type, pixels) : read_window(band, box, type, pixels);
}
