/* SPDX-License-Identifier: MIT */
/* source_read.c - reads pixels of a source stripe by stripe.
 *
 * A stripe is some whole rows of blocks: small enough that its pixels are still in the processor's
 * cache when the caller processes them, and that GDAL's own cache holds no more than a stripe of a
 * tile. */
#include "raster/source_read.h"

#include <gdal.h>

#include "raster/error_trap.h"
#include "raster/boxes.h"
#include "raster/label_source.h"
#include "raster/out_type_facts.h"
#include "raster/saliency_source.h"
#include "raster/source_state.h"
#include "raster/valid.h"
#include "raster/window.h"

enum { STRIPE_BYTES = 2 << 20 };

/* ---------------------------------------------------------------------------------- one stripe */

/* Signed bytes that were read as unsigned: 128..255 become -128..-1. */
#define QFZ_MAKE_SIGNED(ctype)                                                                     \
    do {                                                                                           \
        ctype *const px = plane;                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            if (px[i] > 127) px[i] = (ctype)(px[i] - 256);                                         \
    } while (0)

static void make_signed(qfz_type type, void *plane, int64_t n)
{
    if (type == QFZ_I16)
        QFZ_MAKE_SIGNED(int16_t);
    else if (type == QFZ_I32)
        QFZ_MAKE_SIGNED(int32_t);
    else if (type == QFZ_F32)
        QFZ_MAKE_SIGNED(float);
}

static void drop_negative_zeros(float *px, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        px[i] += 0.0f;
}

/* Rows of a box that are read at once.  pixels and valid: of the first pixel of the stripe. */
typedef struct stripe {
    qfz_source *source;
    qfz_box box;
    int64_t plane_px;
    void *pixels;
    uint8_t *valid;
} stripe;

/* All bands in use, as planes. */
static CPLErr read_planes(const stripe *s, GDALDataType type)
{
    qfz_source *const source = s->source;
    const int h = (int)qfz_box_h(s->box), w = (int)qfz_box_w(s->box);
    const int64_t plane_bytes = s->plane_px * GDALGetDataTypeSizeBytes(type);
    CPLErr done = CE_None;
    if (!source->mosaic.resamples)
        return GDALDatasetRasterIOEx(source->dataset, GF_Read, (int)s->box.x0, (int)s->box.y0, w, h,
                                     s->pixels, w, h, type, source->n_bands, source->numbers, 0, 0,
                                     plane_bytes, NULL);
    for (int b = 0; b < source->n_bands && done == CE_None; b++)
        done = qfz_window_read(source->bands[b].handle, s->box, type, true,
                               (char *)s->pixels + b * plane_bytes);
    return done;
}

static qfz_status read_pixels(const stripe *s, qfz_error *err)
{
    qfz_source *const source = s->source;
    const qfz_type type = source->info.type;
    const int64_t n = qfz_box_h(s->box) * qfz_box_w(s->box);
    const int64_t plane_bytes = s->plane_px * (int64_t)qfz_type_bytes(type);
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    GDALDataType gdal_type = qfz_gdal_type(qfz_out_type_of(type));
    if (type == QFZ_I8 && source->bands[0].signed_bytes) gdal_type = GDT_Byte;
    const CPLErr done = read_planes(s, gdal_type);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, source->name, s->box);
    for (int b = 0; b < source->n_bands; b++) {
        void *const plane = (char *)s->pixels + b * plane_bytes;
        if (source->bands[b].signed_bytes) make_signed(type, plane, n);
        if (type == QFZ_F32) drop_negative_zeros(plane, n);
    }
    return QFZ_OK;
}

static qfz_status read_stripe(const void *arg, qfz_error *err)
{
    const stripe *const s = arg;
    if (s->source->options.is_saliency)
        QFZ_TRY(qfz_saliency_source_read(s->source, s->box, s->plane_px, s->pixels, err));
    else
        QFZ_TRY(read_pixels(s, err));
    return qfz_valid_read(s->source, s->box, s->pixels, s->plane_px, s->valid, err);
}

