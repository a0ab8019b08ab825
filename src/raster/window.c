/* SPDX-License-Identifier: MIT */
/* window.c - a part of one band.
 *
 * Where the parts of a VRT have other pixel sizes than the VRT, GDAL resamples them for each window
 * that is asked for.  In other windows means of pixels come out otherwise, and once in thousands of
 * windows, where the sizes differ much, even the nearest pixel is another one.  So that no result
 * depends on tiles, such bands are read in cells: blocks of their own, which lie where they lie. */
#include "raster/private.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------- which VRTs are such */

double qfz_vrt_number(const char *text, const char *attribute)
{
    const char *const end = strchr(text, '>'), *const at = strstr(text, attribute);
    return end && at && at < end ? CPLAtof(at + strlen(attribute)) : NAN;
}

/* Are two rectangles as large?  Those of gdalbuildvrt may differ in the last digits. */
static bool are_as_large(const char *from, const char *to)
{
    const double w = qfz_vrt_number(from, "xSize=\"") - qfz_vrt_number(to, "xSize=\"");
    const double h = qfz_vrt_number(from, "ySize=\"") - qfz_vrt_number(to, "ySize=\"");
    return fabs(w) < 1e-6 && fabs(h) < 1e-6;
}

static bool is_whole(const char *rectangle)
{
    const double x = qfz_vrt_number(rectangle, "xOff=\""), y = qfz_vrt_number(rectangle, "yOff=\"");
    return x == floor(x) && y == floor(y);
}

/* Are these the rectangles of a source, which ends at `end`, whose pixels are those of the VRT? */
static bool keeps_pixels(const char *from, const char *to, const char *end)
{
    return from && to && from < end && to < end && is_whole(from) && is_whole(to);
}

bool qfz_window_matters(const char *vrt)
{
    static const char tag[] = "resampling=";
    if (strstr(vrt, "VRTWarpedDataset")) return true;
    for (const char *from = strstr(vrt, "<SrcRect"); from; from = strstr(from + 1, "<SrcRect")) {
        const char *const to = strstr(from, "<DstRect");
        if (!to || !are_as_large(from, to)) return true;
    }
    for (const char *at = strstr(vrt, tag); at; at = strstr(at + 1, tag)) {
        const char *const end = strstr(at, "Source>");
        if (!end || !keeps_pixels(strstr(at, "<SrcRect"), strstr(at, "<DstRect"), end)) return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------- reading */
static qfz_box common_of(qfz_box a, qfz_box b)
{
    return (qfz_box){.y0 = a.y0 > b.y0 ? a.y0 : b.y0,
                     .x0 = a.x0 > b.x0 ? a.x0 : b.x0,
                     .y1 = a.y1 < b.y1 ? a.y1 : b.y1,
                     .x1 = a.x1 < b.x1 ? a.x1 : b.x1};
}

/* Pixels of one box into those of another, where both are. */
static void copy_common(const char *from, qfz_box from_box, char *to, qfz_box to_box,
                        size_t px_bytes)
{
    const qfz_box box = common_of(from_box, to_box);
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

static CPLErr read_cells(GDALRasterBandH band, qfz_box box, GDALDataType type, void *pixels)
{
    const qfz_box raster = {0, 0, GDALGetRasterBandYSize(band), GDALGetRasterBandXSize(band)};
    const size_t px_bytes = (size_t)GDALGetDataTypeSizeBytes(type);
    int cell_w = 0, cell_h = 0;
    GDALGetBlockSize(band, &cell_w, &cell_h);
    void *const cell = VSI_MALLOC3_VERBOSE((size_t)cell_w, (size_t)cell_h, px_bytes);
    CPLErr done = cell ? CE_None : CE_Failure;
    for (int64_t y0 = box.y0 - box.y0 % cell_h; y0 < box.y1; y0 += cell_h)
        for (int64_t x0 = box.x0 - box.x0 % cell_w; x0 < box.x1 && done == CE_None; x0 += cell_w) {
            const qfz_box all = common_of((qfz_box){y0, x0, y0 + cell_h, x0 + cell_w}, raster);
            done = read_window(band, all, type, cell);
            copy_common(cell, all, pixels, box, px_bytes);
        }
    VSIFree(cell);
    return done;
}

CPLErr qfz_window_read(GDALRasterBandH band, qfz_box box, GDALDataType type, bool in_cells,
                       void *pixels)
{
    return in_cells ? read_cells(band, box, type, pixels) : read_window(band, box, type, pixels);
}
