/* SPDX-License-Identifier: MIT */
#include "gpu/features/means.cuh"

#include "core/exact_value.h"
#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"

enum { BLOCK = 256 };

/* Rounds to nearest, halves up. One word holds the sum of a tile of at most 2^29 pixels. */
template <typename T> static QFZ_DEVICE T mean_of(const uint64_t *sum, uint32_t pixels)
{
    const int64_t n = 2 * (int64_t)pixels, doubled = 2 * (int64_t)sum[0] + (int64_t)pixels;
    const int64_t quotient = doubled / n;
    return (T)(doubled % n < 0 ? quotient - 1 : quotient);
}

template <> QFZ_DEVICE float mean_of<float>(const uint64_t *sum, uint32_t pixels)
{
    return qfz_single_mean(sum, pixels);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The sums in device memory are those of n regions from `first` on. */

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    k_divide(const uint64_t *__restrict__ sums, const uint32_t *__restrict__ count, uint32_t first,
             uint32_t n, int words, T *__restrict__ means)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x, r = first + i;
    if (i < n) means[r] = mean_of<T>(sums + i * words, count[r]);
}

template <typename T>
static __global__ void k_place_border_means(const uint32_t *__restrict__ border_region_of,
                                            uint32_t n_border_regions, uint32_t first, uint32_t n,
                                            const T *__restrict__ border_mean,
                                            T *__restrict__ means)
{
    const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
    if (s < n_border_regions && border_region_of[s] - first < n)
        means[border_region_of[s]] = border_mean[s];
}

static __global__ void k_take_border_sums(const uint32_t *__restrict__ border_region_of,
                                          int64_t n_words, uint32_t first, uint32_t n, int words,
                                          const uint64_t *__restrict__ sums,
                                          uint64_t *__restrict__ out)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    const uint32_t region = i < n_words ? border_region_of[i / words] - first : n;
    if (region < n) out[i] = sums[(int64_t)region * words + i % words];
}

/* ---- Launches -------------------------------------------------------------------------------- */

qfz_status qfz_gpu_means(qfz_gpu *gpu, const qfz_gpu_regions *regions, qfz_type type,
                         uint32_t first_region, uint32_t n, uint32_t n_border_regions,
                         const uint64_t *d_sums, const void *d_border_mean, void *d_means)
{
    const int words = qfz_sum_words(type);
    return qfz_with_type(gpu, type, [&](auto px) {
        typedef decltype(px) T;
        T *const means = static_cast<T *>(d_means);
        QFZ_TRY(qfz_launch_each(gpu, k_divide<T>, n, BLOCK, d_sums, regions->d_count, first_region,
                                n, words, means));
        return qfz_launch_each(gpu, k_place_border_means<T>, n_border_regions, BLOCK,
                               regions->d_border_region_of, n_border_regions, first_region, n,
                               static_cast<const T *>(d_border_mean), means);
    });
}

qfz_status qfz_gpu_border_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions, uint32_t first_region,
                               uint32_t n, uint32_t n_border_regions, int sum_words,
                               const uint64_t *d_sums, uint64_t *d_out)
{
    const int64_t n_words = (int64_t)n_border_regions * sum_words;
    return qfz_launch_each(gpu, k_take_border_sums, n_words, BLOCK, regions->d_border_region_of,
                           n_words, first_region, n, sum_words, d_sums, d_out);
}
