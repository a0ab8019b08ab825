/* SPDX-License-Identifier: MIT */
/* valid.c - which pixels of a source are valid.
 *
 * A pixel is invalid where a mask or alpha band is 0, where a band in use is NaN, where all bands
 * in use (rule any: one of them) hold their nodata, or where all hold the background.  The mask of
 * one band counts as a mask of the raster. */
#include "raster/valid.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "raster/boxes.h"
#include "raster/error_trap.h"
#include "raster/window.h"

/* Bits of a pixel's byte while bands are compared one after the other.  The last two hold for the
 * bands compared so far. */
enum { IS_VALID = 1, ALL_NODATA = 2, ALL_BACKGROUND = 4 };

/* True if the type has the value, which is *exact after rounding to the type. */
static bool holds(qfz_type type, double value, double *exact)
{
    static const double lo[] = {0, -128, 0, -32768, 0, -2147483648.0};
    static const double hi[] = {255, 127, 65535, 32767, 4294967295.0, 2147483647};
    if (type == QFZ_F32) {
        *exact = (double)(float)value;
        return !isinf(*exact) || isinf(value);
    }
    *exact = value;
    return value >= lo[type] && value <= hi[type] && value == floor(value);
}

/* ----------------------------------------------------------------------------------- opening */
static void add_mask(qfz_source *source, GDALRasterBandH band)
{
    for (int i = 0; i < source->n_masks; i++)
        if (source->masks[i] == band) return;
    source->masks[source->n_masks++] = band;
}

/* NODATA_VALUES: one value for each band of the raster; a pixel with all of them is nodata. */
static bool find_nodata_of_tuple(const qfz_source *source, const qfz_band *band, double *value)
{
    char **const list =
        CSLTokenizeString2(GDALGetMetadataItem(source->dataset, "NODATA_VALUES", NULL), " ,", 0);
    const bool found = band->number <= CSLCount(list);
    if (found) *value = CPLAtof(list[band->number - 1]);
    CSLDestroy(list);
    return found;
}

static void find_declared(qfz_source *source, qfz_band *band)
{
    const int flags = GDALGetMaskFlags(band->handle);
    const bool is_tuple = (flags & GMF_NODATA) && (flags & GMF_PER_DATASET);
    int has = 0;
    double value = 0;
    if (is_tuple && source->options.nodata_rule == QFZ_NODATA_ALL) {
        add_mask(source, GDALGetMaskBand(source->bands[0].handle));
        return;
    }
    if (is_tuple) has = find_nodata_of_tuple(source, band, &value);
    if (!has) value = GDALGetRasterNoDataValue(band->handle, &has);
    band->has_nodata = has && holds(band->type, value, &band->nodata);
}

static void find_masks_of(qfz_source *source, const qfz_band *band)
{
    const int flags = GDALGetMaskFlags(band->handle);
    if (flags & (GMF_ALL_VALID | GMF_NODATA | GMF_ALPHA)) return;
    const bool is_shared = flags & GMF_PER_DATASET;
    add_mask(source, GDALGetMaskBand(is_shared ? source->bands[0].handle : band->handle));
}

static void find_nodata_and_background(qfz_source *source)
{
    const qfz_source_options *const options = &source->options;
    for (int b = 0; b < source->n_bands; b++) {
        qfz_band *const band = &source->bands[b];
        if (options->has_nodata)
            band->has_nodata = holds(band->type, options->nodata, &band->nodata);
        else
            find_declared(source, band);
        if (options->has_background)
            band->has_background = holds(band->type, options->background, &band->background);
    }
}

static bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void fill_info(qfz_source *source)
{
    qfz_source_info *const info = &source->info;
    const qfz_band *const bands = source->bands;
    info->may_be_invalid =
        source->n_masks > 0 || (!source->options.is_saliency && info->type == QFZ_F32);
    info->has_nodata = true;
    for (int b = 0; b < source->n_bands; b++) {
        if (bands[b].has_nodata || bands[b].has_background) info->may_be_invalid = true;
        if (!bands[b].has_nodata || !same_value(bands[b].nodata, bands[0].nodata))
            info->has_nodata = false;
    }
    info->nodata = info->has_nodata ? bands[0].nodata : 0;
}

qfz_status qfz_valid_init(qfz_source *source, qfz_error *err)
{
    const int n_all = GDALGetRasterCount(source->dataset);
    QFZ_TRY(QFZ_NEW_ZERO(&source->masks, (int64_t)n_all + source->n_bands + 2, err));
    if (source->mask_dataset) add_mask(source, GDALGetRasterBand(source->mask_dataset, 1));
    for (int i = 1; i <= n_all && !source->options.is_saliency; i++) {
        const GDALRasterBandH band = GDALGetRasterBand(source->dataset, i);
        if (GDALGetRasterColorInterpretation(band) == GCI_AlphaBand) add_mask(source, band);
    }
    for (int b = 0; b < source->n_bands; b++)
        find_masks_of(source, &source->bands[b]);
    if (!source->options.is_saliency && !source->options.is_labels)
        find_nodata_and_background(source);
    fill_info(source);
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------- reading */

/* valid[i] keeps the bits of `where_true` or of `where_false`, depending on a test of pixel p. */
#define QFZ_KEEP(ctype, test)                                                                      \
    do {                                                                                           \
        const ctype *const px = plane;                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const ctype p = px[i];                                                                 \
            valid[i] &= (test) ? where_true : where_false;                                         \
        }                                                                                          \
    } while (0)

