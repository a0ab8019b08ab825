/* SPDX-License-Identifier: MIT */
/* image.c - reads a whole raster into memory. */
#include "qfz_bench.h"

#include <stdlib.h>

#include "core/api.h"
#include "core/memory.h"
#include "raster/gdal_setup.h"
#include "raster/source_read.h"

enum { CACHE_BYTES = 512 << 20 };

qfz_status qfz_bench_image_read(const char *src, const int *bands, int n_bands, qfz_image *image,
                                qfz_error *err)
{
    qfz_error own;
    const qfz_source_options options = {
        .name = src, .bands = bands, .n_bands = n_bands, .retry = qfz_retry_default};
    qfz_source *source = NULL;
    void *pixels = NULL;
    uint8_t *valid = NULL;
    qfz_status st;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_raster_setup(NULL, CACHE_BYTES, err));
    QFZ_TRY_OR(st, cleanup, qfz_source_open(&source, &options, err));
    const qfz_source_info *const info = qfz_source_get_info(source);
    const qfz_box all = {.y1 = info->h, .x1 = info->w};
    QFZ_TRY_OR(
        st, cleanup,
        qfz_alloc(&pixels, info->h * info->w * info->n_bands, qfz_type_bytes(info->type), err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&valid, info->h * info->w, err));
    QFZ_TRY_OR(st, cleanup, qfz_source_read(source, all, pixels, valid, err));
    *image = (qfz_image){.struct_size = sizeof *image,
                         .h = info->h,
                         .w = info->w,
                         .n_bands = info->n_bands,
                         .type = info->type,
                         .pixels = pixels,
                         .valid = valid};
    pixels = NULL;
    valid = NULL;

cleanup:
    free(pixels);
    free(valid);
    qfz_source_close(source);
    return st;
}

void qfz_bench_image_free(qfz_image *image)
{
    free((void *)(uintptr_t)image->pixels);
    free((void *)(uintptr_t)image->valid);
    *image = (qfz_image){0};
}
