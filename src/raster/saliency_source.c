/* SPDX-License-Identifier: MIT */
/* saliency_source.c - a saliency raster as a source: which edges exist and are low enough to join
 * pixels.
 *
 * The raster has one band for each direction (core/level.h).  An edge does not exist if its level
 * is the largest of an integer type, NaN, or the declared nodata. */
#include "raster/saliency_source.h"

#include <cpl_string.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "raster/boxes.h"
#include "raster/error_trap.h"
#include "raster/window.h"

static qfz_status check_metadata(qfz_source *source, bool *known, qfz_error *err)
{
    const char *const content = GDALGetMetadataItem(source->dataset, "QFZ_CONTENT", NULL);
    const char *const layout = GDALGetMetadataItem(source->dataset, "QFZ_LAYOUT", NULL);
    const char *const way = GDALGetMetadataItem(source->dataset, "QFZ_CONNECTIVITY", NULL);
    *known = content != NULL;
    if (content && !EQUAL(content, "saliency"))
        return qfz_fail(err, QFZ_EARG, "%s: it holds %s, but only a saliency raster can be cut",
                        source->name, content);
    if (layout && !EQUAL(layout, "edges"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: a saliency raster of layout %s cannot be cut; layout edges can",
                        source->name, layout);
    source->connectivity = way ? atoi(way) : 2 * source->n_bands;
    return QFZ_OK;
}

/* Bands may be of different types. */
static GDALDataType type_of(const qfz_band *band)
{
    return GDALGetRasterDataType(band->handle);
}

static qfz_status check_type(const qfz_source *source, const qfz_band *band, qfz_error *err)
{
    static const char *const allowed[] = {"Byte", "UInt16", "UInt32", "UInt64", "Float32"};
    const char *const name = GDALGetDataTypeName(type_of(band));
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if (strcmp(name, allowed[i]) == 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: saliency levels of type %s are not supported", source->name,
                    name);
}

qfz_status qfz_saliency_source_init(qfz_source *source, qfz_error *err)
{
    bool known = false;
    if (source->options.bands)
        return qfz_fail(
            err, QFZ_EARG,
            "%s: a cut uses every band of a saliency raster; leave the choice of bands out",
            source->name);
    QFZ_TRY(check_metadata(source, &known, err));
    for (int b = 0; b < source->n_bands; b++)
        if (GDALGetRasterColorInterpretation(source->bands[b].handle) == GCI_AlphaBand)
            return qfz_fail(err, QFZ_EARG,
                            "%s: it has an alpha band, so it is not a saliency raster",
                            source->name);
    if ((source->connectivity != 4 && source->connectivity != 8) ||
        source->n_bands != source->connectivity / 2)
        return qfz_fail(err, QFZ_EARG,
                        "%s: bands: %d%s; a saliency raster of edges has 2 (4-connected) or "
                        "4 (8-connected)",
                        source->name, source->n_bands, known ? "" : ", without metadata of qfz");
    for (int b = 0; b < source->n_bands; b++)
        QFZ_TRY(check_type(source, &source->bands[b], err));
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- reading */
/* Which levels of a band join pixels. */
typedef struct cut {
    bool any;       /* false: none; alpha is negative or NaN */
    uint64_t limit; /* integers: largest level that joins */
    double alpha;
    bool has_nodata;
    double nodata;
} cut;

static cut cut_of(const qfz_source *source, const qfz_band *band)
{
    int has = 0;
    cut c = {.alpha = source->options.alpha};
    c.any = source->options.alpha >= 0;
    if (c.any) c.limit = c.alpha >= 0x1p64 ? UINT64_MAX : (uint64_t)floor(c.alpha);
    c.nodata = GDALGetRasterNoDataValue(band->handle, &has);
    c.has_nodata = has != 0;
    return c;
}

#define QFZ_MARK(ctype, exists_and_joins)                                                          \
    do {                                                                                           \
        const ctype *const px = plane;                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const ctype p = px[i];                                                                 \
            if (exists_and_joins) bits[i] |= bit;                                                  \
        }                                                                                          \
    } while (0)

#define QFZ_MARK_INTEGER(ctype, no_edge)                                                           \
    QFZ_MARK(ctype, p != (no_edge) && p <= c->limit && !(c->has_nodata && (double)p == c->nodata))

static void mark(GDALDataType type, const void *plane, int64_t n, const cut *c, uint8_t bit,
                 uint8_t *bits)
{
    if (!c->any) return;
    if (type == GDT_Byte)
        QFZ_MARK_INTEGER(uint8_t, UINT8_MAX);
    else if (type == GDT_UInt16)
        QFZ_MARK_INTEGER(uint16_t, UINT16_MAX);
    else if (type == GDT_UInt32)
        QFZ_MARK_INTEGER(uint32_t, UINT32_MAX);
    else if (type == GDT_Float32)
        QFZ_MARK(float, (double)p <= c->alpha && !(c->has_nodata && p == (float)c->nodata));
    else
        QFZ_MARK_INTEGER(uint64_t, UINT64_MAX);
}

static qfz_status read_part(qfz_source *source, const qfz_band *band, qfz_box box, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_scratch_reserve(&source->scratch, qfz_box_h(box) * qfz_box_w(box), sizeof(uint64_t),
                                err));
    qfz_error_trap_begin(&trap);
    const CPLErr done = qfz_window_read(band->handle, box, type_of(band), source->mosaic.resamples,
                                        source->scratch.data);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, source->name, box);
    return QFZ_OK;
}

qfz_status qfz_saliency_source_read(qfz_source *source, qfz_box box, uint8_t *pixels,
                                    qfz_error *err)
{
    const int64_t n_rows = qfz_box_chunk_rows(box), w = qfz_box_w(box);
    memset(pixels, 0, (size_t)(qfz_box_h(box) * w));
    for (int b = 0; b < source->n_bands; b++) {
        const cut c = cut_of(source, &source->bands[b]);
        for (qfz_box part = box; part.y0 < box.y1; part.y0 += n_rows) {
            part.y1 = part.y0 + n_rows < box.y1 ? part.y0 + n_rows : box.y1;
            QFZ_TRY(read_part(source, &source->bands[b], part, err));
            mark(type_of(&source->bands[b]), source->scratch.data, qfz_box_h(part) * w, &c,
                 (uint8_t)(1 << b), pixels + (part.y0 - box.y0) * w);
        }
    }
    return QFZ_OK;
}
