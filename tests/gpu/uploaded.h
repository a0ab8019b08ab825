/* SPDX-License-Identifier: MIT */
/* uploaded.h - uploads an image to device memory; first pixels of regions from labels. */
#ifndef QFZ_TEST_UPLOADED_H
#define QFZ_TEST_UPLOADED_H

#include "device_test.h"
#include "gpu/device/image.cuh"

typedef struct uploaded {
    qfz_gpu_image image;
    char *d_pixels;
    uint8_t *d_valid; /* NULL if the image has no validity */
    float *d_weights; /* NULL if there are none */
} uploaded;

static inline uploaded upload(const qfz_image *image)
{
    const int64_t n_px = image->h * image->w;
    const int64_t bytes = n_px * image->n_bands * (int64_t)qfz_type_bytes(image->type);
    uploaded up = {};
    up.d_pixels = to_device(static_cast<const char *>(image->pixels), bytes);
    if (image->valid) up.d_valid = to_device(image->valid, n_px);
    up.image.h = (int32_t)image->h;
    up.image.w = (int32_t)image->w;
    up.image.n_bands = image->n_bands;
    up.image.type = image->type;
    up.image.d_pixels = up.d_pixels;
    up.image.d_valid = up.d_valid;
    return up;
}

static inline void upload_weights(uploaded *up, const float *weights)
{
    cudaFree(up->d_weights);
    up->d_weights = weights ? to_device(weights, up->image.n_bands) : NULL;
    up->image.d_weights = up->d_weights;
}

/* Sets the invalid pixels of one band of floats to NaN, and removes the mask. */
static inline qfz_status upload_nan(qfz_gpu *gpu, uploaded *up)
{
    const int64_t n_px = (int64_t)up->image.h * up->image.w;
    up->image.d_valid = NULL;
    return qfz_gpu_make_nan(gpu, up->d_valid, n_px, reinterpret_cast<float *>(up->d_pixels));
}

static inline void upload_free(uploaded *up)
{
    cudaFree(up->d_pixels);
    cudaFree(up->d_valid);
    cudaFree(up->d_weights);
}

/* Replaces labels 1, 2, 3 ... in order of first pixels by first pixels, and 0 by QFZ_NONE. */
static inline void roots_of_labels(std::vector<uint32_t> *labels)
{
    std::vector<uint32_t> first(1, QFZ_NONE);
    for (size_t i = 0; i < labels->size(); i++) {
        uint32_t &label = (*labels)[i];
        if (label == first.size()) first.push_back((uint32_t)i);
        label = first[label];
    }
}

#endif
