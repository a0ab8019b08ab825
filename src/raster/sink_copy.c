/* SPDX-License-Identifier: MIT */
/* sink_copy.c - formats that are made of a finished GTiff.  Not all of them keep every value of a
 * type that they take, whatever GDAL says of it; so what came out is read back. */
#include "raster/sink.h"

#include "memory.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>

enum { SIDE = 512 }; /* of what is compared at once: a block of the GTiff */

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

static bool are_equal_bands(GDALRasterBandH a, GDALRasterBandH b, double *pixels)
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
    }
    return true;
}

static qfz_status compare(const qfz_sink *sink, GDALDatasetH work, qfz_error *err)
{
    const int n_bands = sink->spec.n_bands;
    double *pixels = NULL;
    qfz_trap trap;
    QFZ_TRY(QFZ_NEW(&pixels, 2 * SIDE * SIDE, err));
    qfz_trap_begin(&trap);
    const GDALDatasetH copy =
        GDALOpenEx(sink->temp, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    bool same = copy && GDALGetRasterCount(copy) >= n_bands;
    for (int b = 1; b <= n_bands && same; b++)
        same = are_equal_bands(GDALGetRasterBand(work, b), GDALGetRasterBand(copy, b), pixels);
    if (copy) GDALClose(copy);
    qfz_trap_end(&trap);
    free(pixels);
    if (same) return QFZ_OK;
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
    GDALDatasetH copy = NULL;
    qfz_trap trap;
    qfz_trap_begin(&trap);
    const GDALDatasetH work =
        GDALOpenEx(sink->work, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (work)
        copy =
            GDALCreateCopy(sink->format.driver, name, work, TRUE, sink->format.options, NULL, NULL);
    if (copy) GDALClose(copy);
    delete_scratch(sink);
    qfz_trap_end(&trap);
    qfz_status st = QFZ_OK;
    if (!copy || trap.failed)
        st = qfz_trap_fail(&trap, err, QFZ_EIO, sink->path, "the format could not be written");
    else if (is_compared(sink))
        st = compare(sink, work, err);
    if (work) GDALClose(work);
    return st;
}
