/* SPDX-License-Identifier: MIT */
/* format.c - how a raster will be written: driver, type, creation options. */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- types */
typedef struct type_facts {
    const char *name;
    qfz_out_type type;
    size_t bytes;
    bool is_float;
    double lo, hi; /* whole numbers from lo to hi are held exactly */
} type_facts;

static const type_facts facts_of[] = {
    {"Byte", QFZ_OUT_U8, 1, false, 0, 255},
    {"Int8", QFZ_OUT_I8, 1, false, -128, 127},
    {"UInt16", QFZ_OUT_U16, 2, false, 0, 65535},
    {"Int16", QFZ_OUT_I16, 2, false, -32768, 32767},
    {"UInt32", QFZ_OUT_U32, 4, false, 0, 4294967295.0},
    {"Int32", QFZ_OUT_I32, 4, false, -2147483648.0, 2147483647},
    {"UInt64", QFZ_OUT_U64, 8, false, 0, 0x1p64},
    {"Float32", QFZ_OUT_F32, 4, true, -0x1p24, 0x1p24},
    {"Float64", QFZ_OUT_F64, 8, true, -0x1p53, 0x1p53},
};
enum { N_TYPES = sizeof facts_of / sizeof facts_of[0] };

size_t qfz_out_type_bytes(qfz_out_type type)
{
    return facts_of[type].bytes;
}

qfz_out_type qfz_out_type_of(qfz_type type)
{
    static const qfz_out_type out[] = {QFZ_OUT_U8,  QFZ_OUT_I8,  QFZ_OUT_U16, QFZ_OUT_I16,
                                       QFZ_OUT_U32, QFZ_OUT_I32, QFZ_OUT_F32};
    return out[type];
}

GDALDataType qfz_gdal_type(qfz_out_type type)
{
    const GDALDataType found = GDALGetDataTypeByName(facts_of[type].name);
    return found == GDT_Unknown && type == QFZ_OUT_I8 ? GDT_Byte : found;
}

static const type_facts *facts_of_name(const char *name)
{
    for (int i = 0; i < N_TYPES; i++)
        if (EQUAL(name, facts_of[i].name) || (i == 0 && EQUAL(name, "UInt8"))) return &facts_of[i];
    return NULL;
}

/* Painted outputs may hold any value of the source's type, others 0..max_value. */
static qfz_status check_range(const type_facts *to, const qfz_sink_spec *spec, qfz_error *err)
{
    const type_facts *const from = &facts_of[spec->type];
    const bool painted = spec->content == QFZ_CONTENT_PAINTED;
    if (to == from) return QFZ_OK;
    if (from->is_float) {
        if (to->is_float && to->bytes > from->bytes) return QFZ_OK;
        return qfz_fail(err, QFZ_EARG, "%s: type %s cannot hold the %s numbers that it needs",
                        spec->path, to->name, from->name);
    }
    if (painted && (from->lo < to->lo || from->hi > to->hi))
        return qfz_fail(err, QFZ_EARG, "%s: type %s cannot hold %.0f..%.0f (%s) exactly",
                        spec->path, to->name, from->lo, from->hi, from->name);
    if (!painted && spec->max_value > to->hi)
        return qfz_fail(err, QFZ_EARG,
                        "%s: type %s counts to %.0f exactly, but values up to %.0f are needed",
                        spec->path, to->name, to->hi, spec->max_value);
    return QFZ_OK;
}

static bool has_option(GDALDriverH driver, const char *key)
{
    const char *const list = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONOPTIONLIST, NULL);
    char quoted[64];
    if (!list) return false;
    (void)snprintf(quoted, sizeof quoted, "name='%s'", key);
    if (strstr(list, quoted)) return true;
    (void)snprintf(quoted, sizeof quoted, "name=\"%s\"", key);
    return strstr(list, quoted) != NULL;
}

static bool is_driver(GDALDriverH driver, const char *name)
{
    return EQUAL(GDALGetDriverShortName(driver), name);
}