/* Reads by a function, from a source that is opened again after a failure. */
static qfz_status read_from(qfz_source *source, qfz_status (*read)(const void *arg, qfz_error *err),
                            const void *arg, qfz_error *err)
{
    if (source->has_failed) QFZ_TRY(qfz_source_reopen(source, err));
    const bool without_georef = source->is_reader && source->mosaic.is_plain;
    if (without_georef) qfz_mosaic_begin_read();
    const qfz_status st = read(arg, err);
    if (without_georef) qfz_mosaic_end_read();
    source->has_failed = st != QFZ_OK;
    return st;
}

static qfz_status read_once(void *arg, qfz_error *err)
{
    const stripe *const s = arg;
    return read_from(s->source, read_stripe, s, err);
}

/* --------------------------------------------------------------------------------------- a box */

/* Rows of a stripe w pixels wide: one row of blocks, or as many as fit into STRIPE_BYTES; all rows
 * of the raster if the size of blocks is unknown. */
static int64_t stripe_rows(const qfz_source *source, int64_t w)
{
    const qfz_source_info *const info = &source->info;
    const int64_t rows = STRIPE_BYTES / (w * info->px_bytes);
    if (!source->knows_blocks) return info->h;
    return rows < info->block_h ? info->block_h : rows - rows % info->block_h;
}

/* A stripe of a narrower box has more rows but not more pixels, unless it is one row of blocks. */
int64_t qfz_source_part_px(const qfz_source *source, int64_t h, int64_t w)
{
    const qfz_source_info *const info = &source->info;
    const int64_t usual = STRIPE_BYTES / info->px_bytes, blocks = info->block_h * w;
    const int64_t most = usual > blocks ? usual : blocks;
    return source->knows_blocks && most < h * w ? most : h * w;
}

static qfz_status place(stripe *s, const qfz_reading *reading, int64_t y0, qfz_error *err)
{
    const int64_t w = qfz_box_w(s->box);
    s->valid = reading->valid ? reading->valid + y0 * w : NULL;
    s->pixels = reading->pixels;
    if (reading->is_whole) {
        s->pixels = (char *)s->pixels + (size_t)(y0 * w) * qfz_type_bytes(s->source->info.type);
        return QFZ_OK;
    }
    s->plane_px = qfz_box_h(s->box) * w;
    return reading->room ? reading->room(reading->arg, &s->pixels, err) : QFZ_OK;
}

qfz_status qfz_source_read_rows(qfz_source *source, qfz_box box, const qfz_reading *reading,
                                qfz_error *err)
{
    const int64_t w = qfz_box_w(box), h = qfz_box_h(box);
    stripe s = {.source = source, .box = box, .plane_px = h * w};
    const qfz_box whole = {.y1 = source->info.h, .x1 = source->info.w};
    QFZ_TRY(qfz_box_check(box, whole, source->name, err));
    const int64_t n_rows = stripe_rows(source, w);
    for (; s.box.y0 < box.y1; s.box.y0 = s.box.y1) {
        const int64_t y0 = s.box.y0 - box.y0, next = (s.box.y0 / n_rows + 1) * n_rows;
        s.box.y1 = next < box.y1 ? next : box.y1;
        QFZ_TRY(place(&s, reading, y0, err));
        QFZ_TRY(qfz_retry_call(&source->options.retry, read_once, &s, err));
        const qfz_rows rows = {y0, s.box.y1 - box.y0, s.pixels, s.plane_px};
        QFZ_TRY(reading->came(reading->arg, &rows, err));
    }
    return QFZ_OK;
}

static qfz_status ignore_rows(void *arg, const qfz_rows *rows, qfz_error *err)
{
    (void)arg;
    (void)rows;
    (void)err;
    return QFZ_OK;
}

