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
    source->has_no_label = source->has_no_label && value != 0; /* 0 is no label anyway */
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

bool qfz_label_source_is_narrow(const qfz_source *source)
{
    return GDALGetDataTypeSizeBytes(type_of(source)) <= (int)sizeof(uint32_t);
}

/* Whether labels of the file may be negative. */
static bool is_signed(const qfz_source *source)
{
    static const char *const names[] = {"Byte", "UInt8", "UInt16", "UInt32", "UInt64"};
    const char *const name = GDALGetDataTypeName(type_of(source));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return source->bands[0].signed_bytes;
    return true;
}

static GDALDataType memory_type(const qfz_source *source, bool is_wide)
{
    if (is_wide) return type_of(source) == GDT_UInt64 ? GDT_UInt64 : GDT_Int64;
    return is_signed(source) && !source->bands[0].signed_bytes ? GDT_Int32 : GDT_UInt32;
}

static qfz_status read_numbers(qfz_source *source, qfz_box box, qfz_label_grid labels,
                               qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const CPLErr done =
        qfz_window_read_rows(source->bands[0].handle, box, memory_type(source, labels.is_wide),
                             source->mosaic.resamples, labels.labels, labels.pitch);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, source->name, box);
    return QFZ_OK;
}

static qfz_status fail_negative(const qfz_source *source, int64_t y, int64_t x, int64_t label,
                                qfz_error *err)
{
    return qfz_fail(err, QFZ_EARG,
                    "%s: the label in column %lld, row %lld is %lld; labels are not negative, "
                    "except one that --nodata names",
                    source->name, (long long)x, (long long)y, (long long)label);
}

/* Numbers in memory become labels; they are negative if they are above `most`. */
#define QFZ_SETTLE(ctype, row, n, most)                                                            \
    do {                                                                                           \
        ctype *const px = row;                                                                     \
        const ctype none = (ctype)source->no_label;                                                \
        ctype high = 0;                                                                            \
        for (int64_t i = 0; i < n && source->bands[0].signed_bytes; i++)                           \
            px[i] -= px[i] > INT8_MAX ? 256 : 0;                                                   \
        for (int64_t i = 0; i < n && has_none; i++)                                                \
            px[i] = px[i] == none ? 0 : px[i];                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            high |= px[i];                                                                         \
        if (high > most)                                                                           \
            for (int64_t i = 0; i < n; i++)                                                        \
                if (px[i] > most) return i;                                                        \
    } while (0)

/* Returns the first pixel of a row that has a negative label, or n. */
static int64_t settle_wide(const qfz_source *source, uint64_t *row, int64_t n)
{
    const bool has_none = source->has_no_label;
    QFZ_SETTLE(uint64_t, row, n, INT64_MAX);
    return n;
}

static int64_t settle_narrow(const qfz_source *source, uint32_t *row, int64_t n)
{
    const int64_t value = (int64_t)source->no_label;
    const bool fits = is_signed(source) ? value >= INT32_MIN && value <= INT32_MAX
                                        : source->no_label <= UINT32_MAX;
    const bool has_none = source->has_no_label && fits;
    QFZ_SETTLE(uint32_t, row, n, INT32_MAX);
    return n;
}

static qfz_status settle(const qfz_source *source, qfz_box box, qfz_label_grid labels,
                         qfz_error *err)
{
    const int64_t w = qfz_box_w(box);
    const bool may_be_negative = is_signed(source);
    if (!may_be_negative && !source->has_no_label) return QFZ_OK;
    for (int64_t y = 0; y < qfz_box_h(box); y++) {
        void *const row = qfz_label_grid_at(labels, y, 0);
        const int64_t x =
            labels.is_wide ? settle_wide(source, row, w) : settle_narrow(source, row, w);
        if (x == w || !may_be_negative) continue;
        const uint64_t label = qfz_label_grid_get(labels, y, x);
        return fail_negative(source, box.y0 + y, box.x0 + x,
                             labels.is_wide ? (int64_t)label : (int32_t)(uint32_t)label, err);
    }
    return QFZ_OK;
}

static qfz_status drop_masked(qfz_source *source, qfz_box box, qfz_label_grid labels,
                              qfz_error *err)
{
    const int64_t w = qfz_box_w(box), h = qfz_box_h(box);
    const size_t bytes = (size_t)qfz_label_grid_bytes(labels);
    uint8_t *valid = NULL;
    if (!source->info.may_be_invalid) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&valid, w * h, err));
    const qfz_status st = qfz_valid_read(source, box, NULL, w * h, valid, err);
    for (int64_t y = 0; y < h && st == QFZ_OK; y++)
        for (int64_t x = 0; x < w; x++)
            if (!valid[y * w + x]) memset(qfz_label_grid_at(labels, y, x), 0, bytes);
    free(valid);
    return st;
}

qfz_status qfz_label_source_read(qfz_source *source, qfz_box box, qfz_label_grid labels,
                                 qfz_error *err)
{
    QFZ_TRY(read_numbers(source, box, labels, err));
    QFZ_TRY(drop_masked(source, box, labels, err));
    return settle(source, box, labels, err);
}
