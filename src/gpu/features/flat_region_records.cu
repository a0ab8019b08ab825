/* SPDX-License-Identifier: MIT */
/* flat_region_records.cu - records (core/record.h) from flat regions (flat_regions.cuh): everything
 * that follows from a region's first pixel and its number of pixels. */
#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"
#include "gpu/features/flat_regions.cuh"
#include "core/record.h"

enum { THREADS = 256, BAND_WORDS = 6 };

/* The sums, least and greatest value of a band, of n pixels with the same value. */
template <typename T> static QFZ_DEVICE void make_band(uint64_t n, T value, uint64_t *band)
{
    const int64_t wide = (int64_t)value, sum = (int64_t)n * wide;
    const uint64_t square = (uint64_t)wide * (uint64_t)wide;
    band[0] = (uint64_t)sum;
    band[1] = sum < 0 ? UINT64_MAX : 0;
    band[2] = n * square;
    band[3] = 0;
    if (sizeof(T) == 4) { /* the high word of n * square; n < 2^32 */
        const uint64_t low = n * (square & UINT32_MAX);
        band[3] = (n * (square >> 32) + (low >> 32)) >> 32;
    }
    band[4] = band[5] = (uint64_t)__double_as_longlong((double)value);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_make_records(const qfz_gpu_flat_region *__restrict__ flats,
                   const uint32_t *__restrict__ first_px, const T *__restrict__ planes,
                   int64_t n_px, int32_t w, qfz_box box, uint64_t area, uint32_t n, int n_bands,
                   int record_words, uint64_t *__restrict__ records)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const qfz_gpu_flat_region flat = flats[i];
        const uint32_t first = first_px[i];
        const uint64_t pixels = flat.pixels;
        qfz_record *const record =
            reinterpret_cast<qfz_record *>(records + (int64_t)i * record_words);
        record->label = 0;
        record->pixels = pixels;
        record->sum_y = flat.sum_y + pixels * (uint64_t)box.y0;
        record->sum_x = flat.sum_x + pixels * (uint64_t)box.x0;
        record->y0 = box.y0 + first / (uint32_t)w;
        record->x0 = box.x0 + (UINT32_MAX - flat.x0_below_max);
        record->y1 = box.y0 + flat.y1;
        record->x1 = box.x0 + flat.x1;
        record->area[0] = pixels * area;
        record->area[1] = 0;
        for (int b = 0; b < n_bands; b++)
            make_band(pixels, __ldg(planes + (int64_t)b * n_px + first),
                      record->bands + b * BAND_WORDS);
    }
}

qfz_status qfz_gpu_flat_regions_records(qfz_gpu *gpu, const qfz_gpu_image *image,
                                        const qfz_gpu_regions *regions, qfz_box box, uint64_t area,
                                        const qfz_gpu_flat_region *d_flats, uint32_t first_region,
                                        uint32_t n, uint64_t *d_records)
{
    return qfz_with_integer(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        return qfz_launch(gpu, k_make_records<T>, qfz_launch_grid(gpu, n, THREADS, 32),
                          dim3(THREADS), 0, d_flats, regions->d_first + first_region,
                          static_cast<const T *>(image->d_pixels), (int64_t)image->h * image->w,
                          image->w, box, area, n, image->n_bands,
                          qfz_record_words(image->type, image->n_bands), d_records);
    });
}
