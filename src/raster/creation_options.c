/* SPDX-License-Identifier: MIT */
#include "raster/creation_options.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <stdio.h>
#include <string.h>

#include "raster/driver.h"
#include "raster/out_type_facts.h"
#include "raster/source_state.h"

/* Adds KEY=value unless the list has the key, or the driver has no such option. */
static char **add_default(char **list, GDALDriverH driver, const char *key, const char *value)
{
    if (CSLFetchNameValue(list, key) || !qfz_driver_has_option(driver, key)) return list;
    return CSLSetNameValue(list, key, value);
}

/* A predictor (differences between neighbours) makes labels and images smaller, saliency larger.
 * libtiff before 4.4 has no predictor for 64 bits. */
static char **add_compression(char **list, GDALDriverH driver, GDALDataType file_type,
                              const qfz_sink_spec *spec)
{
    const char *const known = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONOPTIONLIST, NULL);
    const bool zstd = known && strstr(known, "<Value>ZSTD</Value>");
    const bool differs = spec->content != QFZ_CONTENT_SALIENCY &&
                         !CSLFetchNameValue(list, "NBITS") && /* only for whole bytes */
                         !GDALDataTypeIsFloating(file_type) &&
                         GDALGetDataTypeSizeBytes(file_type) < 8;
    if (CSLFetchNameValue(list, "COMPRESS")) return list;
    list = add_default(list, driver, "COMPRESS", zstd ? "ZSTD" : "DEFLATE");
    if (qfz_driver_is(driver, "COG")) return add_default(list, driver, "LEVEL", zstd ? "9" : "6");
    if (zstd)
        list = add_default(list, driver, "ZSTD_LEVEL", "1");
    else
        list = add_default(list, driver, "ZLEVEL", "1");
    return differs ? add_default(list, driver, "PREDICTOR", "2") : list;
}

/* True if the painted bands are red, green and blue, as the source says. */
static bool is_rgb(const qfz_source *source, const qfz_sink_spec *spec)
{
    static const GDALColorInterp wanted[] = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand};
    if (spec->content != QFZ_CONTENT_PAINTED || spec->n_bands < 3 || source->n_bands < 3 ||
        (spec->type != QFZ_OUT_U8 && spec->type != QFZ_OUT_U16))
        return false;
    for (int b = 0; b < 3; b++)
        if (GDALGetRasterColorInterpretation(source->bands[b].handle) != wanted[b]) return false;
    return true;
}

/* Boxes should be whole blocks: a block that is written twice leaves a hole in the file. */
static int64_t block_side(const qfz_sink_options *options)
{
    if (options->tile_px % 512 == 0) return 512;
    if (options->tile_px % 256 == 0) return 256;
    return options->tile_px % 128 == 0 ? 128 : 512;
}

/* A block is no longer than the raster, up to a multiple of 16, which TIFF wants: each pixel of a
 * block takes time to compress, and room in memory. */
static char **add_side(char **list, GDALDriverH driver, const char *key, int64_t side,
                       int64_t raster_side)
{
    enum { STEP = 16 };
    const int64_t whole = (raster_side + STEP - 1) / STEP * STEP;
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)(whole < side ? whole : side));
    return add_default(list, driver, key, text);
}

static char **add_gtiff(char **list, GDALDriverH driver, const qfz_source *source,
                        const qfz_sink_options *options, const qfz_sink_spec *spec)
{
    const char *const tiled = CSLFetchNameValue(list, "TILED");
    const char *const compress = CSLFetchNameValue(list, "COMPRESS");
    const bool is_jpeg = compress && EQUAL(compress, "JPEG");
    if (!tiled || CPLTestBool(tiled)) {
        list = add_default(list, driver, "TILED", "YES");
        list = add_side(list, driver, "BLOCKXSIZE", block_side(options), spec->w);
        list = add_side(list, driver, "BLOCKYSIZE", block_side(options), spec->h);
    }
    if (!CSLFetchNameValue(list, "PHOTOMETRIC") && !is_jpeg) {
        list = add_default(list, driver, "INTERLEAVE", "BAND");
        list =
            add_default(list, driver, "PHOTOMETRIC", is_rgb(source, spec) ? "RGB" : "MINISBLACK");
        list = add_default(list, driver, "ALPHA", "NO");
    }
    return list;
}

char **qfz_creation_options_add(char **list, GDALDriverH driver, GDALDataType file_type,
                                const qfz_source *source, const qfz_sink_options *options,
                                const qfz_sink_spec *spec)
{
    char threads[16] = "ALL_CPUS";
    const bool is_gtiff = qfz_driver_is(driver, "GTiff");
    if (options->n_threads > 0) (void)snprintf(threads, sizeof threads, "%d", options->n_threads);
    if (qfz_driver_is(driver, "JP2OpenJPEG")) {
        list = add_default(list, driver, "QUALITY", "100");
        return add_default(list, driver, "REVERSIBLE", "YES");
    }
    if (qfz_driver_is(driver, "netCDF")) {
        list = add_default(list, driver, "FORMAT", "NC4"); /* others lack unsigned types */
        return add_default(list, driver, "COMPRESS", "DEFLATE");
    }
    if (qfz_driver_is(driver, "GPKG")) return add_default(list, driver, "TILE_FORMAT", "PNG");
    if (qfz_driver_is(driver, "WEBP")) return add_default(list, driver, "LOSSLESS", "TRUE");
    if (!is_gtiff && !qfz_driver_is(driver, "COG")) return list;
    list = add_compression(list, driver, file_type, spec);
    list = add_default(list, driver, "BIGTIFF", "IF_SAFER");
    list = add_default(list, driver, "SPARSE_OK", "TRUE");
    list = add_default(list, driver, "NUM_THREADS", threads);
    list = add_default(list, driver, "RESAMPLING", "NEAREST"); /* for overviews of COG */
    if (is_gtiff) list = add_gtiff(list, driver, source, options, spec);
    if (is_gtiff && spec->type == QFZ_OUT_I8 && qfz_gdal_type(QFZ_OUT_I8) == GDT_Byte)
        list = CSLSetNameValue(list, "PIXELTYPE", "SIGNEDBYTE");
    return list;
}

static bool is_one_of(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (EQUAL(word, words[i])) return true;
    return false;
}

bool qfz_creation_options_are_exact(const char *const *list)
{
    static const char *const keys[] = {"TILED",      "BLOCKXSIZE",  "BLOCKYSIZE", "INTERLEAVE",
                                       "BIGTIFF",    "NUM_THREADS", "SPARSE_OK",  "ZLEVEL",
                                       "ZSTD_LEVEL", "LZMA_PRESET", "PREDICTOR"};
    static const char *const codecs[] = {"NONE", "LZW", "PACKBITS", "DEFLATE", "ZSTD", "LZMA"};
    bool exact = true;
    for (; list && *list && exact; list++) {
        char *key = NULL;
        const char *const value = CPLParseNameValue(*list, &key);
        exact = key && value &&
                (EQUAL(key, "COMPRESS")
                     ? is_one_of(value, codecs, (int)(sizeof codecs / sizeof *codecs))
                     : is_one_of(key, keys, (int)(sizeof keys / sizeof *keys)));
        CPLFree(key);
    }
    return exact;
}
