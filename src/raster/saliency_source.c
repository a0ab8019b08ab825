/* SPDX-License-Identifier: MIT */
/* saliency_source.c - a raster of levels of edges as a source: the levels, or which edges exist and
 * are low enough to join pixels.
 *
 * The raster has one band for each direction (core/level.h).  An edge does not exist if its level
 * is NaN or the declared nodata, or, in a raster of qfz saliency, the largest of an integer type.
 */
#include "raster/saliency_source.h"

#include <cpl_string.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/boxes.h"
#include "raster/error_trap.h"
#include "raster/window.h"

static const char *item(const qfz_source *source, const char *key)
{
    return GDALGetMetadataItem(source->dataset, key, NULL);
}

/* True if the raster says by qfz's metadata that it is saliency. */
static bool is_own(const qfz_source *source)
{
    const char *const content = item(source, "QFZ_CONTENT");
    return content && EQUAL(content, "saliency");
}

static qfz_status check_bands(qfz_source *source, qfz_error *err)
{
    const char *const way = is_own(source) ? item(source, "QFZ_CONNECTIVITY") : NULL;
    source->connectivity = way ? atoi(way) : 2 * source->n_bands;
    if (source->options.bands)
        return qfz_fail(
            err, QFZ_EARG,
            "%s: a cut uses every band of a saliency raster; leave the choice of bands out",
            source->name);
    if ((source->connectivity == 4 || source->connectivity == 8) &&
        source->n_bands == source->connectivity / 2)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: bands: %d; levels of edges have 2 (4-connected: right, below) or 4 "
                    "(8-connected: right, below, below right, below left)",
                    source->name, source->n_bands);
}

static qfz_status check_metadata(const qfz_source *source, qfz_error *err)
{
    const char *const content = item(source, "QFZ_CONTENT"), *const layout =
                                                                 item(source, "QFZ_LAYOUT");
    if (is_own(source) && layout && !EQUAL(layout, "edges"))
        return qfz_fail(err, QFZ_EARG,
                        "%s: a saliency raster of layout %s cannot be cut; layout edges can",
                        source->name, layout);
    if (content && !is_own(source) && !source->options.any_edges)
        return qfz_fail(err, QFZ_EARG, "%s: it holds %s, but only a saliency raster can be cut",
                        source->name, content);
    return QFZ_OK;
}

static qfz_status check_origin(const qfz_source *source, qfz_error *err)
{
    if (is_own(source) || source->options.any_edges) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: it is not from qfz saliency: it has no metadata QFZ_CONTENT=saliency; "
                    "if its bands are levels of edges, name it as --edges FILE instead",
                    source->name);
}

/* Types of levels, and the largest level of each; saliency of qfz has unsigned types and Float32.
 */
static const struct {
    const char *name;
    bool is_signed;
    uint32_t max;
} level_types[] = {{"Byte", false, UINT8_MAX},     {"UInt8", false, UINT8_MAX},
                   {"Int8", true, INT8_MAX},       {"UInt16", false, UINT16_MAX},
                   {"Int16", true, INT16_MAX},     {"UInt32", false, UINT32_MAX - 1},
                   {"Int32", true, INT32_MAX},     {"UInt64", false, UINT32_MAX - 1},
                   {"Float32", false, 0x7f800000u}};

/* Bands of saliency may be of different types. */
static GDALDataType type_of(const qfz_band *band)
{
    return GDALGetRasterDataType(band->handle);
}

static qfz_status check_type(qfz_source *source, const qfz_band *band, qfz_error *err)
{
    const char *const name = GDALGetDataTypeName(type_of(band));
    bool ok = false;
    for (size_t i = 0; i < sizeof level_types / sizeof *level_types; i++) {
        if (strcmp(name, level_types[i].name) != 0) continue;
        ok = source->options.any_edges || !level_types[i].is_signed;
        source->info.max_edge = level_types[i].max;
    }
    if (source->options.any_edges && type_of(band) != type_of(&source->bands[0])) ok = false;
    if (ok) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: levels of edges of type %s are not supported; convert all bands to one "
                    "type, e.g. gdal_translate -ot Float32 (or UInt32)",
                    source->name, name);
}

static qfz_status check_types(qfz_source *source, qfz_error *err)
{
    bool has_max_nodata = true;
    for (int b = 0; b < source->n_bands; b++) {
        int has = 0;
        QFZ_TRY(check_type(source, &source->bands[b], err));
        const double nodata = GDALGetRasterNoDataValue(source->bands[b].handle, &has);
        has_max_nodata &= has && nodata == source->info.max_edge;
    }
    source->info.edges_are_float = type_of(&source->bands[0]) == GDT_Float32;
    if (has_max_nodata && !source->info.edges_are_float) source->info.max_edge--;
    return QFZ_OK;
}

qfz_status qfz_saliency_source_init(qfz_source *source, qfz_error *err)
{
    QFZ_TRY(check_metadata(source, err));
    QFZ_TRY(check_bands(source, err));
    QFZ_TRY(check_origin(source, err));
    return check_types(source, err);
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

static int n_cuts(const qfz_source *source)
{
    return source->info.n_planes;
}

/* The level of a cut, from 0. */
static double alpha_of(const qfz_source *source, int i)
{
    const qfz_source_options *const options = &source->options;
    return options->n_alphas > 0 ? options->alphas[i] : options->alpha;
}

static cut cut_of(const qfz_band *band, double alpha)
{
    int has = 0;
    cut c = {.alpha = alpha};
    c.any = alpha >= 0;
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

static qfz_status read_part(qfz_source *source, const qfz_band *band, GDALDataType type,
                            qfz_box box, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_scratch_reserve(&source->scratch, qfz_box_h(box) * qfz_box_w(box), sizeof(uint64_t),
                                err));
    qfz_error_trap_begin(&trap);
    const CPLErr done =
        qfz_window_read(band->handle, box, type, source->mosaic.resamples, source->scratch.data);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, source->name, box);
    return QFZ_OK;
}