qfz_status qfz_source_read(qfz_source *source, qfz_box box, void *pixels, uint8_t *valid,
                           qfz_error *err)
{
    const qfz_reading reading = {
        .pixels = pixels, .is_whole = true, .valid = valid, .came = ignore_rows};
    return qfz_source_read_rows(source, box, &reading, err);
}

/* ---------------------------------------------------------------------------- levels of edges */
typedef struct edges_box {
    qfz_source *edges;
    qfz_box box;
    uint32_t *levels;
} edges_box;

static qfz_status read_levels(const void *arg, qfz_error *err)
{
    const edges_box *const e = arg;
    return qfz_saliency_source_levels(e->edges, e->box, e->levels, err);
}

static qfz_status read_levels_once(void *arg, qfz_error *err)
{
    const edges_box *const e = arg;
    return read_from(e->edges, read_levels, e, err);
}

qfz_status qfz_source_read_edges(qfz_source *source, qfz_box box, uint32_t *levels, qfz_error *err)
{
    edges_box e = {source->edges, box, levels};
    return qfz_retry_call(&source->options.retry, read_levels_once, &e, err);
}

/* --------------------------------------------------------------------------------------- labels */
typedef struct label_box {
    qfz_source *source;
    qfz_box box;
    qfz_label_grid labels;
} label_box;

static qfz_status read_labels(const void *arg, qfz_error *err)
{
    const label_box *const l = arg;
    return qfz_label_source_read(l->source, l->box, l->labels, err);
}

static qfz_status read_labels_once(void *arg, qfz_error *err)
{
    const label_box *const l = arg;
    return read_from(l->source, read_labels, l, err);
}

qfz_status qfz_source_read_labels(qfz_source *source, qfz_box box, qfz_label_grid labels,
                                  qfz_error *err)
{
    label_box l = {source, box, labels};
    const qfz_box whole = {.y1 = source->info.h, .x1 = source->info.w};
    QFZ_TRY(qfz_box_check(box, whole, source->name, err));
    return qfz_retry_call(&source->options.retry, read_labels_once, &l, err);
}

/* -------------------------------------------------------------------------------- GDAL's cache */

/* Bytes of blocks in the cache of one thread.  A block that one stripe reads once may leave the
 * cache with the next block.  Any other block (again) must stay while the rest of the stripe is
 * read. */
static int64_t blocks_bytes(int64_t block_w, int64_t block_h, int64_t px_bytes, int64_t stripe_w,
                            int64_t stripe_h, bool again)
{
    const int64_t across = again ? stripe_w / block_w + 2 : 2;
    const int64_t down = again ? stripe_h / block_h + 2 : 1;
    return across * down * block_w * block_h * px_bytes;
}

int64_t qfz_source_cache_bytes(const qfz_source *source, int64_t tile_w)
{
    const qfz_source_info *const info = &source->info;
    const int64_t h = stripe_rows(source, tile_w);
    const bool cuts = tile_w % info->block_w != 0 && tile_w < info->w;
    const int64_t of_edges = source->edges ? qfz_source_cache_bytes(source->edges, tile_w) : 0;
    if (!source->knows_blocks || cuts || (source->edges && of_edges == 0)) return 0;
    int64_t bytes = blocks_bytes(info->block_w, info->block_h, info->px_bytes, tile_w, h,
                                 !source->has_grid || source->is_interleaved);
    if (source->is_interleaved)
        bytes *= 2; /* the last band needs its blocks a whole stripe later */
    for (int i = 0; i < source->n_masks; i++) {
        int w_mask = 0, h_mask = 0;
        const int64_t px_bytes = GDALGetDataTypeSizeBytes(GDALGetRasterDataType(source->masks[i]));
        GDALGetBlockSize(source->masks[i], &w_mask, &h_mask);
        bytes += blocks_bytes(w_mask, h_mask, px_bytes, tile_w, h, true);
    }
    return bytes + of_edges;
}

bool qfz_source_has_narrow_labels(const qfz_source *source)
{
    return qfz_label_source_is_narrow(source);
}
