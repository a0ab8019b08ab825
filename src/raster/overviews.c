/* SPDX-License-Identifier: MIT */
#include "raster/overviews.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"

enum {
    SIDE = 512,         /* of the overview's pixels that are written at once */
    WINDOW = 512,       /* of the pixels that are read at once, unless one square is larger */
    LAST_SIDE = 512,    /* an overview of at most this side is the last one */
    MODE_FACTOR = 1024, /* bounds the memory of a square */
    FACTORS = 32,
    FEW = 24 /* values that are sorted by insertion */
};

typedef struct overviews {
    GDALDatasetH dataset;
    qfz_overviews method;
    const char *path;
    int n, factors[FACTORS];
    char *window;   /* pixels that were read */
    char *block;    /* pixels to be written */
    uint64_t *keys; /* of a square; NULL: not by MODE */
    qfz_advance_fn progress;
    void *progress_arg;
    double done, all; /* pixels read and to be read */
} overviews;

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int divide_up(int a, int b)
{
    return (int)(((int64_t)a + b - 1) / b);
}

/* ---------------------------------------------------------------------------------------- squares
 */
/* Equal bytes are equal values; for numbers that are not negative, the order is theirs. */
static uint64_t key_at(const char *pixel, int bytes)
{
    uint64_t key = 0;
    switch (bytes) {
    case 1: return *(const uint8_t *)pixel;
    case 2: {
        uint16_t value;
        memcpy(&value, pixel, sizeof value);
        return value;
    }
    case 4: {
        uint32_t value;
        memcpy(&value, pixel, sizeof value);
        return value;
    }
    default: memcpy(&key, pixel, sizeof key); return key;
    }
}

static void put_key(char *pixel, int bytes, uint64_t key)
{
    const uint8_t one = (uint8_t)key;
    const uint16_t two = (uint16_t)key;
    const uint32_t four = (uint32_t)key;
    switch (bytes) {
    case 1: memcpy(pixel, &one, sizeof one); break;
    case 2: memcpy(pixel, &two, sizeof two); break;
    case 4: memcpy(pixel, &four, sizeof four); break;
    default: memcpy(pixel, &key, sizeof key); break;
    }
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    return (i > j) - (i < j);
}

static void sort_keys(uint64_t *keys, int64_t n)
{
    if (n > FEW) {
        qsort(keys, (size_t)n, sizeof *keys, compare_keys);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        int64_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* The most frequent of n keys, of several the least; 0 if n is 0.  Sorts the keys. */
static uint64_t mode_of(uint64_t *keys, int64_t n)
{
    uint64_t mode = 0;
    int64_t most = 0;
    sort_keys(keys, n);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end] == keys[i]; end++)
            ;
        if (end - i <= most) continue;
        most = end - i;
        mode = keys[i];
    }
    return mode;
}

/* The value for a square of h x w pixels at `from` in rows of stride pixels. */
static uint64_t value_of(const overviews *o, const char *from, int h, int w, int64_t stride,
                         int bytes)
{
    int64_t n = 0;
    if (o->method == QFZ_OVERVIEWS_NEAREST) return key_at(from, bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint64_t key = key_at(from + (y * stride + x) * bytes, bytes);
            if (key != 0) o->keys[n++] = key;
        }
    return mode_of(o->keys, n);
}

/* --------------------------------------------------------------------------------------- a level
 */
/* One band of one overview. */
typedef struct level {
    GDALRasterBandH from, to;
    int factor; /* of `to` relative to `from` */
    GDALDataType type;
    int bytes;
} level;

/* Reads the squares of h x w pixels of the overview from (y, x) on, and sets these pixels in a
 * block of which `at` is the first. */
static CPLErr fill_window(const overviews *o, const level *l, int y, int x, int h, int w, char *at,
                          int block_w)
{
    const int y0 = y * l->factor, x0 = x * l->factor;
    const int rows = least(h * l->factor, GDALGetRasterBandYSize(l->from) - y0);
    const int columns = least(w * l->factor, GDALGetRasterBandXSize(l->from) - x0);
    if (GDALRasterIO(l->from, GF_Read, x0, y0, columns, rows, o->window, columns, rows, l->type, 0,
                     0) != CE_None)
        return CE_Failure;
    for (int i = 0; i < h; i++)
        for (int k = 0; k < w; k++) {
            const int top = i * l->factor, left = k * l->factor;
            const char *const square = o->window + ((int64_t)top * columns + left) * l->bytes;
            const uint64_t value = value_of(o, square, least(l->factor, rows - top),
                                            least(l->factor, columns - left), columns, l->bytes);
            put_key(at + ((int64_t)i * block_w + k) * l->bytes, l->bytes, value);
        }
    return CE_None;
}

/* Writes h x w pixels of the overview from (y, x) on. */
static CPLErr fill_block(const overviews *o, const level *l, int y, int x, int h, int w)
{
    const int step = l->factor < WINDOW ? WINDOW / l->factor : 1;
    for (int i = 0; i < h; i += step)
        for (int k = 0; k < w; k += step)
            if (fill_window(o, l, y + i, x + k, least(step, h - i), least(step, w - k),
                            o->block + ((int64_t)i * w + k) * l->bytes, w) != CE_None)
                return CE_Failure;
    return GDALRasterIO(l->to, GF_Write, x, y, w, h, o->block, w, h, l->type, 0, 0);
}

static qfz_status report(overviews *o, double pixels, qfz_error *err)
{
    o->done += pixels;
    return o->progress ? o->progress(o->progress_arg, o->done / o->all, err) : QFZ_OK;
}

