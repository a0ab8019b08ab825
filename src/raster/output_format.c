/* SPDX-License-Identifier: MIT */
#include "raster/output_format.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal.h>

#include "raster/driver.h"

bool qfz_output_is_vrt(const char *format, const char *path)
{
    return format ? EQUAL(format, "VRT") : EQUAL(CPLGetExtension(path), "vrt");
}

qfz_status qfz_output_format(const char *format, const char *path, const char **name,
                             qfz_error *err)
{
    GDALDriverH driver;
    *name = format;
    if (format) return QFZ_OK;
    if (qfz_output_is_vrt(format, path)) {
        *name = "VRT";
        return QFZ_OK;
    }
    QFZ_TRY(qfz_driver_find(&driver, path, false, err));
    *name = GDALGetDriverShortName(driver);
    return QFZ_OK;
}

bool qfz_output_is_copied(const char *format, const char *path)
{
    const char *name;
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_output_format(format, path, &name, &ignored) != QFZ_OK) return false;
    const GDALDriverH driver = GDALGetDriverByName(name);
    return driver && !qfz_driver_can(driver, GDAL_DCAP_CREATE);
}
