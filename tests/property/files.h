/* SPDX-License-Identifier: MIT */
/* files.h - writes test rasters as GeoTIFFs, reads outputs, and makes a scratch folder, for tests
 * that run jobs. */
#ifndef QFZ_TESTS_FILES_H
#define QFZ_TESTS_FILES_H

#include "rasters.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>

#define HAS_GDT_INT8 (GDAL_VERSION_NUM >= 3070000)

enum { PATH_ROOM = 512 };

static struct {
    char folder[PATH_ROOM - 64];
} files_;

/* A path in the scratch folder; the eighth next call overwrites it. */
static inline const char *scratch(const char *name)
{
    static char paths[8][PATH_ROOM];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(paths[turn], PATH_ROOM, "%s/%s", files_.folder, name);
    return paths[turn];
}

static inline void files_begin(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(files_.folder, sizeof files_.folder, "%s/qfz_test_XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(files_.folder)) abort();
    GDALAllRegister();
    CPLPushErrorHandler(CPLQuietErrorHandler);
}

static inline void files_clear(void)
{
    char **names = VSIReadDir(files_.folder);
    for (int i = 0; names && names[i]; i++)
        if (names[i][0] != '.') VSIUnlink(scratch(names[i]));
    CSLDestroy(names);
}

static inline void files_end(void)
{
    files_clear();
    VSIRmdir(files_.folder);
}

/* Names in the scratch folder that are not among the expected ones, a NULL-terminated list. */
static inline void files_only(const char *const *expected)
{
    char **names = VSIReadDir(files_.folder);
    for (int i = 0; names && names[i]; i++) {
        bool known = !strcmp(names[i], ".") || !strcmp(names[i], "..");
        for (int k = 0; expected[k]; k++)
            known |= !strcmp(names[i], expected[k]);
        CHECK(known, "left behind: %s", names[i]);
    }
    CSLDestroy(names);
}

static inline GDALDataType files_type(qfz_type type)
{
    static const GDALDataType types[] = {GDT_Byte,   GDT_Byte,  GDT_UInt16, GDT_Int16,
                                         GDT_UInt32, GDT_Int32, GDT_Float32};
#if HAS_GDT_INT8
    if (type == QFZ_I8) return GDT_Int8;
#endif
    return types[type];
}

/* Random creation options of blocks; the caller frees them with CSLDestroy(). */
static inline char **files_options(qfz_type type)
{
    static const char *const compressions[] = {"NONE", "DEFLATE", "LZW"};
    char **options = NULL;
    if (check_chance(30)) {
        options = CSLSetNameValue(options, "TILED", "YES");
        options = CSLSetNameValue(options, "BLOCKXSIZE", check_chance(50) ? "16" : "32");
        options = CSLSetNameValue(options, "BLOCKYSIZE", "16");
    } else {
        options = CSLSetNameValue(options, "BLOCKYSIZE", check_chance(50) ? "1" : "3");
    }
    options = CSLSetNameValue(options, "PHOTOMETRIC",
                              "MINISBLACK"); /* else GDAL may take band 4 for alpha */
    options = CSLSetNameValue(options, "INTERLEAVE", check_chance(50) ? "PIXEL" : "BAND");
    options = CSLSetNameValue(options, "COMPRESS", compressions[check_pick(3)]);
    if (type == QFZ_I8 && !HAS_GDT_INT8)
        options = CSLSetNameValue(options, "PIXELTYPE", "SIGNEDBYTE");
    return options;
}

static inline void files_must(bool good)
{
    if (good) return;
    printf("the test itself failed: %s\n", CPLGetLastErrorMsg());
    abort();
}

/* Writes one band of bytes, for example a mask. */
static inline void files_write_bytes(const char *path, const uint8_t *bytes, int64_t h, int64_t w)
{
    GDALDatasetH d =
        GDALCreate(GDALGetDriverByName("GTiff"), path, (int)w, (int)h, 1, GDT_Byte, NULL);
    files_must(d && GDALRasterIO(GDALGetRasterBand(d, 1), GF_Write, 0, 0, (int)w, (int)h,
                                 (void *)bytes, (int)w, (int)h, GDT_Byte, 0, 0) == CE_None);
    GDALClose(d);
}

/* A raster read from a file, every value as a double. */
typedef struct grid {
    int64_t h, w;
    int n_bands;
    GDALDataType type;
    bool has_nodata;
    double nodata;
    double *values;
    uint8_t *mask; /* type of the first band in GDAL */
} grid;

static inline void grid_free(grid *g)
{
    free(g->values);
    free(g->mask);
    *g = (grid){.h = 0};
}

static inline bool grid_read(grid *g, const char *path)
{
    int has = 0;
    GDALDatasetH d = GDALOpen(path, GA_ReadOnly);
    *g = (grid){.h = 0};
    if (!CHECK(d != NULL, "cannot open %s: %s", path, CPLGetLastErrorMsg())) return false;
    GDALRasterBandH first = GDALGetRasterBand(d, 1);
    g->h = GDALGetRasterYSize(d);
    g->w = GDALGetRasterXSize(d);
    g->n_bands = GDALGetRasterCount(d);
    g->type = GDALGetRasterDataType(first);
    const int64_t n = g->h * g->w;
    const char *pixel_type = GDALGetMetadataItem(first, "PIXELTYPE", "IMAGE_STRUCTURE");
    const bool is_signed = pixel_type && !strcmp(pixel_type, "SIGNEDBYTE");
    g->nodata = g->type == GDT_UInt64 ? (double)GDALGetRasterNoDataValueAsUInt64(first, &has)
                                      : GDALGetRasterNoDataValue(first, &has);
    g->has_nodata = has;
    g->values = calloc((size_t)(n * g->n_bands), sizeof *g->values);
    g->mask = calloc((size_t)n, 1);
    files_must(g->values && g->mask);
    const int h = (int)g->h, w = (int)g->w;
    bool good = GDALRasterIO(GDALGetMaskBand(first), GF_Read, 0, 0, w, h, g->mask, w, h, GDT_Byte,
                             0, 0) == CE_None;
    for (int b = 0; b < g->n_bands; b++)
        good &= GDALRasterIO(GDALGetRasterBand(d, b + 1), GF_Read, 0, 0, w, h, g->values + b * n, w,
                             h, GDT_Float64, 0, 0) == CE_None;
    for (int64_t i = 0; is_signed && i < n * g->n_bands; i++)
        if (g->values[i] > 127) g->values[i] -= 256;
    GDALClose(d);
    if (!CHECK(good, "cannot read %s: %s", path, CPLGetLastErrorMsg())) grid_free(g);
    return good;
}

/* False, too, if one of the files cannot be read. */
static inline bool files_are_same(const char *a, const char *b)
{
    GByte *x = NULL, *y = NULL;
    vsi_l_offset n = 0, m = 0;
    const bool read = VSIIngestFile(NULL, a, &x, &n, -1) && VSIIngestFile(NULL, b, &y, &m, -1);
    const bool same = read && n == m && memcmp(x, y, (size_t)n) == 0;
    VSIFree(x);
    VSIFree(y);
    return same;
}

static inline bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

#endif
