/* SPDX-License-Identifier: MIT */
/* format.c - how a raster will be written.
 *
 * Values of labels and saliency must be kept exactly, so every type and option that changes a value
 * is refused here, before anything is computed. */
#include "raster/format.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "raster/creation_options.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/out_type_facts.h"
#include "raster/output_format.h"

/* A painted output may hold any value of the source's type, another output 0..max_value. */
static qfz_status check_range(const qfz_out_type_facts *to, const qfz_sink_spec *spec,
                              qfz_error *err)
{
    const qfz_out_type_facts *const from = qfz_out_type_get_facts(spec->type);
    const bool painted = spec->content == QFZ_CONTENT_PAINTED;
    if (to == from) return QFZ_OK;
    if (from->is_float) {
        if (to->is_float && to->bytes > from->bytes) return QFZ_OK;
        return qfz_fail(err, QFZ_EARG, "%s: type %s cannot hold the %s values of this output",
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

/* GDAL before 3.7 has no Int8, but a few drivers have an option for signed bytes. */
static qfz_status check_signed_bytes(const qfz_format *f, const qfz_out_type_facts *to,
                                     const qfz_sink_spec *spec, qfz_error *err)
{
    const bool written_as_bytes = to->type == QFZ_OUT_I8 && f->file_type == GDT_Byte;
    const bool given_as_bytes = spec->type == QFZ_OUT_I8 && f->buffer_type == GDT_Byte;
    if (written_as_bytes && given_as_bytes && qfz_driver_has_option(f->driver, "PIXELTYPE"))
        return QFZ_OK;
    if (!written_as_bytes && !given_as_bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: signed bytes as %s in %s need GDAL 3.7 or later",
                    spec->path, to->name, GDALGetDriverShortName(f->driver));
}

static qfz_status choose_type(qfz_format *f, const qfz_sink_options *options,
                              const qfz_sink_spec *spec, qfz_error *err)
{
    const qfz_out_type_facts *to = qfz_out_type_get_facts(spec->type);
    if (options->type) {
        to = qfz_out_type_find(options->type);
        if (!to)
            return qfz_fail(err, QFZ_EARG, "%s: type %s is unknown or not supported", spec->path,
                            options->type);
    }
    QFZ_TRY(check_range(to, spec, err));
    f->file_type = qfz_gdal_type(to->type);
    f->buffer_type = qfz_gdal_type(spec->type);
    if (f->file_type == GDT_Unknown || f->buffer_type == GDT_Unknown)
        return qfz_fail(err, QFZ_EARG, "%s: type %s needs a newer GDAL", spec->path, to->name);
    QFZ_TRY(check_signed_bytes(f, to, spec, err));
    if (!qfz_driver_has_type(f->driver, GDALGetDataTypeName(f->file_type)))
        return qfz_fail(err, QFZ_EARG, "%s: %s cannot hold %s; it can hold %s", spec->path,
                        GDALGetDriverShortName(f->driver), to->name,
                        GDALGetMetadataItem(f->driver, GDAL_DMD_CREATIONDATATYPES, NULL));
    return QFZ_OK;
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
        if (!f->driver || !qfz_driver_can(f->driver, GDAL_DCAP_RASTER))
            return qfz_fail(err, QFZ_EARG, "%s: GDAL has no raster format named %s", spec->path,
                            options->format);
    } else {
        QFZ_TRY(qfz_driver_find(&f->driver, spec->path, false, err));
    }
    const char *const name = GDALGetDriverShortName(f->driver);
    /* netCDF refuses a georeference after the bands have been defined. */
    f->copies = !qfz_driver_can(f->driver, GDAL_DCAP_CREATE) || EQUAL(name, "netCDF");
    if (f->copies && !qfz_driver_can(f->driver, GDAL_DCAP_CREATECOPY))
        return qfz_fail(err, QFZ_EARG, "%s: GDAL cannot write the format %s", spec->path, name);
    if (EQUAL(name, "MEM") || EQUAL(name, "VRT"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: the format %s keeps no pixels in a file; choose another format",
                        spec->path, name);
    if (EQUAL(name, "PDS4")) /* one of its two files holds the temporary name of the other */
        return qfz_fail(
            err, QFZ_EARG,
            "%s: files of the format PDS4 cannot be renamed; write a GTiff and convert it "
            "by gdal_translate",
            spec->path);
    if (EQUAL(name, "KMLSUPEROVERLAY"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: the format KMLSUPEROVERLAY writes pictures, not exact values; write a "
                        "GTiff (.tif)",
                        spec->path);
    if (EQUAL(name, "JPEG"))
        return qfz_fail(err, QFZ_EARG, "%s: JPEG does not keep exact values; write a GTiff (.tif)",
                        spec->path);
    return QFZ_OK;
}

/* Options by which one file of the output holds the name of another, which is the temporary one. */
static qfz_status check_renamed(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    static const char *const all[][3] = {{"ISIS3", "DATA_LOCATION", "EXTERNAL"},
                                         {"ISIS3", "DATA_LOCATION", "GEOTIFF"},
                                         {"ISIS2", "LABELING_METHOD", "DETACHED"},
                                         {"PCIDSK", "INTERLEAVING", "FILE"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (qfz_driver_is(f->driver, all[i][0]) &&
            EQUAL(CSLFetchNameValueDef(f->options, all[i][1], ""), all[i][2]))
            return qfz_fail(err, QFZ_EARG,
                            "%s: files of the format %s with %s=%s cannot be renamed; leave this "
                            "option out",
                            spec->path, all[i][0], all[i][1], all[i][2]);
    return QFZ_OK;
}

static qfz_status check_options(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = GDALValidateCreationOptions(f->driver, f->options) != 0;
    qfz_error_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EARG, spec->path, "a creation option is not valid");
}

/* The largest whole number that fits into NBITS bits; INFINITY if NBITS is missing or the driver
 * ignores it for the type.  Copied formats are not checked here: the copy is read back. */
static double most_of_bits(const qfz_format *f)
{
    const char *const text = CSLFetchNameValue(f->options, "NBITS");
    const int all = 8 * GDALGetDataTypeSizeBytes(f->file_type), bits = text ? atoi(text) : all;
    const bool is_float = GDALDataTypeIsFloating(f->file_type) != 0;
    if (f->copies || bits < 1 || bits >= all) return INFINITY;
    if (f->file_type == GDT_Byte) return ldexp(1, bits) - 1;
    if (!qfz_driver_is(f->driver, "GTiff")) return INFINITY;
    if (is_float) return bits == 16 ? 0x1p11 : bits == 24 ? 0x1p17 : INFINITY;
    if (GDALDataTypeIsSigned(f->file_type)) return INFINITY;
    return ldexp(1, bits > all / 2 ? bits : all / 2 + 1) - 1; /* GDAL takes more bits then */
}

static bool is_set(const qfz_format *f, const char *key)
{
    return CPLTestBool(CSLFetchNameValueDef(f->options, key, "NO"));
}

/* An overview of labels, levels or means must consist of values of the raster. */
static qfz_status check_overviews(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    static const char *const keys[] = {"OVERVIEW_RESAMPLING", "RESAMPLING", "WARP_RESAMPLING"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *const method = CSLFetchNameValue(f->options, keys[i]);
        if (method && !EQUAL(method, "NEAREST") && !EQUAL(method, "MODE") && !EQUAL(method, "NONE"))
            return qfz_fail(err, QFZ_EARG,
                            "%s: %s=%s makes values that the raster does not have; use %s=NEAREST",
                            spec->path, keys[i], method, keys[i]);
    }
    const char *const scheme = CSLFetchNameValueDef(f->options, "TILING_SCHEME", "CUSTOM");
    if (!EQUAL(scheme, "CUSTOM") && qfz_driver_is(f->driver, "COG"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: TILING_SCHEME=%s warps the pixels; warp the source first, by gdalwarp",
                        spec->path, scheme);
    if (CSLFetchNameValue(f->options, "TARGET_SRS"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: TARGET_SRS warps the pixels; warp the source first, by gdalwarp",
                        spec->path);
    return QFZ_OK;
}

/* The overviews that a COG gets without --overviews.  They are made in the GTiff that is copied,
 * since those of GDAL's are not exact, and AUTO copies them. */
static qfz_overviews overviews_of_cog(qfz_format *f)
{
    const char *const general = CSLFetchNameValueDef(f->options, "RESAMPLING", "NEAREST");
    const char *const method = CSLFetchNameValueDef(f->options, "OVERVIEW_RESAMPLING", general);
    const char *const kind = CSLFetchNameValueDef(f->options, "OVERVIEWS", "AUTO");
    if (EQUAL(kind, "NONE") || EQUAL(method, "NONE")) return QFZ_OVERVIEWS_NONE;
    if (EQUAL(kind, "IGNORE_EXISTING"))
        f->options = CSLSetNameValue(f->options, "OVERVIEWS", "AUTO");
    return EQUAL(method, "MODE") ? QFZ_OVERVIEWS_MODE : QFZ_OVERVIEWS_NEAREST;
}

/* GDAL writes overviews by options of its configuration, which may come from the environment. */
static qfz_status check_overview_config(const qfz_sink_spec *spec, qfz_error *err)
{
    static const char *const exact[] = {"NONE", "DEFLATE", "LZW", "LZMA", "ZSTD", "PACKBITS"};
    static const char *const lossy[] = {"MAX_Z_ERROR_OVERVIEW",   "WEBP_LEVEL_OVERVIEW",
                                        "WEBP_LOSSLESS_OVERVIEW", "JXL_LOSSLESS_OVERVIEW",
                                        "JXL_DISTANCE_OVERVIEW",  "JXL_ALPHA_DISTANCE_OVERVIEW"};
    const char *const codec = CPLGetConfigOption("COMPRESS_OVERVIEW", "NONE");
    bool is_exact = false;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
        is_exact = is_exact || EQUAL(codec, exact[i]);
    if (!is_exact)
        return qfz_fail(err, QFZ_EARG,
                        "%s: the configuration option COMPRESS_OVERVIEW=%s may not keep exact "
                        "values; use ZSTD or DEFLATE, or leave it out",
                        spec->path, codec);
    for (size_t i = 0; i < sizeof lossy / sizeof lossy[0]; i++)
        if (CPLGetConfigOption(lossy[i], NULL))
            return qfz_fail(err, QFZ_EARG,
                            "%s: overviews may not keep exact values with the configuration "
                            "option %s; leave it out",
                            spec->path, lossy[i]);
    return QFZ_OK;
}

static qfz_status choose_overviews(qfz_format *f, const qfz_sink_options *options,
                                   const qfz_sink_spec *spec, qfz_error *err)
{
    const bool is_cog = qfz_driver_is(f->driver, "COG");
    f->overviews = options->overviews;
    if (is_cog && options->overviews == QFZ_OVERVIEWS_NONE) f->overviews = overviews_of_cog(f);
    if (f->overviews == QFZ_OVERVIEWS_NONE) return QFZ_OK;
    if (f->overviews == QFZ_OVERVIEWS_MODE && spec->content != QFZ_CONTENT_LABELS)
        return qfz_fail(err, QFZ_EARG,
                        "%s: overviews by mode are for labels; use nearest for saliency and means",
                        spec->path);
    if (is_cog && EQUAL(CSLFetchNameValueDef(f->options, "OVERVIEWS", "AUTO"), "NONE"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: OVERVIEWS=NONE, and overviews are asked for; leave one out",
                        spec->path);
    if (qfz_output_is_vrt(options->format, spec->path))
        return qfz_fail(
            err, QFZ_EARG,
            "%s: a VRT over parts gets no overviews; write a GTiff (.tif), with several "
            "processes by --merge",
            spec->path);
    if (spec->n_parts > 0) f->overviews = QFZ_OVERVIEWS_NONE; /* the merged file gets them */
    if (is_cog || qfz_driver_is(f->driver, "GTiff")) return check_overview_config(spec, err);
    return qfz_fail(err, QFZ_EARG,
                    "%s: overviews are written for GTiff and COG, not for %s; leave them out",
                    spec->path, GDALGetDriverShortName(f->driver));
}

/* WEBP of a COG is lossless at quality 100, which overviews have of their own. */
static bool is_lossless_webp(const qfz_format *f)
{
    static const char *const qualities[] = {"QUALITY", "OVERVIEW_QUALITY"};
    if (!qfz_driver_is(f->driver, "COG")) return is_set(f, "WEBP_LOSSLESS");
    for (size_t i = 0; i < sizeof qualities / sizeof qualities[0]; i++)
        if (!EQUAL(CSLFetchNameValueDef(f->options, qualities[i], ""), "100")) return false;
    return true;
}

/* What makes a codec lossy, and what to do instead; NULL: nothing. */
static const char *lossy_codec(const qfz_format *f, const char *codec, const char **instead)
{
    *instead = "use COMPRESS=ZSTD or DEFLATE";
    if (EQUAL(codec, "JPEG")) return "JPEG compression";
    if (EQUAL(codec, "WEBP") && !is_lossless_webp(f)) {
        *instead = qfz_driver_is(f->driver, "COG")
                       ? "use QUALITY=100 and OVERVIEW_QUALITY=100, or COMPRESS=ZSTD"
                       : "use WEBP_LOSSLESS=YES, or COMPRESS=ZSTD";
        return "WEBP compression";
    }
    if (EQUAL(codec, "JXL") &&
        !CPLTestBool(CSLFetchNameValueDef(f->options, "JXL_LOSSLESS", "YES"))) {
        *instead = "use JXL_LOSSLESS=YES";
        return "JXL_LOSSLESS=NO";
    }
    return NULL;
}

static const char *lossy_option(const qfz_format *f, const char **instead)
{
    static const char *const errors[] = {"MAX_Z_ERROR", "MAX_Z_ERROR_OVERVIEW"};
    static const char *const codecs[] = {"COMPRESS", "OVERVIEW_COMPRESS"};
    const char *const dropped = CSLFetchNameValue(f->options, "DISCARD_LSB");
    *instead = "leave this option out";
    if (dropped && strspn(dropped, "0,") != strlen(dropped)) return "DISCARD_LSB";
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        const double error = CPLAtof(CSLFetchNameValueDef(f->options, errors[i], "0"));
        if (error >= 0.5 || (error > 0 && GDALDataTypeIsFloating(f->file_type))) return errors[i];
    }
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const char *const codec = CSLFetchNameValueDef(f->options, codecs[i], "");
        const char *const lossy = lossy_codec(f, codec, instead);
        if (lossy) return lossy;
    }
    return NULL;
}

/* Refuses options that change values.  NBITS of painted values is checked when they are written
 * (sink_write.c). */
static qfz_status check_keeps_values(const qfz_format *f, const qfz_sink_spec *spec, qfz_error *err)
{
    const char *instead;
    if (spec->content != QFZ_CONTENT_PAINTED && spec->max_value > f->most)
        return qfz_fail(
            err, QFZ_EARG,
            "%s: NBITS=%s is too few for values up to %.0f; give more, or leave NBITS out",
            spec->path, CSLFetchNameValue(f->options, "NBITS"), spec->max_value);
    QFZ_TRY(check_overviews(f, spec, err));
    const char *const lossy = lossy_option(f, &instead);
    if (!lossy) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: %s does not keep exact values; %s", spec->path, lossy,
                    instead);
}

qfz_status qfz_format_init(qfz_format *format, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err)
{
    qfz_format f = {0};
    QFZ_TRY(choose_driver(&f, options, spec, err));
    QFZ_TRY(choose_type(&f, options, spec, err));
    /* options of a merged output are for its own format, not for the GTiffs of its parts */
    if (spec->n_parts == 0 || qfz_output_is_vrt(options->format, spec->path))
        f.options = CSLDuplicate((char **)(uintptr_t)options->creation_options);
    qfz_status st = check_options(&f, spec, err);
    f.most = most_of_bits(&f);
    if (st == QFZ_OK) st = check_renamed(&f, spec, err);
    if (st == QFZ_OK) st = check_keeps_values(&f, spec, err);
    if (st == QFZ_OK) st = choose_overviews(&f, options, spec, err);
    if (st != QFZ_OK) {
        qfz_format_fini(&f);
        return st;
    }
    f.options = qfz_creation_options_add(f.options, f.driver, f.file_type, source, options, spec);
    if (f.copies)
        f.work_options = qfz_creation_options_add(NULL, GDALGetDriverByName("GTiff"), f.file_type,
                                                  source, options, spec);
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
