/* SPDX-License-Identifier: MIT */
/* sink_copy.c - formats that are copied from a finished GTiff.  Some of them do not keep every
 * value of a type, whatever GDAL reports, so the copy is read back and compared. */
#include "raster/sink_copy.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"

enum { SIDE = 512 }; /* of the square that is compared at once: a block of the GTiff */

/* Progress of one half of the work, or of all of it. */
typedef struct progress {
    qfz_sink *sink;
    double from, share; /* of the whole work */
    qfz_status st;      /* of the last report */
    qfz_error *err;
} progress;

static double share_of_end(const progress *h, double share)
{
    const double before = h->sink->copy_from;
    return before + (1 - before) * (h->from + h->share * share);
}

/* A progress function of GDAL: 0 ends the work. */
static int CPL_STDCALL report(double share, const char *message, void *arg)
{
    progress *const h = arg;
    (void)message;
    if (h->st == QFZ_OK && h->sink->progress)
        h->st = h->sink->progress(h->sink->progress_arg, share_of_end(h, share), h->err);
    return h->st == QFZ_OK;
}

static bool are_equal(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i] && (a[i] == a[i] || b[i] == b[i])) return false;
    return true;
}

/* True if two bands have the same pixels in a box.  False if a read fails; the caller's trap has
 * the error. */
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

/* False also if the progress function ends the work. */
static bool are_equal_bands(GDALRasterBandH a, GDALRasterBandH b, double *pixels, progress *to)
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
        if (!report((double)box.y1 / h, NULL, to)) return false;
    }
    return true;
}

/* Compares the copy with the GTiff: the second half of the work. */
static qfz_status compare(progress *to, GDALDatasetH work, qfz_error *err)
{
    const qfz_sink *const sink = to->sink;
    const int n_bands = sink->spec.n_bands;
    double *pixels = NULL;
    qfz_error_trap trap;
    QFZ_TRY(QFZ_NEW(&pixels, 2 * SIDE * SIDE, err));
    qfz_error_trap_begin(&trap);
    const GDALDatasetH copy =
        GDALOpenEx(sink->temp, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    bool same = copy && GDALGetRasterCount(copy) >= n_bands;
    for (int b = 1; b <= n_bands && same; b++) {
        to->share = 0.5 / n_bands;
        to->from = 0.5 + to->share * (b - 1);
        same = are_equal_bands(GDALGetRasterBand(work, b), GDALGetRasterBand(copy, b), pixels, to);
    }
    if (copy) GDALClose(copy);
    qfz_error_trap_end(&trap);
    free(pixels);
    if (same || to->st != QFZ_OK) return to->st;
    to->sink->differs = true;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path,
                               "the format did not keep the values; write a GTiff");
}

/* A COG is a GTiff. */
static bool is_compared(const qfz_sink *sink)
{
    return !EQUAL(GDALGetDriverShortName(sink->format.driver), "COG");
}

/* Temporary overviews of the COG driver.  GDAL up to 3.6, at least, deletes no files of an added
 * file system (/vsiqfz/) and would leave them beside the output. */
static void delete_scratch(const qfz_sink *sink)
{
    static const char *const kinds[] = {".ovr.tmp", ".msk.ovr.tmp", ".warped.tif.tmp"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        (void)VSIUnlink(CPLSPrintf("%s%s", sink->temp, kinds[i]));
}

qfz_status qfz_sink_copy(qfz_sink *sink, const char *name, qfz_error *err)
{
    progress to = {.sink = sink, .share = is_compared(sink) ? 0.5 : 1, .err = err};
    GDALDatasetH copy = NULL;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const GDALDatasetH work =
        GDALOpenEx(sink->work, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (work)
        copy = GDALCreateCopy(sink->format.driver, name, work, TRUE, sink->format.options, report,
                              &to);
    if (copy) GDALClose(copy);
    delete_scratch(sink);
    qfz_error_trap_end(&trap);
    qfz_status st = to.st;
    if (st == QFZ_OK && (!copy || trap.failed))
        st =
            qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "the format could not be written");
    else if (st == QFZ_OK && is_compared(sink))
        st = compare(&to, work, err);
    if (work) GDALClose(work);
    return st;
}
