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

/* Pixels in memory. */
typedef struct pixels {
    char *first;   /* pixel (y0, x0) of the box */
    int64_t pitch; /* from row to row */
    qfz_box box;
} pixels;

/* Copies the pixels that two boxes have in common. */
static void copy_common(const pixels *from, const pixels *to, size_t px_bytes)
{
    const qfz_box box = qfz_box_common(from->box, to->box);
    for (int64_t y = box.y0; y < box.y1; y++) {
        const int64_t at = (y - from->box.y0) * from->pitch + box.x0 - from->box.x0;
        const int64_t into = (y - to->box.y0) * to->pitch + box.x0 - to->box.x0;
        memcpy(to->first + (size_t)into * px_bytes, from->first + (size_t)at * px_bytes,
               (size_t)qfz_box_w(box) * px_bytes);
    }
}

static CPLErr read_window(GDALRasterBandH band, GDALDataType type, const pixels *to)
{
    const int h = (int)qfz_box_h(to->box), w = (int)qfz_box_w(to->box);
    return GDALRasterIOEx(band, GF_Read, (int)to->box.x0, (int)to->box.y0, w, h, to->first, w, h,
                          type, 0, to->pitch * GDALGetDataTypeSizeBytes(type), NULL);
}

static CPLErr read_blocks(GDALRasterBandH band, GDALDataType type, const pixels *to)
{
    const qfz_box raster = {0, 0, GDALGetRasterBandYSize(band), GDALGetRasterBandXSize(band)};
    const qfz_box box = to->box;
    const size_t px_bytes = (size_t)GDALGetDataTypeSizeBytes(type);
    int block_w = 0, block_h = 0;
    GDALGetBlockSize(band, &block_w, &block_h);
    void *const memory = VSI_MALLOC3_VERBOSE((size_t)block_w, (size_t)block_h, px_bytes);
    CPLErr done = memory ? CE_None : CE_Failure;
    for (int64_t y0 = box.y0 - box.y0 % block_h; y0 < box.y1; y0 += block_h)
        for (int64_t x0 = box.x0 - box.x0 % block_w; x0 < box.x1 && done == CE_None;
             x0 += block_w) {
            const qfz_box all =
                qfz_box_common((qfz_box){y0, x0, y0 + block_h, x0 + block_w}, raster);
            const pixels block = {memory, qfz_box_w(all), all};
            done = read_window(band, type, &block);
            copy_common(&block, to, px_bytes);
        }
    VSIFree(memory);
    return done;
}

CPLErr qfz_window_read_rows(GDALRasterBandH band, qfz_box box, GDALDataType type, bool by_blocks,
                            void *first, int64_t pitch)
{
    const pixels to = {first, pitch, box};
    return by_blocks ? read_blocks(band, type, &to) : read_window(band, type, &to);
}

CPLErr qfz_window_read(GDALRasterBandH band, qfz_box box, GDALDataType type, bool by_blocks,
                       void *first)
{
    return qfz_window_read_rows(band, box, type, by_blocks, first, qfz_box_w(box));
}
