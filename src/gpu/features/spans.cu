/* SPDX-License-Identifier: MIT */
#include "gpu/features/spans.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"

enum { BLOCK = 256, EACH = 8 }; /* pixels of a thread, one after the other */

static __global__ void k_clear(uint32_t n, uint32_t *__restrict__ least,
                               uint32_t *__restrict__ greatest)
{
    for (uint32_t r = blockIdx.x * BLOCK + threadIdx.x; r < n; r += gridDim.x * BLOCK) {
        least[r] = 0xffffffffu;
        greatest[r] = 0;
    }
}

/* Most pixels widen nothing: they only read the span, which another thread may be widening. */
static QFZ_DEVICE void widen(uint32_t lo, uint32_t hi, volatile uint32_t *least,
                             volatile uint32_t *greatest)
{
    if (lo < *least) atomicMin(const_cast<uint32_t *>(least), lo);
    if (hi > *greatest) atomicMax(const_cast<uint32_t *>(greatest), hi);
}

/* label: 1 + region of each pixel, 0 where it is invalid. */
template <typename T>
static __global__ void k_widen(int64_t n_px, const T *__restrict__ values,
                               const uint32_t *__restrict__ label, uint32_t *least,
                               uint32_t *greatest)
{
    const int64_t step = (int64_t)gridDim.x * BLOCK * EACH;
    for (int64_t first = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) * EACH; first < n_px;
         first += step) {
        const int64_t end = first + EACH < n_px ? first + EACH : n_px;
        uint32_t run = 0, lo = 0xffffffffu, hi = 0;
        for (int64_t i = first; i < end; i++) {
            if (label[i] != run) {
                if (run) widen(lo, hi, least + run - 1, greatest + run - 1);
                run = label[i];
                lo = 0xffffffffu;
                hi = 0;
            }
            const uint32_t order = order_of(values[i]);
            lo = order < lo ? order : lo;
            hi = order > hi ? order : hi;
        }
        if (run) widen(lo, hi, least + run - 1, greatest + run - 1);
    }
}

template <typename T>
static __global__ void k_judge(uint32_t n, double omega, const uint32_t *__restrict__ least,
                               const uint32_t *__restrict__ greatest, uint32_t *__restrict__ wide)
{
    for (uint32_t r = blockIdx.x * BLOCK + threadIdx.x; r < n; r += gridDim.x * BLOCK) {
        if (least[r] >= greatest[r]) continue; /* equal infinities, too */
        if (value_of<T>(greatest[r]) - value_of<T>(least[r]) > omega) wide[r] = 1;
    }
}

static __global__ void k_border(uint32_t n, const uint32_t *__restrict__ region,
                                const uint32_t *__restrict__ least,
                                const uint32_t *__restrict__ greatest, uint64_t *__restrict__ out)
{
    const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= n) return;
    out[2 * s] = least[region[s]];
    out[2 * s + 1] = 0xffffffffu - greatest[region[s]];
}

static __global__ void k_count(uint32_t n, const uint32_t *__restrict__ wide,
                               const uint32_t *__restrict__ marks,
                               const uint32_t *__restrict__ count, uint32_t *pixels)
{
    for (uint32_t r = blockIdx.x * BLOCK + threadIdx.x; r < n; r += gridDim.x * BLOCK)
        if (wide[r] && !(marks[r / 32] >> r % 32 & 1)) atomicAdd(pixels, count[r]);
}

qfz_status qfz_gpu_spans_of_band(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                 const qfz_gpu_image *image, int band, double omega,
                                 const qfz_gpu_spans *spans)
{
    const int64_t n_px = (int64_t)regions->h * regions->w;
    const dim3 grid = qfz_launch_grid(gpu, spans->n, BLOCK, 32), block(BLOCK);
    QFZ_TRY(qfz_launch(gpu, k_clear, grid, block, 0, spans->n, spans->d_least, spans->d_greatest));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        const T *const values = static_cast<const T *>(image->d_pixels) + band * n_px;
        QFZ_TRY(qfz_launch(gpu, k_widen<T>, qfz_launch_grid(gpu, n_px, BLOCK * EACH, 32), block, 0,
                           n_px, values, regions->d_label, spans->d_least, spans->d_greatest));
        return qfz_launch(gpu, k_judge<T>, grid, block, 0, spans->n, omega, spans->d_least,
                          spans->d_greatest, spans->d_wide);
    });
}

qfz_status qfz_gpu_spans_of_border(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   uint32_t n_border_regions, const qfz_gpu_spans *spans,
                                   uint64_t *d_out)
{
    return qfz_launch_each(gpu, k_border, n_border_regions, BLOCK, n_border_regions,
                           regions->d_border_region_of, spans->d_least, spans->d_greatest, d_out);
}

qfz_status qfz_gpu_spans_count(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_spans *spans, uint32_t *d_pixels)
{
    return qfz_launch(gpu, k_count, qfz_launch_grid(gpu, spans->n, BLOCK, 32), dim3(BLOCK), 0,
                      spans->n, spans->d_wide, regions->d_marks, regions->d_count, d_pixels);
}
