/* SPDX-License-Identifier: MIT */
/* source.c - opens a raster: which bands are read, as what type, in which blocks. */
#include "raster/source.h"

#include <assert.h>
#include <cpl_string.h>
#include <gdal.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/blocks.h"
#include "raster/error_trap.h"
#include "raster/label_source.h"
#include "raster/network.h"
#include "raster/saliency_source.h"
#include "raster/source_state.h"
#include "raster/text.h"
#include "raster/valid.h"

/* ----------------------------------------------------------------------------------- opening */
static int64_t n_parts(int64_t length, int64_t part)
{
    return (length - 1) / part + 1;
}

static bool wants_set(const qfz_source_info *info)
{
    return qfz_blocks_want_set(n_parts(info->w, info->block_w), n_parts(info->h, info->block_h));
}

/* known: as in open_new(). */
static qfz_status open_dataset(GDALDatasetH *dataset, const char *name, const char *const *options,
                               const qfz_source *known, qfz_error *err)
{
    const unsigned access = known && wants_set(&known->info) ? GDAL_OF_HASHSET_BLOCK_ACCESS
                                                             : GDAL_OF_DEFAULT_BLOCK_ACCESS;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    *dataset = GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR | access,
                          NULL, options, NULL);
    qfz_error_trap_end(&trap);
    if (!*dataset)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, name, "not a raster that GDAL can open");
    return QFZ_OK;
}

static qfz_status check_has_bands(const qfz_source *source, qfz_error *err)
{
    if (GDALGetRasterCount(source->dataset) > 0) return QFZ_OK;
    char **const list = GDALGetMetadata(source->dataset, "SUBDATASETS");
    const char *const first = CSLFetchNameValue(list, "SUBDATASET_1_NAME");
    if (first)
        return qfz_fail(
            err, QFZ_EIO,
            "%s: it has no bands, only subdatasets, of which the first is %s; name one of "
            "them as input",
            source->name, first);
    return qfz_fail(err, QFZ_EIO, "%s: it has no bands", source->name);
}

static qfz_status find_type(const qfz_source *source, qfz_band *band, qfz_error *err)
{
    const GDALDataType type = GDALGetRasterDataType(band->handle);
    const char *const name = GDALGetDataTypeName(type);
    static const struct {
        const char *name;
        qfz_type type;
    } known[] = {{"Byte", QFZ_U8},    {"UInt8", QFZ_U8},    {"Int8", QFZ_I8},
                 {"UInt16", QFZ_U16}, {"Int16", QFZ_I16},   {"UInt32", QFZ_U32},
                 {"Int32", QFZ_I32},  {"Float16", QFZ_F32}, {"Float32", QFZ_F32}};
    for (size_t i = 0; name && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        const char *const sign = GDALGetMetadataItem(band->handle, "PIXELTYPE", "IMAGE_STRUCTURE");
        band->signed_bytes = type == GDT_Byte && sign && EQUAL(sign, "SIGNEDBYTE");
        band->type = band->signed_bytes ? QFZ_I8 : known[i].type;
        return QFZ_OK;
    }
    const bool is_complex = GDALDataTypeIsComplex(type) != 0;
    return qfz_fail(err, QFZ_EARG, "%s: band %d is of type %s, which is not supported; %s",
                    source->name, band->number, name ? name : "unknown",
                    is_complex ? "make a raster of its amplitude first"
                               : "convert it first, e.g. gdal_translate -ot Float32 (or Int32)");
}

static bool is_alpha(GDALDatasetH dataset, int number)
{
    const GDALRasterBandH band = GDALGetRasterBand(dataset, number);
    return GDALGetRasterColorInterpretation(band) == GCI_AlphaBand;
}

/* Sets the numbers of the bands in use. */
static qfz_status choose_bands(qfz_source *source, qfz_error *err)
{
    const qfz_source_options *const options = &source->options;
    const int n_all = GDALGetRasterCount(source->dataset);
    const int n_wanted = options->bands ? options->n_bands : n_all;
    QFZ_TRY(QFZ_NEW_ZERO(&source->numbers, n_wanted, err));
    for (int i = 0; i < n_wanted; i++) {
        const int number = options->bands ? options->bands[i] : i + 1;
        if (number < 1 || number > n_all)
            return qfz_fail(err, QFZ_EARG, "%s: there is no band %d; it has %d", source->name,
                            number, n_all);
        for (int j = 0; j < source->n_bands; j++)
            if (source->numbers[j] == number)
                return qfz_fail(err, QFZ_EARG, "%s: band %d is named twice; name each band once",
                                source->name, number);
        if (options->bands || options->is_saliency || !is_alpha(source->dataset, number))
            source->numbers[source->n_bands++] = number;
    }
    if (source->n_bands < 1)
        return qfz_fail(err, QFZ_EARG, "%s: every band is an alpha band; name the bands to use",
                        source->name);
    if (source->n_bands > QFZ_MAX_BANDS)
        return qfz_fail(err, QFZ_EARG, "%s: %d bands are more than the %d supported", source->name,
                        source->n_bands, (int)QFZ_MAX_BANDS);
    return QFZ_OK;
}