static qfz_status fill_level(overviews *o, const level *l, qfz_error *err)
{
    const int h = GDALGetRasterBandYSize(l->to), w = GDALGetRasterBandXSize(l->to);
    const double scale = (double)l->factor * l->factor;
    qfz_error_trap trap;
    for (int y = 0; y < h; y += SIDE)
        for (int x = 0; x < w; x += SIDE) {
            const int rows = least(SIDE, h - y), columns = least(SIDE, w - x);
            qfz_error_trap_begin(&trap);
            const CPLErr done = fill_block(o, l, y, x, rows, columns);
            qfz_error_trap_end(&trap);
            if (done != CE_None || trap.failed)
                return qfz_error_trap_fail(&trap, err, QFZ_EIO, o->path,
                                           "its overviews could not be written");
            QFZ_TRY(report(o, scale * rows * columns, err));
        }
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- all levels
 */
static void choose_factors(overviews *o)
{
    const int w = GDALGetRasterXSize(o->dataset), h = GDALGetRasterYSize(o->dataset);
    const int most = o->method == QFZ_OVERVIEWS_MODE ? MODE_FACTOR : 1 << 30;
    for (int f = 1; divide_up(w, f) > LAST_SIDE || divide_up(h, f) > LAST_SIDE;) {
        if (f == most) break;
        f *= 2;
        o->factors[o->n++] = f;
    }
}

/* Makes overviews without pixels. */
static qfz_status make_empty(const overviews *o, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    GDALFlushCache(o->dataset);
    const CPLErr done = GDALBuildOverviews(o->dataset, "NONE", o->n, (int *)(uintptr_t)o->factors,
                                           0, NULL, GDALDummyProgress, NULL);
    qfz_error_trap_end(&trap);
    if (done == CE_None && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, o->path, "its overviews could not be created");
}

/* Pixels that will be read for one band. */
static double pixels_of(const overviews *o)
{
    const double all =
        (double)GDALGetRasterXSize(o->dataset) * (double)GDALGetRasterYSize(o->dataset);
    return o->method == QFZ_OVERVIEWS_MODE ? all * o->n : all * 4 / 3;
}

static qfz_status make_room(overviews *o, qfz_error *err)
{
    int bytes = 1, factor = 2;
    for (int b = 1; b <= GDALGetRasterCount(o->dataset); b++) {
        const GDALDataType type = GDALGetRasterDataType(GDALGetRasterBand(o->dataset, b));
        if (GDALGetDataTypeSizeBytes(type) > bytes) bytes = GDALGetDataTypeSizeBytes(type);
    }
    if (o->method == QFZ_OVERVIEWS_MODE) factor = o->factors[o->n - 1];
    const int side = factor > WINDOW ? factor : WINDOW;
    QFZ_TRY(qfz_alloc((void **)&o->window, (int64_t)side * side, (size_t)bytes, err));
    QFZ_TRY(qfz_alloc((void **)&o->block, SIDE * SIDE, (size_t)bytes, err));
    if (o->method != QFZ_OVERVIEWS_MODE) return QFZ_OK;
    return QFZ_NEW(&o->keys, (int64_t)factor * factor, err);
}

static bool has_own_mask(GDALRasterBandH band)
{
    return (GDALGetMaskFlags(band) & (GMF_PER_DATASET | GMF_ALPHA | GMF_NODATA)) == GMF_PER_DATASET;
}

/* The overview of that number, from 0; -1: the band itself. */
static GDALRasterBandH at_level(GDALRasterBandH band, int i, bool of_mask)
{
    const GDALRasterBandH found = i < 0 ? band : GDALGetOverview(band, i);
    return of_mask && found ? GDALGetMaskBand(found) : found;
}

static qfz_status fill_band(overviews *o, GDALRasterBandH band, bool of_mask, qfz_error *err)
{
    for (int i = 0; i < o->n; i++) {
        const bool from_first = o->method == QFZ_OVERVIEWS_MODE;
        level l = {.from = at_level(band, from_first ? -1 : i - 1, of_mask),
                   .to = at_level(band, i, of_mask),
                   .factor = from_first ? o->factors[i] : 2};
        if (!l.to)
            return qfz_fail(err, QFZ_EIO, "%s: GDAL made no overview of factor %d", o->path,
                            o->factors[i]);
        l.type = GDALGetRasterDataType(l.from);
        l.bytes = GDALGetDataTypeSizeBytes(l.type);
        QFZ_TRY(fill_level(o, &l, err));
    }
    return QFZ_OK;
}

qfz_status qfz_overviews_build(GDALDatasetH dataset, qfz_overviews method, const char *path,
                               qfz_advance_fn progress, void *arg, qfz_error *err)
{
    overviews o = {.dataset = dataset,
                   .method = method,
                   .path = path,
                   .progress = progress,
                   .progress_arg = arg};
    const int n_bands = GDALGetRasterCount(dataset);
    const bool has_mask = has_own_mask(GDALGetRasterBand(dataset, 1));
    qfz_status st;
    choose_factors(&o);
    if (method == QFZ_OVERVIEWS_NONE || o.n == 0) return QFZ_OK;
    o.all = pixels_of(&o) * (n_bands + (has_mask ? 1 : 0));
    QFZ_TRY_OR(st, cleanup, make_room(&o, err));
    QFZ_TRY_OR(st, cleanup, make_empty(&o, err));
    for (int b = 1; b <= n_bands; b++)
        QFZ_TRY_OR(st, cleanup, fill_band(&o, GDALGetRasterBand(dataset, b), false, err));
    st = has_mask ? fill_band(&o, GDALGetRasterBand(dataset, 1), true, err) : QFZ_OK;

cleanup:
    free(o.window);
    free(o.block);
    free(o.keys);
    return st;
}
