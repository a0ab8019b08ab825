/* SPDX-License-Identifier: MIT */
#include "raster/png.h"

#include <gdal.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/network.h"
#include "raster/paths.h"
#include "raster/temp_output.h"
#include "raster/text.h"

enum { RGB = 3 };

/* Three bands that are the pixels themselves: no copy of them. */
static bool add_bands(GDALDatasetH image, const uint8_t *rgb, int w)
{
    for (int band = 0; band < RGB; band++) {
        char address[64], line[64];
        char *options[] = {address, "PIXELOFFSET=3", line, NULL};
        const int n =
            snprintf(address, sizeof address, "DATAPOINTER=%" PRIuPTR, (uintptr_t)(rgb + band));
        (void)snprintf(line, sizeof line, "LINEOFFSET=%d", w * RGB);
        if (n < 0 || GDALAddBand(image, GDT_Byte, options) != CE_None) return false;
    }
    return true;
}

/* False if a call of GDAL fails; the caller's trap has the reason. */
static bool write_file(const char *path, const uint8_t *rgb, int w, int h)
{
    const GDALDriverH memory = GDALGetDriverByName("MEM"), png = GDALGetDriverByName("PNG");
    if (!memory || !png) return false;
    const GDALDatasetH image = GDALCreate(memory, "", w, h, 0, GDT_Byte, NULL);
    if (!image) return false;
    bool ok = add_bands(image, rgb, w);
    const GDALDatasetH file = ok ? GDALCreateCopy(png, path, image, FALSE, NULL, NULL, NULL) : NULL;
    ok = file != NULL;
    if (file) GDALClose(file);
    GDALClose(image);
    return ok;
}

struct qfz_png {
    char *path, *temp;
    bool overwrite, is_committed;
    qfz_placement placement;
};

static qfz_status create(qfz_png *png, const char *path, const uint8_t *rgb, int w, int h,
                         const qfz_output_options *options, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_text_copy(&png->path, path, err));
    QFZ_TRY(qfz_temp_name(&png->temp, path, "tmp", NULL, options->stage, err));
    QFZ_TRY(qfz_temp_reserve(png->temp, path, err));
    qfz_error_trap_begin(&trap);
    const bool ok = write_file(png->temp, rgb, w, h);
    qfz_error_trap_end(&trap);
    if (ok && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, path, "GDAL has no driver that writes PNG");
}

qfz_status qfz_png_create(qfz_png **png, const char *path, const uint8_t *rgb, int w, int h,
                          const qfz_output_options *options, qfz_error *err)
{
    qfz_png *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->overwrite = options->overwrite;
    made->placement.retry = options->retry;
    const qfz_status st = create(made, path, rgb, w, h, options, err);
    if (st == QFZ_OK)
        *png = made;
    else
        qfz_png_close(made);
    return st;
}

qfz_status qfz_png_place(qfz_png *png, qfz_error *err)
{
    return qfz_temp_place(png->temp, png->path, png->overwrite, &png->placement, err);
}

qfz_status qfz_png_commit(qfz_png *png, qfz_error *err)
{
    QFZ_TRY(qfz_placement_settle(&png->placement, err));
    png->is_committed = true;
    return QFZ_OK;
}

void qfz_png_close(qfz_png *png)
{
    if (!png) return;
    if (!png->is_committed) {
        qfz_placement_take_back(&png->placement);
        qfz_temp_delete(png->temp);
    }
    free(png->temp);
    free(png->path);
    free(png);
}

qfz_status qfz_png_write(const char *path, const uint8_t *rgb, int w, int h, bool overwrite,
                         qfz_error *err)
{
    qfz_png *png = NULL;
    const qfz_output_options options = {.overwrite = overwrite};
    GDALAllRegister();
    if (qfz_network_is(path))
        return qfz_fail(err, QFZ_EARG, "%s: name a local file, and copy it", path);
    QFZ_TRY(qfz_path_check_replaceable(path, err));
    if (!overwrite && qfz_path_exists(path))
        return qfz_fail(err, QFZ_EARG, "%s: already exists; use --overwrite", path);
    QFZ_TRY(qfz_png_create(&png, path, rgb, w, h, &options, err));
    qfz_status st = qfz_png_place(png, err);
    if (st == QFZ_OK) st = qfz_png_commit(png, err);
    qfz_png_close(png);
    return st;
}
