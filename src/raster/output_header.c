/* SPDX-License-Identifier: MIT */
#include "raster/output_header.h"

#include <stdio.h>
#include <string.h>

#include <cpl_conv.h>

#include "raster/error_trap.h"
#include "raster/georef.h"
#include "raster/source_state.h"
#include "raster/text.h"

/* A double cannot hold 2^64 - 1. */
static CPLErr set_nodata(GDALRasterBandH band, double nodata)
{
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 5, 0)
    if (GDALGetRasterDataType(band) == GDT_UInt64) {
        const uint64_t value = nodata >= 0x1p64 ? UINT64_MAX : (uint64_t)nodata;
        return GDALSetRasterNoDataValueAsUInt64(band, value);
    }
#endif
    return GDALSetRasterNoDataValue(band, nodata);
}

qfz_status qfz_output_header_set_nodata(GDALDatasetH dataset, const qfz_sink_spec *spec,
                                        const char *name, qfz_error *err)
{
    qfz_error_trap trap;
    CPLErr done = CE_None;
    qfz_error_trap_begin(&trap);
    for (int b = 1; b <= GDALGetRasterCount(dataset) && done == CE_None; b++)
        done = set_nodata(GDALGetRasterBand(dataset, b), spec->nodata);
    qfz_error_trap_end(&trap);
    if (done == CE_None && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, name, "the nodata value could not be written");
}

static void name_band(GDALRasterBandH band, const qfz_sink_spec *spec, int b)
{
    static const char *const directions[] = {"right", "below", "below right", "below left"};
    if (spec->content == QFZ_CONTENT_LABELS)
        GDALSetDescription(band, "labels");
    else if (spec->content == QFZ_CONTENT_COLORS)
        GDALSetDescription(band, "colours");
    else if (spec->layout == QFZ_EDGES && b < 4)
        GDALSetDescription(band, directions[b]);
    else
        GDALSetDescription(band, "saliency");
}

/* Painted bands keep name, colour, scale, offset and unit of the source's. */
static void copy_band_facts(GDALRasterBandH from, GDALRasterBandH to)
{
    int has_scale = 0, has_offset = 0;
    const GDALColorInterp colour = GDALGetRasterColorInterpretation(from);
    const double scale = GDALGetRasterScale(from, &has_scale);
    const double offset = GDALGetRasterOffset(from, &has_offset);
    const char *const unit = GDALGetRasterUnitType(from);
    if (GDALGetDescription(from)[0]) GDALSetDescription(to, GDALGetDescription(from));
    if (colour != GCI_PaletteIndex && colour != GCI_AlphaBand &&
        colour != GDALGetRasterColorInterpretation(to))
        (void)GDALSetRasterColorInterpretation(to, colour);
    if (has_scale && scale != 1) (void)GDALSetRasterScale(to, scale);
    if (has_offset && offset != 0) (void)GDALSetRasterOffset(to, offset);
    if (unit && unit[0]) (void)GDALSetRasterUnitType(to, unit);
}

static bool set_palette(GDALRasterBandH band, const uint8_t (*palette)[4])
{
    const GDALColorTableH table = GDALCreateColorTable(GPI_RGB);
    for (int i = 0; i < 256; i++) {
        const GDALColorEntry entry = {palette[i][0], palette[i][1], palette[i][2], palette[i][3]};
        GDALSetColorEntry(table, i, &entry);
    }
    const CPLErr done = GDALSetRasterColorTable(band, table);
    GDALDestroyColorTable(table);
    return done == CE_None;
}

static bool set_bands(GDALDatasetH dataset, const qfz_source *source, const qfz_sink_spec *spec)
{
    for (int b = 0; b < spec->n_bands; b++) {
        const GDALRasterBandH band = GDALGetRasterBand(dataset, b + 1);
        if (spec->content == QFZ_CONTENT_PAINTED && b < source->n_bands)
            copy_band_facts(source->bands[b].handle, band);
        else if (spec->content != QFZ_CONTENT_PAINTED)
            name_band(band, spec, b);
        if (spec->palette && !set_palette(band, spec->palette)) return false;
        if (spec->has_nodata && set_nodata(band, spec->nodata) != CE_None) return false;
    }
    return true;
}

static void set_item(GDALDatasetH dataset, const char *key, const char *value)
{
    (void)GDALSetMetadataItem(dataset, key, value, NULL);
}

