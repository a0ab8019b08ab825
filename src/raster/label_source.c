/* SPDX-License-Identifier: MIT */
/* label_source.c - a raster of labels as a source.
 *
 * Labels are read as 64-bit numbers.  A pixel has no label if it holds 0 or nodata, or if a mask or
 * an alpha band says so. */
#include "raster/label_source.h"

#include <cpl_string.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/valid.h"
#include "raster/window.h"

static GDALDataType type_of(const qfz_source *source)
{
    return GDALGetRasterDataType(source->bands[0].handle);
}

static bool is_integer(GDALDataType type)
{
    static const char *const names[] = {"Byte",   "UInt8", "Int8",  "UInt16", "Int16",
                                        "UInt32", "Int32", "Int64", "UInt64"};
    const char *const name = GDALGetDataTypeName(type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name && strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Nodata of the user or of a type of at most 32 bits; one that is no whole number is that of no
 * pixel. */
static void set_nodata(qfz_source *source, double value)
{
    const bool is_wide = type_of(source) == GDT_UInt64;
    const double most = is_wide ? 0x1p64 : 0x1p63, least = is_wide ? 0 : -0x1p63;
    source->has_no_label = value >= least && value < most && value == floor(value);
    if (!source->has_no_label) return;
    source->no_label = is_wide ? (uint64_t)value : (uint64_t)(int64_t)value;
}

static void find_nodata(qfz_source *source)
{
    const GDALRasterBandH band = source->bands[0].handle;
    int has = 0;
    if (source->options.has_nodata) {
        set_nodata(source, source->options.nodata);
    } else if (type_of(source) == GDT_UInt64) {
        source->no_label = GDALGetRasterNoDataValueAsUInt64(band, &has);
        source->has_no_label = has != 0;
    } else if (type_of(source) == GDT_Int64) {
        source->no_label = (uint64_t)GDALGetRasterNoDataValueAsInt64(band, &has);
        source->has_no_label = has != 0;
    } else {
        const double declared = GDALGetRasterNoDataValue(band, &has);
        if (has) set_nodata(source, declared);
    }
}

qfz_status qfz_label_source_init(qfz_source *source, qfz_error *err)
{
    if (source->n_bands != 1)
        return qfz_fail(err, QFZ_EARG,
                        "%s: it has %d bands; name the one that holds the labels, e.g. -b 1",
                        source->name, source->n_bands);
    qfz_band *const band = &source->bands[0];
    const GDALDataType type = type_of(source);
    const char *const sign = GDALGetMetadataItem(band->handle, "PIXELTYPE", "IMAGE_STRUCTURE");
    if (!is_integer(type))
        return qfz_fail(err, QFZ_EARG,
                        "%s: band %d is of type %s; labels are integers of up to 64 bits",
                        source->name, band->number, GDALGetDataTypeName(type));
    band->signed_bytes = type == GDT_Byte && sign && EQUAL(sign, "SIGNEDBYTE");
    find_nodata(source);
    return QFZ_OK;
}

static qfz_status read_numbers(qfz_source *source, qfz_box box, uint64_t *labels, qfz_error *err)
{
    const GDALDataType type = type_of(source) == GDT_UInt64 ? GDT_UInt64 : GDT_Int64;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const CPLErr done =
        qfz_window_read(source->bands[0].handle, box, type, source->mosaic.resamples, labels);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, source->name, box);
    return QFZ_OK;
}

/* Numbers of up to 63 bits that are negative, and no nodata, are an error. */
static qfz_status check_label(const qfz_source *source, qfz_box box, int64_t i, uint64_t label,
                              qfz_error *err)
{
    const int64_t w = qfz_box_w(box);
    if (type_of(source) == GDT_UInt64 || label <= INT64_MAX) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: the label in column %lld, row %lld is %lld; labels are not negative, "
                    "except one that --nodata names",
                    source->name, (long long)(box.x0 + i % w), (long long)(box.y0 + i / w),
                    (long long)(int64_t)label);
}

static qfz_status settle(const qfz_source *source, qfz_box box, uint64_t *labels, qfz_error *err)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    const bool signed_bytes = source->bands[0].signed_bytes;
    for (int64_t i = 0; i < n; i++) {
        if (signed_bytes && labels[i] > INT8_MAX) labels[i] -= 256;
        if (source->has_no_label && labels[i] == source->no_label) labels[i] = 0;
        if (labels[i] > INT64_MAX) QFZ_TRY(check_label(source, box, i, labels[i], err));
    }
    return QFZ_OK;
}

static qfz_status drop_masked(qfz_source *source, qfz_box box, uint64_t *labels, qfz_error *err)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    uint8_t *valid = NULL;
    if (!source->info.may_be_invalid) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&valid, n, err));
    const qfz_status st = qfz_valid_read(source, box, NULL, n, valid, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++)
        if (!valid[i]) labels[i] = 0;
    free(valid);
    return st;
}

qfz_status qfz_label_source_read(qfz_source *source, qfz_box box, uint64_t *labels, qfz_error *err)
{
    QFZ_TRY(read_numbers(source, box, labels, err));
    QFZ_TRY(drop_masked(source, box, labels, err));
    return settle(source, box, labels, err);
}