static void keep_by_equality(qfz_type type, const void *plane, int64_t n, double value,
                             uint8_t where_true, uint8_t where_false, uint8_t *valid)
{
    switch (type) {
    case QFZ_U8: QFZ_KEEP(uint8_t, p == (uint8_t)value); break;
    case QFZ_I8: QFZ_KEEP(int8_t, p == (int8_t)value); break;
    case QFZ_U16: QFZ_KEEP(uint16_t, p == (uint16_t)value); break;
    case QFZ_I16: QFZ_KEEP(int16_t, p == (int16_t)value); break;
    case QFZ_U32: QFZ_KEEP(uint32_t, p == (uint32_t)value); break;
    case QFZ_I32: QFZ_KEEP(int32_t, p == (int32_t)value); break;
    case QFZ_F32: QFZ_KEEP(float, p == (float)value); break;
    }
}

static void drop_nan(const void *plane, int64_t n, uint8_t *valid)
{
    const uint8_t where_true = 0xff, where_false = (uint8_t)~IS_VALID;
    QFZ_KEEP(float, p == p);
}

static void compare_band(const qfz_source *source, const qfz_band *band, const void *plane,
                         int64_t n, uint8_t *valid)
{
    const qfz_type type = source->info.type;
    const bool nodata_is_nan = band->has_nodata && isnan(band->nodata);
    const uint8_t all = 0xff;
    if (type == QFZ_F32) drop_nan(plane, n, valid); /* also NaN as nodata */
    if (band->has_nodata && !nodata_is_nan && source->options.nodata_rule == QFZ_NODATA_ANY)
        keep_by_equality(type, plane, n, band->nodata, (uint8_t)~IS_VALID, all, valid);
    else if (band->has_nodata && !nodata_is_nan)
        keep_by_equality(type, plane, n, band->nodata, all, (uint8_t)~ALL_NODATA, valid);
    if (band->has_background)
        keep_by_equality(type, plane, n, band->background, all, (uint8_t)~ALL_BACKGROUND, valid);
}

static void compare_bands(const qfz_source *source, const void *pixels, int64_t plane_px, int64_t n,
                          uint8_t *valid)
{
    const size_t plane_bytes = (size_t)plane_px * qfz_type_bytes(source->info.type);
    uint8_t start = IS_VALID | ALL_NODATA | ALL_BACKGROUND;
    for (int b = 0; b < source->n_bands; b++) {
        const qfz_band *const band = &source->bands[b];
        if (!band->has_nodata || isnan(band->nodata) ||
            source->options.nodata_rule == QFZ_NODATA_ANY)
            start &= (uint8_t)~ALL_NODATA;
        if (!band->has_background) start &= (uint8_t)~ALL_BACKGROUND;
    }
    memset(valid, start, (size_t)n);
    for (int b = 0; b < source->n_bands; b++)
        compare_band(source, &source->bands[b], (const char *)pixels + (size_t)b * plane_bytes, n,
                     valid);
    for (int64_t i = 0; i < n; i++)
        valid[i] = valid[i] == IS_VALID;
}

/* Reads a mask into scratch: as bytes if the band has bytes, else as doubles, in which no other
 * value becomes 0. */
static qfz_status read_mask(qfz_source *source, GDALRasterBandH mask, qfz_box box, bool bytes,
                            qfz_error *err)
{
    const GDALDatasetH owner = GDALGetBandDataset(mask);
    const bool is_own = source->mask_dataset && owner == source->mask_dataset;
    const qfz_mosaic *const mosaic = is_own ? &source->mask_mosaic : &source->mosaic;
    qfz_error_trap trap;
    QFZ_TRY(qfz_scratch_reserve(&source->scratch, qfz_box_h(box) * qfz_box_w(box), sizeof(double),
                                err));
    qfz_error_trap_begin(&trap);
    const CPLErr done = qfz_window_read(mask, box, bytes ? GDT_Byte : GDT_Float64,
                                        mosaic->resamples, source->scratch.data);
    qfz_error_trap_end(&trap);
    if (done == CE_None && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail_box(&trap, err, is_own ? GDALGetDescription(owner) : source->name,
                                   box);
}

static qfz_status apply_mask(qfz_source *source, GDALRasterBandH mask, qfz_box box, uint8_t *valid,
                             qfz_error *err)
{
    const bool bytes = GDALGetRasterDataType(mask) == GDT_Byte;
    const int64_t n_rows = qfz_box_chunk_rows(box), w = qfz_box_w(box);
    const uint8_t where_true = 0xff, where_false = 0;
    for (qfz_box part = box; part.y0 < box.y1; part.y0 += n_rows) {
        part.y1 = part.y0 + n_rows < box.y1 ? part.y0 + n_rows : box.y1;
        const int64_t n = qfz_box_h(part) * w;
        QFZ_TRY(read_mask(source, mask, part, bytes, err));
        const void *const plane = source->scratch.data;
        if (bytes)
            QFZ_KEEP(uint8_t, p != 0);
        else
            QFZ_KEEP(double, p != 0 && p == p);
        valid += n;
    }
    return QFZ_OK;
}

qfz_status qfz_valid_read(qfz_source *source, qfz_box box, const void *pixels, int64_t plane_px,
                          uint8_t *valid, qfz_error *err)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    if (!valid) return QFZ_OK;
    if (source->options.is_saliency || source->options.is_labels || !source->info.may_be_invalid)
        memset(valid, 1, (size_t)n);
    else
        compare_bands(source, pixels, plane_px, n, valid);
    for (int i = 0; i < source->n_masks; i++)
        QFZ_TRY(apply_mask(source, source->masks[i], box, valid, err));
    return QFZ_OK;
}