/* The lists of GTiff and COG lag behind what they can do. */
static bool lists_type(GDALDriverH driver, const char *name)
{
    const char *const list = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONDATATYPES, NULL);
    if (!list || is_driver(driver, "GTiff") || is_driver(driver, "COG")) return true;
    char **const names = CSLTokenizeString(list);
    const bool found = CSLFindString(names, name) >= 0;
    CSLDestroy(names);
    return found;
}

/* GDAL before 3.7 has no Int8, but a few drivers know signed bytes. */
static qfz_status check_signed_bytes(const qfz_format *f, const type_facts *to,
                                     const qfz_sink_spec *spec, qfz_error *err)
{
    const bool written_as_bytes = to->type == QFZ_OUT_I8 && f->file_type == GDT_Byte;
    const bool given_as_bytes = spec->type == QFZ_OUT_I8 && f->buffer_type == GDT_Byte;
    if (written_as_bytes && given_as_bytes && has_option(f->driver, "PIXELTYPE")) return QFZ_OK;
    if (!written_as_bytes && !given_as_bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: signed bytes as %s in %s need GDAL 3.7 or later",
                    spec->path, to->name, GDALGetDriverShortName(f->driver));
}

static qfz_status choose_type(qfz_format *f, const qfz_sink_options *options,
                              const qfz_sink_spec *spec, qfz_error *err)
{
    const type_facts *to = &facts_of[spec->type];
    if (options->type) {
        to = facts_of_name(options->type);
        if (!to)
            return qfz_fail(err, QFZ_EARG, "%s: type %s is not known, or not supported", spec->path,
                            options->type);
    }
    QFZ_TRY(check_range(to, spec, err));
    f->file_type = qfz_gdal_type(to->type);
    f->buffer_type = qfz_gdal_type(spec->type);
    if (f->file_type == GDT_Unknown || f->buffer_type == GDT_Unknown)
        return qfz_fail(err, QFZ_EARG, "%s: type %s needs a newer GDAL", spec->path, to->name);
    QFZ_TRY(check_signed_bytes(f, to, spec, err));
    if (!lists_type(f->driver, GDALGetDataTypeName(f->file_type)))
        return qfz_fail(err, QFZ_EARG, "%s: %s cannot hold %s; it can hold %s", spec->path,
                        GDALGetDriverShortName(f->driver), to->name,
                        GDALGetMetadataItem(f->driver, GDAL_DMD_CREATIONDATATYPES, NULL));
    (void)snprintf(f->file_type_name, sizeof f->file_type_name, "%s", to->name);
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- drivers */
static bool can(GDALDriverH driver, const char *what)
{
    const char *const value = GDALGetMetadataItem(driver, what, NULL);
    return value && CPLTestBool(value);
}

static bool has_extension(GDALDriverH driver, const char *extension)
{
    char **list = CSLTokenizeString(GDALGetMetadataItem(driver, GDAL_DMD_EXTENSIONS, NULL));
    list = CSLAddString(list, GDALGetMetadataItem(driver, GDAL_DMD_EXTENSION, NULL));
    const bool found = CSLFindString(list, extension) >= 0;
    CSLDestroy(list);
    return found;
}

/* LIBKML keeps a whole table in memory, and takes time by its square. */
static bool has_better(GDALDriverH driver, const char *extension)
{
    return is_driver(driver, "LIBKML") && EQUAL(extension, "kml") && GDALGetDriverByName("KML");
}

qfz_status qfz_driver_find(GDALDriverH *driver, const char *path, bool vector, qfz_error *err)
{
    const char *const extension = CPLGetExtension(path);
    if (!vector && (!extension[0] || EQUAL(extension, "tif") || EQUAL(extension, "tiff"))) {
        *driver = GDALGetDriverByName("GTiff");
        return *driver ? QFZ_OK : qfz_fail(err, QFZ_EIO, "%s: GDAL has no GTiff driver", path);
    }
    for (int i = 0; i < GDALGetDriverCount(); i++) {
        const GDALDriverH d = GDALGetDriver(i);
        const bool writes = can(d, GDAL_DCAP_CREATE) || (!vector && can(d, GDAL_DCAP_CREATECOPY));
        if (is_driver(d, "PDS4")) continue; /* see choose_driver() */
        if (!writes || !can(d, vector ? GDAL_DCAP_VECTOR : GDAL_DCAP_RASTER)) continue;
        if (!extension[0] || !has_extension(d, extension) || has_better(d, extension)) continue;
        *driver = d;
        return QFZ_OK;
    }
    if (!extension[0])
        return qfz_fail(err, QFZ_EARG, "%s: the name has no extension to tell the format", path);
    return qfz_fail(err, QFZ_EARG,
                    "%s: no format of GDAL that can be written has the extension .%s", path,
                    extension);
}

qfz_status qfz_output_format(const char *format, const char *path, const char **name,
                             qfz_error *err)
{
    GDALDriverH driver;
    *name = format;
    if (format) return QFZ_OK;
    if (qfz_output_is_vrt(format, path)) {
        *name = "VRT";
        return QFZ_OK;
    }
    QFZ_TRY(qfz_driver_find(&driver, path, false, err));
    *name = GDALGetDriverShortName(driver);
    return QFZ_OK;
}

bool qfz_output_is_copied(const char *format, const char *path)
{
    const char *name;
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_output_format(format, path, &name, &ignored) != QFZ_OK) return false;
    const GDALDriverH driver = GDALGetDriverByName(name);
    return driver && !can(driver, GDAL_DCAP_CREATE);
}

