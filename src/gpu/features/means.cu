/* SPDX-License-Identifier: MIT */
#include "gpu/features/means.cuh"

#include <string.h>

#include "core/exact.h"
#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"

enum {
    BLOCK = 256,
    WORDS = QFZ_SUM_WORDS_MAX, /* words of a sum of floats */
    UNIT = -149,               /* the unit of such a sum is 2^UNIT */
    INFINITE = 339             /* the smallest top bit of a sum with an infinity (core/exact.h) */
};

/* ---- Integers -------------------------------------------------------------------------------- */

/* Rounds to nearest, halves up. One word holds the sum of a tile of at most 2^29 pixels. */
template <typename T> static QFZ_DEVICE T mean_of(const uint64_t *sum, uint32_t pixels)
{
    const int64_t n = 2 * (int64_t)pixels, doubled = 2 * (int64_t)sum[0] + (int64_t)pixels;
    const int64_t quotient = doubled / n;
    return (T)(doubled % n < 0 ? quotient - 1 : quotient);
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static __device__ double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* words = |sum|; true if the sum is negative. */
static __device__ bool absolute(const uint64_t *sum, uint64_t *words)
{
    const bool negative = sum[WORDS - 1] >> 63;
    uint64_t carry = negative;
    for (int i = 0; i < WORDS; i++) {
        words[i] = (negative ? ~sum[i] : sum[i]) + carry;
        carry = carry && words[i] == 0;
    }
    return negative;
}

static __device__ int top_bit(const uint64_t *words)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (words[i]) return i * 64 + 63 - __clzll((long long)words[i]);
    return -1;
}

static __device__ bool any_below(const uint64_t *words, int bit)
{
    uint64_t any = 0;
    for (int i = 0; i < bit / 64; i++)
        any |= words[i];
    return any || (bit % 64 && words[bit / 64] << (64 - bit % 64));
}

/* The sum as a double, rounded once, to nearest, ties to even. Of the 55 leading bits 53 stay, one
 * decides the rounding, and the last is set if any bit below it is. */
static __device__ double value_of(const uint64_t *words)
{
    const int top = top_bit(words), from = top - 54;
    if (top < 53) return (double)words[0] * power_of_two(UNIT);
    uint64_t leading;
    if (from < 0) {
        leading = words[0] << -from;
    } else {
        const int i = from / 64, shift = from % 64;
        const uint64_t high = shift && i + 1 < WORDS ? words[i + 1] << (64 - shift) : 0;
        leading = ((words[i] >> shift | high) & ((1ull << 55) - 1)) | any_below(words, from);
    }
    const uint64_t fraction = leading & 3, whole = leading >> 2;
    const uint64_t rounded = whole + (fraction > 2 || (fraction == 2 && whole % 2));
    return (double)rounded * power_of_two(UNIT + from + 2);
}

template <> QFZ_DEVICE float mean_of<float>(const uint64_t *sum, uint32_t pixels)
{
    uint64_t words[WORDS];
    const bool negative = absolute(sum, words);
    if (top_bit(words) >= INFINITE) return __uint_as_float(negative ? 0xff800000u : 0x7f800000u);
    const double size = value_of(words);
    return (float)((negative ? -size : size) / (double)pixels);
}

namespace
{
/* The regions whose sums are in device memory: n from `first` on. */
struct some_regions {
    uint32_t first, n;

    QFZ_DEVICE bool has(uint32_t region) const
    {
        return region - first < n;
    }
};
} // namespace

/* ---- Kernels --------------------------------------------------------------------------------- */

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    k_divide(const uint64_t *__restrict__ sums, const uint32_t *__restrict__ count,
             some_regions some, int words, T *__restrict__ means)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x, r = some.first + i;
    if (i < some.n) means[r] = mean_of<T>(sums + i * words, count[r]);
}

template <typename T>
static __global__ void
k_place_border_means(const uint32_t *__restrict__ border_region_of, uint32_t n_border_regions,
                     some_regions some, const T *__restrict__ border_mean, T *__restrict__ means)
{
    const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
    if (s < n_border_regions && some.has(border_region_of[s]))
        means[border_region_of[s]] = border_mean[s];
}

static __global__ void k_take_border_sums(const uint32_t *__restrict__ border_region_of, int64_t n,
                                          some_regions some, int words,
                                          const uint64_t *__restrict__ sums,
                                          uint64_t *__restrict__ out)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n || !some.has(border_region_of[i / words])) return;
    out[i] = sums[(int64_t)(border_region_of[i / words] - some.first) * words + i % words];
}

/* ---- Launches -------------------------------------------------------------------------------- */

qfz_status qfz_gpu_means(qfz_gpu *gpu, const qfz_gpu_regions *regions, qfz_type type,
                         uint32_t first_region, uint32_t n, uint32_t n_border_regions,
                         const uint64_t *d_sums, const void *d_border_mean, void *d_means)
{
    const int words = qfz_sum_words(type);
    const some_regions some = {first_region, n};
    return qfz_with_type(gpu, type, [&](auto px) {
        typedef decltype(px) T;
        T *const means = static_cast<T *>(d_means);
        QFZ_TRY(qfz_launch_each(gpu, k_divide<T>, some.n, BLOCK, d_sums, regions->d_count, some,
                                words, means));
        return qfz_launch_each(gpu, k_place_border_means<T>, n_border_regions, BLOCK,
                               regions->d_border_region_of, n_border_regions, some,
                               static_cast<const T *>(d_border_mean), means);
    });
}

qfz_status qfz_gpu_border_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions, uint32_t first_region,
                               uint32_t n, uint32_t n_border_regions, int sum_words,
                               const uint64_t *d_sums, uint64_t *d_out)
{
    const int64_t n_words = (int64_t)n_border_regions * sum_words;
    const some_regions some = {first_region, n};
    return qfz_launch_each(gpu, k_take_border_sums, n_words, BLOCK, regions->d_border_region_of,
                           n_words, some, sum_words, d_sums, d_out);
}