/* The smallest type that holds every band's own type. */
static qfz_status find_common_type(qfz_source *source, qfz_error *err)
{
    static const qfz_type of_signed[] = {QFZ_I8, QFZ_I16, QFZ_I32},
                          of_unsigned[] = {QFZ_U8, QFZ_U16, QFZ_U32};
    int bits_signed = 0, bits_unsigned = 0;
    bool is_float = false;
    for (int b = 0; b < source->n_bands; b++) {
        const qfz_type type = source->bands[b].type;
        const int bits = 8 * (int)qfz_type_bytes(type);
        const bool is_signed = type == QFZ_I8 || type == QFZ_I16 || type == QFZ_I32;
        if (qfz_type_is_float(type))
            is_float = true;
        else if (is_signed)
            bits_signed = bits > bits_signed ? bits : bits_signed;
        else
            bits_unsigned = bits > bits_unsigned ? bits : bits_unsigned;
    }
    if (bits_signed > 0 && bits_unsigned >= bits_signed) bits_signed = 2 * bits_unsigned;
    const int bits = bits_signed > 0 ? bits_signed : bits_unsigned;
    if (bits > (is_float ? 16 : 32))
        return qfz_fail(err, QFZ_EARG,
                        "%s: no supported type holds all of its bands exactly; convert them to "
                        "one type first, e.g. gdal_translate -ot Int32 (or Float32)",
                        source->name);
    const int rank = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    source->info.type = is_float ? QFZ_F32 : bits_signed > 0 ? of_signed[rank] : of_unsigned[rank];
    return QFZ_OK;
}

static qfz_status open_bands(qfz_source *source, qfz_error *err)
{
    const bool is_image = !source->options.is_saliency && !source->options.is_labels;
    QFZ_TRY(choose_bands(source, err));
    QFZ_TRY(QFZ_NEW_ZERO(&source->bands, source->n_bands, err));
    for (int b = 0; b < source->n_bands; b++) {
        source->bands[b].number = source->numbers[b];
        source->bands[b].handle = GDALGetRasterBand(source->dataset, source->numbers[b]);
        if (is_image) QFZ_TRY(find_type(source, &source->bands[b], err));
    }
    return is_image ? find_common_type(source, err) : QFZ_OK;
}

static qfz_status open_new(qfz_source **source, const qfz_source_options *options,
                           const qfz_source *known, bool is_reader, qfz_error *err);

static qfz_status open_mask(qfz_source *source, const qfz_source_options *options,
                            const qfz_source *known, qfz_error *err)
{
    if (!options->mask) return QFZ_OK;
    if (!known) QFZ_TRY(qfz_network_check(options->mask, options->allow_network, err));
    QFZ_TRY(open_dataset(&source->mask_dataset, options->mask, NULL, known, err));
    if (known)
        source->mask_mosaic = known->mask_mosaic;
    else
        QFZ_TRY(qfz_mosaic_init(&source->mask_mosaic, source->mask_dataset, err));
    const int w = GDALGetRasterXSize(source->mask_dataset);
    const int h = GDALGetRasterYSize(source->mask_dataset);
    if (GDALGetRasterCount(source->mask_dataset) < 1)
        return qfz_fail(err, QFZ_EIO, "%s: the mask has no bands", options->mask);
    if (w != source->info.w || h != source->info.h)
        return qfz_fail(err, QFZ_EARG, "%s: the mask has %d x %d pixels, but %s has %lld x %lld",
                        options->mask, w, h, source->name, (long long)source->info.w,
                        (long long)source->info.h);
    return QFZ_OK;
}

