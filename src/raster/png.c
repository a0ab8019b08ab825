/* SPDX-License-Identifier: MIT */
#include "raster/png.h"

#include <gdal.h>
#include <stdlib.h>

#include "raster/error_trap.h"
#include "raster/paths.h"
#include "raster/temp_output.h"

enum { RGB = 3 };

/* False if a call of GDAL fails; the caller's trap has the reason. */
static bool write_file(const char *path, const uint8_t *rgb, int w, int h)
{
    const GDALDriverH memory = GDALGetDriverByName("MEM"), png = GDALGetDriverByName("PNG");
    if (!memory || !png) return false;
    const GDALDatasetH image = GDALCreate(memory, "", w, h, RGB, GDT_Byte, NULL);
    if (!image) return false;
    uint8_t *const pixels = (uint8_t *)(uintptr_t)rgb; /* GDAL reads them only */
    bool ok = GDALDatasetRasterIOEx(image, GF_Write, 0, 0, w, h, pixels, w, h, GDT_Byte, RGB, NULL,
                                    RGB, (GSpacing)w * RGB, 1, NULL) == CE_None;
    const GDALDatasetH file = ok ? GDALCreateCopy(png, path, image, FALSE, NULL, NULL, NULL) : NULL;
    ok = file != NULL;
    if (file) GDALClose(file);
    GDALClose(image);
    return ok;
}

static qfz_status place(const char *temp, const char *path, bool overwrite, qfz_error *err)
{
    qfz_placement placement = {0};
    QFZ_TRY(qfz_temp_place(temp, path, overwrite, &placement, err));
    qfz_placement_settle(&placement);
    return QFZ_OK;
}

static qfz_status write_new(const char *temp, const char *path, const uint8_t *rgb, int w, int h,
                            bool overwrite, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_temp_reserve(temp, path, err));
    qfz_error_trap_begin(&trap);
    const bool ok = write_file(temp, rgb, w, h);
    qfz_error_trap_end(&trap);
    if (ok && !trap.failed) return place(temp, path, overwrite, err);
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, path, "GDAL has no driver that writes PNG");
}

qfz_status qfz_png_write(const char *path, const uint8_t *rgb, int w, int h, bool overwrite,
                         qfz_error *err)
{
    char *temp = NULL;
    GDALAllRegister();
    QFZ_TRY(qfz_path_check_replaceable(path, err));
    if (!overwrite && qfz_path_exists(path))
        return qfz_fail(err, QFZ_EARG, "%s: already exists; use --overwrite", path);
    QFZ_TRY(qfz_temp_name(&temp, path, "tmp", NULL, err));
    const qfz_status st = write_new(temp, path, rgb, w, h, overwrite, err);
    if (st != QFZ_OK) qfz_temp_delete(temp);
    free(temp);
    return st;
}
