/* SPDX-License-Identifier: MIT */
#include "bench_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qfz_bench.h"

static size_t type_bytes(qfz_type type)
{
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 4};
    return bytes[type];
}

int bench_image_bits(const bench_image *image)
{
    return 8 * (int)type_bytes(image->image.type);
}

static qfz_status no_memory(qfz_error *err)
{
    err->status = QFZ_ENOMEM;
    (void)snprintf(err->message, sizeof err->message, "the image does not fit the memory");
    return QFZ_ENOMEM;
}

void bench_image_close(bench_image *image)
{
    if (image->is_read) {
        qfz_bench_image_free(&image->image);
    } else {
        free((void *)(uintptr_t)image->image.pixels);
        free((void *)(uintptr_t)image->image.valid);
    }
    *image = (bench_image){0};
}

/* ---------------------------------------------------------------------------------------- mirror
 */

/* x of an endless row that goes forth and back along n pixels. */
static int64_t reflect(int64_t x, int64_t n)
{
    x %= 2 * n;
    return x < n ? x : 2 * n - 1 - x;
}

/* One plane of h x w elements into one of size x size. */
static void mirror_plane(const char *from, int64_t h, int64_t w, size_t bytes, int64_t size,
                         char *to)
{
    for (int64_t y = 0; y < size; y++) {
        const char *const row = from + (size_t)(reflect(y, h) * w) * bytes;
        for (int64_t x = 0; x < size; x++, to += bytes)
            memcpy(to, row + (size_t)reflect(x, w) * bytes, bytes);
    }
}

static qfz_status mirror(bench_image *image, int64_t size, qfz_error *err)
{
    const qfz_image *const old = &image->image;
    const size_t bytes = type_bytes(old->type), n = (size_t)(size * size);
    char *const pixels = malloc(n * bytes * (size_t)old->n_bands);
    char *const valid = old->valid ? malloc(n) : NULL;
    if (!pixels || (old->valid && !valid)) {
        free(pixels);
        free(valid);
        return no_memory(err);
    }
    for (int b = 0; b < old->n_bands; b++)
        mirror_plane((const char *)old->pixels + (size_t)(b * old->h * old->w) * bytes, old->h,
                     old->w, bytes, size, pixels + (size_t)b * n * bytes);
    if (valid) mirror_plane((const char *)old->valid, old->h, old->w, 1, size, valid);
    const qfz_image mirrored = {.struct_size = sizeof(qfz_image),
                                .h = size,
                                .w = size,
                                .n_bands = old->n_bands,
                                .type = old->type,
                                .pixels = pixels,
                                .valid = (const uint8_t *)valid};
    bench_image_close(image);
    *image = (bench_image){.image = mirrored};
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------------ open
 */
static qfz_status generate(bench_image *image, const bench_request *bench, qfz_error *err)
{
    void *const pixels = bench_generate(bench);
    const int bits = bench->bits;
    if (!pixels) return no_memory(err);
    image->image = (qfz_image){.struct_size = sizeof(qfz_image),
                               .h = bench->size_px,
                               .w = bench->size_px,
                               .n_bands = bench->bands,
                               .type = bits == 8    ? QFZ_U8
                                       : bits == 16 ? QFZ_U16
                                                    : QFZ_F32,
                               .pixels = pixels};
    return QFZ_OK;
}

qfz_status bench_image_open(bench_image *image, const request *r, const char *src, qfz_error *err)
{
    bench_image opened = {0};
    qfz_status st;
    if (r->bench.kind) {
        st = generate(&opened, &r->bench, err);
    } else {
        opened.is_read = true;
        st = qfz_bench_image_read(src, r->job.bands, r->job.n_bands, &opened.image, err);
    }
    if (st != QFZ_OK) return st;
    if (r->bench.mirror_px) st = mirror(&opened, r->bench.mirror_px, err);
    if (st != QFZ_OK)
        bench_image_close(&opened);
    else
        *image = opened;
    return st;
}
