/* SPDX-License-Identifier: MIT */
/* none.c - images of raster files in a build without GDAL: reading fails with QFZ_EARG. */
#include <stdlib.h>

#include "qfz_bench.h"

#include "core/api.h"

qfz_status qfz_bench_image_read(const char *src, const int *bands, int n_bands, qfz_image *image,
                                qfz_error *err)
{
    (void)bands;
    (void)n_bands;
    (void)image;
    qfz_error own;
    return qfz_fail(qfz_api_error(err, &own), QFZ_EARG,
                    "%.400s: this build of qfz has no GDAL and reads no raster files", src);
}

void qfz_bench_image_free(qfz_image *image)
{
    free((void *)(uintptr_t)image->pixels);
    free((void *)(uintptr_t)image->valid);
    *image = (qfz_image){0};
}