/* Where bits of a part go: planes that begin with the part's first pixel. */
typedef struct planes {
    uint8_t *bits; /* of the first */
    int64_t px;    /* between two */
} planes;

static qfz_status cut_part(qfz_source *source, int b, qfz_box part, planes to, qfz_error *err)
{
    const qfz_band *const band = &source->bands[b];
    const GDALDataType type = type_of(band);
    QFZ_TRY(read_part(source, band, type, part, err));
    for (int i = 0; i < n_cuts(source); i++) {
        const cut c = cut_of(band, alpha_of(source, i));
        mark(type, source->scratch.data, qfz_box_h(part) * qfz_box_w(part), &c, (uint8_t)(1 << b),
             to.bits + i * to.px);
    }
    return QFZ_OK;
}

/* ------------------------------------------------------------------------- levels from anywhere */
static uint32_t bits_of(double value)
{
    const float single = (float)value + 0.0f; /* no negative zero */
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

/* Reads a part of a band as levels.  A double holds every value of the types but some of UInt64,
 * which are too large for a level. */
static qfz_status read_levels(qfz_source *source, int b, qfz_box part, uint32_t *levels,
                              qfz_error *err)
{
    const qfz_band *const band = &source->bands[b];
    const bool is_float = source->info.edges_are_float;
    int has_nodata = 0;
    const double declared = GDALGetRasterNoDataValue(band->handle, &has_nodata);
    const double nodata = is_float ? (double)(float)declared : declared;
    QFZ_TRY(read_part(source, band, GDT_Float64, part, err));
    const double *const values = source->scratch.data;
    const int64_t w = qfz_box_w(part), n = qfz_box_h(part) * w;
    for (int64_t i = 0; i < n; i++) {
        const double value = values[i];
        const bool none = isnan(value) || (has_nodata && value == nodata);
        if (!none && (value < 0 || (!is_float && value >= (double)UINT32_MAX)))
            return qfz_fail(err, QFZ_EARG,
                            "%s: band %d has the value %.10g in column %lld, row %lld; levels of "
                            "edges are 0 to %s, or the nodata value where there is no edge",
                            source->name, b + 1, value, (long long)(part.x0 + i % w),
                            (long long)(part.y0 + i / w), is_float ? "infinity" : "4294967294");
        levels[i] = none ? QFZ_NONE : is_float ? bits_of(value) : (uint32_t)value;
    }
    return QFZ_OK;
}

qfz_status qfz_saliency_source_levels(qfz_source *source, qfz_box box, uint32_t *levels,
                                      qfz_error *err)
{
    const int64_t n_rows = qfz_box_chunk_rows(box), w = qfz_box_w(box);
    for (int b = 0; b < source->n_bands; b++)
        for (qfz_box part = box; part.y0 < box.y1; part.y0 += n_rows) {
            part.y1 = part.y0 + n_rows < box.y1 ? part.y0 + n_rows : box.y1;
            QFZ_TRY(read_levels(source, b, part,
                                levels + (b * qfz_box_h(box) + part.y0 - box.y0) * w, err));
        }
    return QFZ_OK;
}

static double value_of(const qfz_source *source, uint32_t level)
{
    float single;
    memcpy(&single, &level, sizeof single);
    return source->info.edges_are_float ? (double)single : level;
}

static void mark_levels(const qfz_source *source, const uint32_t *levels, int64_t n, double alpha,
                        uint8_t bit, uint8_t *bits)
{
    for (int64_t i = 0; i < n; i++)
        if (levels[i] != QFZ_NONE && value_of(source, levels[i]) <= alpha) bits[i] |= bit;
}

static qfz_status cut_levels(qfz_source *source, int b, qfz_box part, planes to, qfz_error *err)
{
    const int64_t n = qfz_box_h(part) * qfz_box_w(part);
    uint32_t *levels = NULL;
    QFZ_TRY(QFZ_NEW(&levels, n, err));
    const qfz_status st = read_levels(source, b, part, levels, err);
    for (int i = 0; st == QFZ_OK && i < n_cuts(source); i++)
        mark_levels(source, levels, n, alpha_of(source, i), (uint8_t)(1 << b), to.bits + i * to.px);
    free(levels);
    return st;
}

qfz_status qfz_saliency_source_read(qfz_source *source, qfz_box box, int64_t plane_px,
                                    uint8_t *pixels, qfz_error *err)
{
    const int64_t n_rows = qfz_box_chunk_rows(box), w = qfz_box_w(box);
    for (int i = 0; i < n_cuts(source); i++)
        memset(pixels + i * plane_px, 0, (size_t)(qfz_box_h(box) * w));
    for (int b = 0; b < source->n_bands; b++)
        for (qfz_box part = box; part.y0 < box.y1; part.y0 += n_rows) {
            part.y1 = part.y0 + n_rows < box.y1 ? part.y0 + n_rows : box.y1;
            const planes to = {pixels + (part.y0 - box.y0) * w, plane_px};
            QFZ_TRY(source->options.any_edges ? cut_levels(source, b, part, to, err)
                                              : cut_part(source, b, part, to, err));
        }
    return QFZ_OK;
}
