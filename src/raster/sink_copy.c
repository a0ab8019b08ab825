/* SPDX-License-Identifier: MIT */
/* sink_copy.c - formats that are made of a finished GTiff.  Not all of them keep every value of a
 * type that they take, whatever GDAL says of it; so what came out is read back. */
#include "raster/sink.h"

#include "core/memory.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>

enum { SIDE = 512 }; /* of what is compared at once: a block of the GTiff */

/* Whoever is told how far it is. */
typedef struct hearer {
    const qfz_sink *sink;
    double from, share; /* of the whole */
    qfz_status st;      /* what was answered */
    qfz_error *err;
} hearer;

/* As GDAL's progress functions: is it to go on? */
static int CPL_STDCALL tell(double part, const char *message, void *arg)
{
    hearer *const h = arg;
    (void)message;
    if (h->st == QFZ_OK && h->sink->told)
        h->st = h->sink->told(h->sink->told_arg, h->from + h->share * part, h->err);
    return h->st == QFZ_OK;
}

static bool are_equal(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i] && (a[i] == a[i] || b[i] == b[i])) return false;
    return true;
}

/* Do two bands have the same pixels in a box?  Not so if one cannot be read: trap tells. */
static bool are_equal_in(GDALRasterBandH a, GDALRasterBandH b, qfz_box box, double *pixels)
{
    const GDALRasterBandH bands[] = {a, b};
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    for (int i = 0; i < 2; i++)
        if (GDALRasterIOEx(bands[i], GF_Read, (int)box.x0, (int)box.y0, w, h,
                           pixels + i * SIDE * SIDE, w, h, GDT_Float64, 0, 0, NULL) != CE_None)
            return false;
    return are_equal(pixels, pixels + SIDE * SIDE, (int64_t)h * w);
}

/* False, too, where it is not to go on. */
static bool are_equal_bands(GDALRasterBandH a, GDALRasterBandH b, double *pixels, hearer *to)
{
    const int h = GDALGetRasterBandYSize(a), w = GDALGetRasterBandXSize(a);
    qfz_box box = {0};
    if (GDALGetRasterBandYSize(b) != h || GDALGetRasterBandXSize(b) != w) return false;
    for (; box.y0 < h; box.y0 = box.y1) {
        box.y1 = box.y0 + SIDE < h ? box.y0 + SIDE : h;
        for (box.x0 = 0; box.x0 < w; box.x0 = box.x1) {
            box.x1 = box.x0 + SIDE < w ? box.x0 + SIDE : w;
            if (!are_equal_in(a, b, box, pixels)) return false;
        }
        if (!tell((double)box.y1 / h, NULL, to)) return false;
    }
    return true;
}

/* The second half of the work. */
static qfz_status compare(hearer *to, GDALDatasetH work, qfz_error *err)
{
    const qfz_sink *const sink = to->sink;
    const int n_bands = sink->spec.n_bands;
    double *pixels = NULL;
    qfz_trap trap;
    QFZ_TRY(QFZ_NEW(&pixels, 2 * SIDE * SIDE, err));
    qfz_trap_begin(&trap);
    const GDALDatasetH copy =
        GDALOpenEx(sink->temp, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    bool same = copy && GDALGetRasterCount(copy) >= n_bands;
    for (int b = 1; b <= n_bands && same; b++) {
        to->share = 0.5 / n_bands;
        to->from = 0.5 + to->share * (b - 1);
        same = are_equal_bands(GDALGetRasterBand(work, b), GDALGetRasterBand(copy, b), pixels, to);
    }
    if (copy) GDALClose(copy);
    qfz_trap_end(&trap);
    free(pixels);
    if (same || to->st != QFZ_OK) return to->st;
    return qfz_trap_fail(&trap, err, QFZ_EIO, sink->path,
                         "the format did not keep the values; write a GTiff");
}

/* A painted JPEG is for the eye, and COG is a GTiff. */
static bool is_compared(const qfz_sink *sink)
{
    const char *const name = GDALGetDriverShortName(sink->format.driver);
    return !EQUAL(name, "COG") && !EQUAL(name, "JPEG");
}

/* GDAL up to 3.6 at least deletes no file of a file system that was added (/vsiqfz/), and
 * would leave COG's overviews of its own beside the output. */
static void delete_scratch(const qfz_sink *sink)
{
    static const char *const kinds[] = {".ovr.tmp", ".msk.ovr.tmp", ".warped.tif.tmp"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        (void)VSIUnlink(CPLSPrintf("%s%s", sink->temp, kinds[i]));
}

qfz_status qfz_sink_copy(const qfz_sink *sink, const char *name, qfz_error *err)
{
    hearer to = {.sink = sink, .share = is_compared(sink) ? 0.5 : 1, .err = err};
    GDALDatasetH copy = NULL;
    qfz_trap trap;
    qfz_trap_begin(&trap);
    const GDALDatasetH work =
        GDALOpenEx(sink->work, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (work)
        copy =
            GDALCreateCopy(sink->format.driver, name, work, TRUE, sink->format.options, tell, &to);
    if (copy) GDALClose(copy);
    delete_scratch(sink);
    qfz_trap_end(&trap);
    qfz_status st = to.st;
    if (st == QFZ_OK && (!copy || trap.failed))
        st = qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "the format could not be written");
    else if (st == QFZ_OK && is_compared(sink))
        st = compare(&to, work, err);
    if (work) GDALClose(work);
    return st;
}