static qfz_status choose_driver(qfz_format *f, const qfz_sink_options *options,
                                const qfz_sink_spec *spec, qfz_error *err)
{
    if (spec->n_parts > 0) {
        f->driver = GDALGetDriverByName("GTiff");
        return f->driver ? QFZ_OK : qfz_fail(err, QFZ_EIO, "GDAL has no GTiff driver");
    }
    if (options->format) {
        f->driver = GDALGetDriverByName(options->format);
        if (!f->driver || !can(f->driver, GDAL_DCAP_RASTER))
            return qfz_fail(err, QFZ_EARG, "%s: GDAL has no raster format named %s", spec->path,
                            options->format);
    } else {
        QFZ_TRY(qfz_driver_find(&f->driver, spec->path, false, err));
    }
    const char *const name = GDALGetDriverShortName(f->driver);
    f->copies = !can(f->driver, GDAL_DCAP_CREATE);
    if (f->copies && !can(f->driver, GDAL_DCAP_CREATECOPY))
        return qfz_fail(err, QFZ_EARG, "%s: GDAL cannot write the format %s", spec->path, name);
    if (EQUAL(name, "MEM") || EQUAL(name, "VRT"))
        return qfz_fail(err, QFZ_EARG, "%s: the format %s keeps no pixels in a file", spec->path,
                        name);
    if (EQUAL(name, "PDS4")) /* of its two files one names the other by the temporary name */
        return qfz_fail(err, QFZ_EARG,
                        "%s: files of the format PDS4 cannot be renamed; write a GTiff, and make "
                        "PDS4 of it by gdal_translate",
                        spec->path);
    if (EQUAL(name, "JPEG") && (spec->content != QFZ_CONTENT_PAINTED || spec->type != QFZ_OUT_U8))
        return qfz_fail(err, QFZ_EARG, "%s: JPEG does not keep exact values; write a GTiff (.tif)",
                        spec->path);
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- options */

/* Adds KEY=value unless the user said something of it, or the driver has no such option. */
static char **add_default(char **options, GDALDriverH driver, const char *key, const char *value)
{
    if (CSLFetchNameValue(options, key) || !has_option(driver, key)) return options;
    return CSLSetNameValue(options, key, value);
}

/* Differences between neighbours compress labels and images better, saliency worse; libtiff knows
 * none of 64 bits before 4.4. */
static char **add_compression(char **options, GDALDriverH driver, const qfz_format *f,
                              const qfz_sink_spec *spec)
{
    const char *const list = GDALGetMetadataItem(driver, GDAL_DMD_CREATIONOPTIONLIST, NULL);
    const bool zstd = list && strstr(list, "<Value>ZSTD</Value>");
    const bool differs = spec->content != QFZ_CONTENT_SALIENCY &&
                         !CSLFetchNameValue(options, "NBITS") && /* of whole bytes only */
                         !GDALDataTypeIsFloating(f->file_type) &&
                         GDALGetDataTypeSizeBytes(f->file_type) < 8;
    if (CSLFetchNameValue(options, "COMPRESS")) return options;
    options = add_default(options, driver, "COMPRESS", zstd ? "ZSTD" : "DEFLATE");
    if (is_driver(driver, "COG")) return add_default(options, driver, "LEVEL", zstd ? "9" : "6");
    if (zstd)
        options = add_default(options, driver, "ZSTD_LEVEL", "1");
    else
        options = add_default(options, driver, "ZLEVEL", "1");
    return differs ? add_default(options, driver, "PREDICTOR", "2") : options;
}

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

/* Tiles should be whole blocks: a block that is written twice leaves a hole in the file. */
static const char *block_side(const qfz_sink_options *options)
{
    if (options->tile_px % 512 == 0) return "512";
    if (options->tile_px % 256 == 0) return "256";
    return options->tile_px % 128 == 0 ? "128" : "512";
}

static char **add_gtiff(char **options, GDALDriverH driver, const qfz_source *source,
                        const qfz_sink_options *chosen, const qfz_sink_spec *spec)
{
    const char *const tiled = CSLFetchNameValue(options, "TILED");
    const char *const compress = CSLFetchNameValue(options, "COMPRESS");
    const bool is_jpeg = compress && EQUAL(compress, "JPEG");
    if (!tiled || CPLTestBool(tiled)) {
        options = add_default(options, driver, "TILED", "YES");
        options = add_default(options, driver, "BLOCKXSIZE", block_side(chosen));
        options = add_default(options, driver, "BLOCKYSIZE", block_side(chosen));
    }
    if (!CSLFetchNameValue(options, "PHOTOMETRIC") && !is_jpeg) {
        options = add_default(options, driver, "INTERLEAVE", "BAND");
        options = add_default(options, driver, "PHOTOMETRIC",
                              is_rgb(source, spec) ? "RGB" : "MINISBLACK");
        options = add_default(options, driver, "ALPHA", "NO");
    }
    return options;
}

static char **with_defaults(char **options, GDALDriverH driver, const qfz_format *f,
                            const qfz_source *source, const qfz_sink_options *chosen,
                            const qfz_sink_spec *spec)
{
    char threads[16] = "ALL_CPUS";
    const bool is_gtiff = is_driver(driver, "GTiff");
    if (chosen->n_threads > 0) (void)snprintf(threads, sizeof threads, "%d", chosen->n_threads);
    if (is_driver(driver, "JP2OpenJPEG")) {
        options = add_default(options, driver, "QUALITY", "100");
        return add_default(options, driver, "REVERSIBLE", "YES");
    }
    if (is_driver(driver, "WEBP")) return add_default(options, driver, "LOSSLESS", "TRUE");
    if (!is_gtiff && !is_driver(driver, "COG")) return options;
    options = add_compression(options, driver, f, spec);
    options = add_default(options, driver, "BIGTIFF", "IF_SAFER");
    options = add_default(options, driver, "SPARSE_OK", "TRUE");
    options = add_default(options, driver, "NUM_THREADS", threads);
    options = add_default(options, driver, "RESAMPLING", "NEAREST"); /* COG: of overviews */
    if (is_gtiff) options = add_gtiff(options, driver, source, chosen, spec);
    if (is_gtiff && spec->type == QFZ_OUT_I8 && qfz_gdal_type(QFZ_OUT_I8) == GDT_Byte)
        options = CSLSetNameValue(options, "PIXELTYPE", "SIGNEDBYTE");
    return options;
}

static qfz_status check_options(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_trap trap;
    qfz_trap_begin(&trap);
    const bool ok = GDALValidateCreationOptions(f->driver, f->options) != 0;
    qfz_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_trap_fail(&trap, err, QFZ_EARG, spec->path, "a creation option is not valid");
}

/* The largest whole number that NBITS leaves, INFINITY where it leaves all; drivers take no notice
 * of it where it is no number of bits for the type.  What is copied is read back instead. */
static double most_of_bits(const qfz_format *f)
{
    const char *const text = CSLFetchNameValue(f->options, "NBITS");
    const int all = 8 * GDALGetDataTypeSizeBytes(f->file_type), bits = text ? atoi(text) : all;
    const bool is_float = GDALDataTypeIsFloating(f->file_type) != 0;
    if (f->copies || bits < 1 || bits >= all) return INFINITY;
    if (f->file_type == GDT_Byte) return ldexp(1, bits) - 1;
    if (!is_driver(f->driver, "GTiff")) return INFINITY;
    if (is_float) return bits == 16 ? 0x1p11 : bits == 24 ? 0x1p17 : INFINITY;
    return !GDALDataTypeIsSigned(f->file_type) && bits > all / 2 ? ldexp(1, bits) - 1 : INFINITY;
}

/* Options that make other values of those that are written.  Painted rasters may be made for the
 * eye; of their values it is seen when they come whether they fit (sink_write.c). */
static qfz_status check_keeps_values(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    const char *const dropped = CSLFetchNameValue(f->options, "DISCARD_LSB");
    const char *const compress = CSLFetchNameValue(f->options, "COMPRESS");
    const double tolerance = CPLAtof(CSLFetchNameValueDef(f->options, "MAX_Z_ERROR", "0"));
    const bool jxl = CPLTestBool(CSLFetchNameValueDef(f->options, "JXL_LOSSLESS", "YES"));
    const char *lossy = NULL;
    if (spec->content == QFZ_CONTENT_PAINTED) return QFZ_OK;
    if (spec->max_value > f->most)
        return qfz_fail(err, QFZ_EARG,
                        "%s: NBITS=%s is too few for values up to %.0f; give more, or leave it out",
                        spec->path, CSLFetchNameValue(f->options, "NBITS"), spec->max_value);
    if (dropped && strspn(dropped, "0,") != strlen(dropped)) lossy = "DISCARD_LSB";
    if (tolerance >= 1 || (tolerance > 0 && GDALDataTypeIsFloating(f->file_type)))
        lossy = "MAX_Z_ERROR";
    if (!jxl) lossy = "JXL_LOSSLESS=NO";
    if (compress && EQUAL(compress, "JPEG")) lossy = "COMPRESS=JPEG";
    if (!lossy) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: %s does not keep exact values; leave it out", spec->path,
                    lossy);
}

qfz_status qfz_format_init(qfz_format *format, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err)
{
    qfz_format f = {0};
    QFZ_TRY(choose_driver(&f, options, spec, err));
    QFZ_TRY(choose_type(&f, options, spec, err));
    /* those of a merged output are for its own format, not for its parts */
    if (spec->n_parts == 0 || qfz_output_is_vrt(options->format, spec->path))
        f.options = CSLDuplicate((char **)(uintptr_t)options->creation_options);
    qfz_status st = check_options(&f, spec, err);
    f.most = most_of_bits(&f);
    if (st == QFZ_OK) st = check_keeps_values(&f, spec, err);
    if (st != QFZ_OK) {
        qfz_format_fini(&f);
        return st;
    }
    f.options = with_defaults(f.options, f.driver, &f, source, options, spec);
    if (f.copies)
        f.work_options =
            with_defaults(NULL, GDALGetDriverByName("GTiff"), &f, source, options, spec);
    *format = f;
    return QFZ_OK;
}

void qfz_format_fini(qfz_format *format)
{
    CSLDestroy(format->options);
    CSLDestroy(format->work_options);
    format->options = NULL;
    format->work_options = NULL;
}
