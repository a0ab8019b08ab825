/* SPDX-License-Identifier: MIT */
/* none.c - images of raster files in a build without GDAL: reading fails with QFZ_EARG. */
#include <stdlib.h>

#include "core/status.h"

qfz_status qfz_image_read(const char *src, const int *bands, int n_bands, qfz_image *image,
                          qfz_error *err)
{
    (void)bands;
    (void)n_bands;
    (void)image;
    err->status = QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%.400s: this build of qfz has no GDAL and reads no raster files", src);
}

void qfz_image_free(qfz_image *image)
{
    free((void *)(uintptr_t)image->pixels);
    free((void *)(uintptr_t)image->valid);
    *image = (qfz_image){0};
}