/* One number, or one for each band. */
static void set_reals(GDALDatasetH dataset, const char *key, const double *values, int n)
{
    enum { BYTES = 40 };
    char *const text = CPLCalloc((size_t)n, BYTES), *end = text;
    for (int i = 0; i < n; i++) {
        if (i > 0) *end++ = ',';
        qfz_real_print(end, BYTES - 1, values[i]);
        end += strlen(end);
    }
    set_item(dataset, key, text);
    CPLFree(text);
}

static void set_dissimilarity(GDALDatasetH dataset, const qfz_sink_spec *spec)
{
    static const char *const distances[] = {"l1", "l2", "linf", "sam"};
    if (spec->of_edges) return;
    set_item(dataset, "QFZ_DISTANCE", distances[spec->distance]);
    if (spec->n_weights > 0) set_reals(dataset, "QFZ_WEIGHTS", spec->weights, spec->n_weights);
}

/* Of a saliency raster that is cut. */
static void copy_dissimilarity(GDALDatasetH dataset, const qfz_source *source)
{
    static const char *const keys[] = {"QFZ_DISTANCE", "QFZ_WEIGHTS"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *const value = GDALGetMetadataItem(source->dataset, keys[i], NULL);
        if (value) set_item(dataset, keys[i], value);
    }
}

/* In the spelling of the option --min-area.  A cut has the least area of its saliency raster. */
static void set_min_area(GDALDatasetH dataset, const qfz_source *source, const qfz_sink_spec *spec)
{
    enum { BYTES = 48 };
    char text[BYTES] = "";
    const char *value = text;
    if (source->options.is_saliency)
        value = GDALGetMetadataItem(source->dataset, "QFZ_MIN_AREA", NULL);
    else if (spec->min_area > 1)
        (void)snprintf(text, BYTES, "%llu", (unsigned long long)spec->min_area);
    else if (spec->min_area_m2 > 0) {
        qfz_real_print(text, BYTES - sizeof "m2", spec->min_area_m2);
        strcat(text, "m2");
    }
    if (value && *value) set_item(dataset, "QFZ_MIN_AREA", value);
}

static void set_metadata(GDALDatasetH dataset, const qfz_source *source, const qfz_sink_spec *spec)
{
    static const char *const contents[] = {"labels", "painted", "saliency", "colours"};
    static const char *const layouts[] = {"edges", "pixel", "khalimsky"};
    set_item(dataset, "QFZ_CONTENT", contents[spec->content]);
    if (spec->content == QFZ_CONTENT_COLORS) return;
    if (spec->content == QFZ_CONTENT_SALIENCY)
        set_item(dataset, "QFZ_LAYOUT", layouts[spec->layout]);
    set_item(dataset, "QFZ_CONNECTIVITY", spec->connectivity == 8 ? "8" : "4");
    if (source->options.is_saliency)
        copy_dissimilarity(dataset, source);
    else
        set_dissimilarity(dataset, spec);
    set_min_area(dataset, source, spec);
    if (spec->content == QFZ_CONTENT_SALIENCY) return;
    set_reals(dataset, "QFZ_ALPHA", &spec->alpha, 1);
    if (spec->n_omega > 0) set_reals(dataset, "QFZ_OMEGA", spec->omega, spec->n_omega);
}

/* A mask inside a GTiff, not in a file beside it. */
static bool add_mask(GDALDatasetH dataset)
{
    static const char option[] = "GDAL_TIFF_INTERNAL_MASK";
    const char *const before = CPLGetThreadLocalConfigOption(option, NULL);
    char *const kept = before ? CPLStrdup(before) : NULL;
    CPLSetThreadLocalConfigOption(option, "YES");
    const CPLErr done = GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET);
    CPLSetThreadLocalConfigOption(option, kept);
    CPLFree(kept);
    return done == CE_None;
}

qfz_status qfz_output_header_fill(GDALDatasetH dataset, const qfz_source *source,
                                  const qfz_sink_spec *spec, const char *name, qfz_error *err)
{
    const bool khalimsky = spec->content == QFZ_CONTENT_SALIENCY && spec->layout == QFZ_KHALIMSKY;
    const int64_t y0 = spec->n_parts > 0 ? spec->y0 : 0;
    qfz_error_trap trap;
    QFZ_TRY(qfz_georef_copy(source->dataset, dataset, khalimsky, y0, name, err));
    qfz_error_trap_begin(&trap);
    set_metadata(dataset, source, spec);
    const bool ok = set_bands(dataset, source, spec) && (!spec->has_mask || add_mask(dataset));
    qfz_error_trap_end(&trap);
    if (!ok)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, name,
                                   "nodata, colours or the mask band could not be written");
    return QFZ_OK;
}
