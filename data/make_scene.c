/* SPDX-License-Identifier: MIT */
/* make_scene.c - writes a landscape (land.h) of any size as a GeoTIFF.
 *
 * Row band by row band, so that memory does not depend on the height; the blocks of a row band are
 * shared out among the processors.  The same seed gives the same pixels, whatever the size. */
#include "land.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal.h>
#include <ogr_srs_api.h>
#include <cpl_vsi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 256 };

typedef struct options {
    const char *path;
    int w, h;
    int n_bands, bits;
    uint64_t seed;
    bool collar;
} options;

static const char usage[] =
    "usage: make_scene OUT.tif [--size WxH] [--bands B] [--bits 8|16] [--seed S] [--collar]\n"
    "Writes a landscape as a tiled, compressed GeoTIFF; the same seed gives the same pixels.\n";

static bool parse(int argc, char **argv, options *o)
{
    *o = (options){.w = 4096, .h = 4096, .n_bands = 4, .bits = 16, .seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char extra;
        if (!strcmp(argv[i], "--collar")) {
            o->collar = true;
            continue;
        }
        if (argv[i][0] != '-' && !o->path) {
            o->path = argv[i];
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--size")) {
            if (sscanf(value, "%dx%d%c", &o->w, &o->h, &extra) != 2) return false;
        } else if (!strcmp(argv[i - 1], "--bands")) {
            if (sscanf(value, "%d%c", &o->n_bands, &extra) != 1) return false;
        } else if (!strcmp(argv[i - 1], "--bits")) {
            if (sscanf(value, "%d%c", &o->bits, &extra) != 1) return false;
        } else if (!strcmp(argv[i - 1], "--seed")) {
            unsigned long long seed;
            if (sscanf(value, "%llu%c", &seed, &extra) != 1) return false;
            o->seed = seed;
        } else {
            return false;
        }
    }
    return o->path && o->w > 0 && o->h > 0 && o->n_bands > 0 && o->n_bands <= LAND_MAX_BANDS &&
           (o->bits == 8 || o->bits == 16);
}

static void georeference(GDALDatasetH raster)
{
    double transform[6] = {399960, 10, 0, 5400000, 0, -10};
    OGRSpatialReferenceH crs = OSRNewSpatialReference(NULL);
    char *wkt = NULL;
    if (OSRImportFromEPSG(crs, 32632) == OGRERR_NONE && OSRExportToWkt(crs, &wkt) == OGRERR_NONE)
        GDALSetProjection(raster, wkt);
    GDALSetGeoTransform(raster, transform);
    CPLFree(wkt);
    OSRDestroySpatialReference(crs);
}

static GDALDatasetH create(const options *o)
{
    GDALDriverH driver = GDALGetDriverByName("GTiff");
    const char *creation = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONOPTIONLIST, NULL);
    const bool zstd = creation && strstr(creation, "ZSTD");
    char **list = NULL;
    list = CSLSetNameValue(list, "TILED", "YES");
    list = CSLSetNameValue(list, "BLOCKXSIZE", "256");
    list = CSLSetNameValue(list, "BLOCKYSIZE", "256");
    list = CSLSetNameValue(list, "INTERLEAVE", "BAND");
    list = CSLSetNameValue(list, "BIGTIFF", "IF_SAFER");
    list = CSLSetNameValue(list, "COMPRESS", zstd ? "ZSTD" : "DEFLATE");
    list = CSLSetNameValue(list, zstd ? "ZSTD_LEVEL" : "ZLEVEL", "1");
    list = CSLSetNameValue(list, "PREDICTOR", "2");
    list = CSLSetNameValue(list, "NUM_THREADS", "ALL_CPUS");
    GDALDatasetH raster = GDALCreate(driver, o->path, o->w, o->h, o->n_bands,
                                     o->bits == 8 ? GDT_Byte : GDT_UInt16, list);
    CSLDestroy(list);
    if (!raster) return NULL;
    georeference(raster);
    for (int b = 1; b <= o->n_bands && o->collar; b++)
        GDALSetRasterNoDataValue(GDALGetRasterBand(raster, b), 0);
    return raster;
}

