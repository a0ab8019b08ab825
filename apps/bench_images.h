/* SPDX-License-Identifier: MIT */
/* bench_images.h - images to measure with: read or generated, mirrored to a size.
 *
 * A generated one is a function of the request alone, the same on every machine. */
#ifndef BENCH_IMAGES_H
#define BENCH_IMAGES_H

#include "options.h"

typedef struct bench_image {
    qfz_image image;
    bool is_read; /* by the library, which then owns the memory */
} bench_image;

/* Fills an image that is all zero, as the request says; on failure it still is.  src: the file,
 * unless the request has a kind. */
QFZ_CHECKED qfz_status bench_image_open(bench_image *image, const request *request, const char *src,
                                        qfz_error *err);
void bench_image_close(bench_image *image);

/* Bits of a value. */
int bench_image_bits(const bench_image *image);

/* bench_generate.c: pixels of request.bench, band after band; NULL: out of memory. */
void *bench_generate(const bench_request *bench);

#endif