/* known: as in open_new(). */
static qfz_status open_edges(qfz_source *source, const qfz_source *known, qfz_error *err)
{
    qfz_source_info *const info = &source->info;
    const qfz_source_options options = {.name = source->options.edges,
                                        .is_saliency = true,
                                        .any_edges = true,
                                        .allow_network = source->options.allow_network,
                                        .retry = source->options.retry};
    if (!options.name) return QFZ_OK;
    QFZ_TRY(
        open_new(&source->edges, &options, known ? known->edges : NULL, source->is_reader, err));
    const qfz_source_info *const edges = &source->edges->info;
    if (edges->w != info->w || edges->h != info->h)
        return qfz_fail(err, QFZ_EARG,
                        "%s: the levels of edges have %lld x %lld pixels, but %s has %lld x %lld",
                        options.name, (long long)edges->w, (long long)edges->h, source->name,
                        (long long)info->w, (long long)info->h);
    info->edges_connectivity = source->edges->connectivity;
    info->edges_are_float = edges->edges_are_float;
    info->max_edge = edges->max_edge;
    info->beside_block_bytes = edges->block_w * edges->block_h * edges->px_bytes;
    info->table_bytes += edges->table_bytes;
    return QFZ_OK;
}

/* The blocks of a mosaic are those of its parts. */
static void find_blocks(qfz_source *source)
{
    qfz_source_info *const info = &source->info;
    const qfz_mosaic *const mosaic = &source->mosaic;
    int w = 0, h = 0;
    GDALGetBlockSize(source->bands[0].handle, &w, &h);
    if (mosaic->block_w > 0) {
        w = (int)mosaic->block_w;
        h = (int)mosaic->block_h;
    }
    info->block_w = w < 1 || w > info->w ? info->w : w;
    info->block_h = h < 1 ? 1 : h > info->h ? info->h : h;
    source->knows_blocks = !mosaic->is_vrt || mosaic->block_w > 0;
    source->has_grid = !mosaic->is_vrt || mosaic->has_grid;
}

/* Of n_bands bands.  A reader of few rows of blocks has a set of them (open_dataset()). */
static int64_t table_bytes(const qfz_source_info *info, int n_bands, bool is_mixed)
{
    const qfz_blocks blocks = {.n_x = n_parts(info->w, info->block_w),
                               .n_y = n_parts(info->h, info->block_h),
                               .n_bands = n_bands,
                               .n_planes = is_mixed ? 1 : n_bands,
                               .are_in_set = wants_set(info)};
    return n_bands > 0 ? qfz_blocks_table_bytes(&blocks) : 0;
}

/* GDAL decodes bands that share blocks together, whether they are in use or not. */
static void find_order(qfz_source *source)
{
    const char *const order = GDALGetMetadataItem(source->dataset, "INTERLEAVE", "IMAGE_STRUCTURE");
    const bool by_pixel = order && EQUAL(order, "PIXEL");
    const int n = by_pixel ? GDALGetRasterCount(source->dataset) : source->n_bands;
    source->is_interleaved = source->n_bands > 1 && !(order && EQUAL(order, "BAND"));
    for (int i = 0; i < n; i++) {
        const int number = by_pixel ? i + 1 : source->numbers[i];
        const GDALRasterBandH band = GDALGetRasterBand(source->dataset, number);
        source->info.px_bytes += GDALGetDataTypeSizeBytes(GDALGetRasterDataType(band));
    }
    source->info.table_bytes = table_bytes(&source->info, n, by_pixel);
}

static void fill_info(qfz_source *source)
{
    qfz_source_info *const info = &source->info;
    find_blocks(source);
    find_order(source);
    info->n_bands = source->options.is_saliency ? 1 : source->n_bands;
    info->n_planes = source->options.n_alphas > 0 ? (int)source->options.n_alphas : info->n_bands;
    if (source->options.is_saliency || source->options.is_labels) info->type = QFZ_U8;
}

/* Alpha bands between the others were decoded and counted with them. */
static bool is_counted(const qfz_source *source, GDALRasterBandH mask)
{
    return source->is_interleaved && GDALGetBandDataset(mask) == source->dataset;
}

static void count_masks(qfz_source *source)
{
    const qfz_mosaic *const mosaic = &source->mask_mosaic;
    for (int i = 0; i < source->n_masks; i++) {
        const GDALRasterBandH mask = source->masks[i];
        const bool is_given = GDALGetBandDataset(mask) == source->mask_dataset;
        int w = 0, h = 0;
        if (is_counted(source, mask)) continue;
        GDALGetBlockSize(mask, &w, &h);
        const int64_t px =
            is_given && mosaic->block_w > 0 ? mosaic->block_w * mosaic->block_h : (int64_t)w * h;
        source->info.beside_block_bytes +=
            px * GDALGetDataTypeSizeBytes(GDALGetRasterDataType(mask));
    }
    source->info.table_bytes += table_bytes(&source->info, source->n_masks, false);
}