/* The collar: the swath of a satellite is tilted and leaves four wedges of nodata.  Its corners lie
 * on the raster's sides; *from and *to are the columns that it covers in row y. */
static void swath(const options *o, int row, int *from, int *to)
{
    const double w = o->w, h = o->h, y = row + 0.5, tilt = 0.13;
    const double top_x = (1 - tilt) * w, left_y = tilt * h, right_y = (1 - tilt) * h;
    const double left =
        y < left_y ? top_x * (1 - y / left_y) : (w - top_x) * (y - left_y) / (h - left_y);
    const double right = y < right_y ? top_x + (w - top_x) * y / right_y
                                     : (w - top_x) + top_x * (h - y) / (h - right_y);
    *from = (int)left;
    *to = (int)right;
}

static void cut_collar(const options *o, int y0, int h, uint16_t *const *planes)
{
    for (int y = 0; y < h; y++) {
        int from, to;
        swath(o, y0 + y, &from, &to);
        for (int b = 0; b < o->n_bands; b++) {
            uint16_t *row = planes[b] + (size_t)y * (size_t)o->w;
            memset(row, 0, (size_t)from * sizeof *row);
            memset(row + to, 0, (size_t)(o->w - to) * sizeof *row);
        }
    }
}

static bool write_rows(const options *o, GDALDatasetH raster, uint16_t *pixels)
{
    const landscape land = {
        .seed = o->seed, .n_bands = o->n_bands, .max_value = o->bits == 8 ? 255 : 65535};
    const size_t plane = (size_t)o->w * TILE;
    const int n_across = (o->w + LAND_BLOCK - 1) / LAND_BLOCK;
    for (int y0 = 0; y0 < o->h; y0 += TILE) {
        const int h = o->h - y0 < TILE ? o->h - y0 : TILE;
        const int n_blocks = n_across * ((h + LAND_BLOCK - 1) / LAND_BLOCK);
        uint16_t *planes[LAND_MAX_BANDS];
        for (int b = 0; b < o->n_bands; b++)
            planes[b] = pixels + (size_t)b * plane;
#pragma omp parallel for schedule(dynamic)
        for (int k = 0; k < n_blocks; k++) {
            const int x = k % n_across * LAND_BLOCK, y = k / n_across * LAND_BLOCK;
            const int bw = o->w - x < LAND_BLOCK ? o->w - x : LAND_BLOCK;
            const int bh = h - y < LAND_BLOCK ? h - y : LAND_BLOCK;
            uint16_t *at[LAND_MAX_BANDS];
            for (int b = 0; b < o->n_bands; b++)
                at[b] = planes[b] + (size_t)y * (size_t)o->w + (size_t)x;
            land_block(&land, x, y0 + y, bw, bh, at, o->w);
        }
        if (o->collar) cut_collar(o, y0, h, planes);
        if (GDALDatasetRasterIOEx(raster, GF_Write, 0, y0, o->w, h, pixels, o->w, h, GDT_UInt16,
                                  o->n_bands, NULL, (GSpacing)sizeof *pixels,
                                  (GSpacing)((size_t)o->w * sizeof *pixels),
                                  (GSpacing)(plane * sizeof *pixels), NULL) != CE_None)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    options o;
    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    GDALAllRegister();
    GDALSetCacheMax64(64 << 20);
    uint16_t *pixels = calloc((size_t)o.n_bands * TILE * (size_t)o.w, sizeof *pixels);
    GDALDatasetH raster = pixels ? create(&o) : NULL;
    bool done = raster && write_rows(&o, raster, pixels);
    CPLErrorReset();
    if (raster) GDALClose(raster);
    done = done && CPLGetLastErrorType() < CE_Failure;
    free(pixels);
    if (!done) {
        fprintf(stderr, "make_scene: %s could not be written\n", o.path);
        if (raster) VSIUnlink(o.path);
        return 1;
    }
    return 0;
}