static qfz_status open_source(qfz_source *source, const qfz_source_options *options,
                              const qfz_source *known, qfz_error *err)
{
    if (!options->name || !options->name[0])
        return qfz_fail(err, QFZ_EARG, "no input raster is named");
    QFZ_TRY(qfz_text_copy(&source->name, options->name, err));
    if (!known) QFZ_TRY(qfz_network_check(options->name, options->allow_network, err));
    QFZ_TRY(open_dataset(&source->dataset, options->name, options->open_options, known, err));
    QFZ_TRY(check_has_bands(source, err));
    source->options = *options;
    source->info.w = GDALGetRasterXSize(source->dataset);
    source->info.h = GDALGetRasterYSize(source->dataset);
    QFZ_TRY(open_bands(source, err));
    if (known)
        source->mosaic = known->mosaic;
    else
        QFZ_TRY(qfz_mosaic_init(&source->mosaic, source->dataset, err));
    fill_info(source);
    QFZ_TRY(open_mask(source, options, known, err));
    QFZ_TRY(open_edges(source, known, err));
    if (source->options.is_saliency) QFZ_TRY(qfz_saliency_source_init(source, err));
    if (source->options.is_labels) QFZ_TRY(qfz_label_source_init(source, err));
    QFZ_TRY(qfz_valid_init(source, err));
    count_masks(source);
    return QFZ_OK;
}

/* known: the same raster, opened before; or NULL. */
static qfz_status open_new(qfz_source **source, const qfz_source_options *options,
                           const qfz_source *known, bool is_reader, qfz_error *err)
{
    qfz_source *made = NULL;
    qfz_error_trap trap;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->options = *options;
    made->is_reader = is_reader;
    qfz_error_trap_begin(&trap);
    const qfz_status st = open_source(made, options, known, err);
    qfz_error_trap_end(&trap);
    if (st != QFZ_OK) {
        qfz_source_close(made);
        return st;
    }
    *source = made;
    return QFZ_OK;
}

qfz_status qfz_source_open(qfz_source **source, const qfz_source_options *options, qfz_error *err)
{
    return open_new(source, options, NULL, false, err);
}

qfz_status qfz_source_locate(qfz_source *source, qfz_error *err)
{
    qfz_error_trap trap;
    if (source->is_located) return QFZ_OK;
    qfz_error_trap_begin(&trap);
    const qfz_status st = qfz_georef_init(&source->georef, source->dataset, err);
    qfz_error_trap_end(&trap);
    source->is_located = st == QFZ_OK;
    return st;
}

qfz_status qfz_source_open_reader(qfz_source **reader, const qfz_source *source, qfz_error *err)
{
    return open_new(reader, &source->options, source, true, err);
}

/* After a failed read GDAL's copy of a TIFF's block list is incomplete: GDAL takes the blocks that
 * could not be listed for empty ones, without an error. */
qfz_status qfz_source_reopen(qfz_source *source, qfz_error *err)
{
    qfz_source *fresh = NULL;
    QFZ_TRY(open_new(&fresh, &source->options, source, source->is_reader, err));
    const bool same = fresh->info.w == source->info.w && fresh->info.h == source->info.h &&
                      fresh->info.type == source->info.type;
    const qfz_source old = *source;
    *source = *fresh;
    *fresh = old;
    qfz_source_close(fresh);
    return same ? QFZ_OK
                : qfz_fail(err, QFZ_EARG, "%s: its size or type has changed during the run",
                           source->name);
}

void qfz_source_close(qfz_source *source)
{
    qfz_error_trap trap;
    if (!source) return;
    qfz_error_trap_begin(&trap);
    qfz_georef_fini(&source->georef);
    qfz_source_close(source->edges);
    if (source->mask_dataset) GDALClose(source->mask_dataset);
    if (source->dataset) GDALClose(source->dataset);
    CSLDestroy(source->mask_files);
    CSLDestroy(source->files);
    qfz_error_trap_end(&trap);
    free(source->scratch.data);
    free(source->masks);
    free(source->bands);
    free(source->numbers);
    free(source->name);
    free(source);
}

const qfz_source_info *qfz_source_get_info(const qfz_source *source)
{
    return &source->info;
}

int64_t qfz_source_reader_bytes(const qfz_source_info *info)
{
    return 2 * (info->block_w * info->block_h * info->px_bytes + info->beside_block_bytes);
}

int qfz_source_band_number(const qfz_source *source, int band)
{
    assert(band >= 0 && band < source->n_bands);
    return source->bands[band].number;
}

int qfz_source_connectivity(const qfz_source *source)
{
    return source->connectivity;
}
