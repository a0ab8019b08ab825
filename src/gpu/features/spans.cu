/* SPDX-License-Identifier: MIT */
#include "gpu/features/spans.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"
#include "gpu/features/gather.cuh"

enum { BLOCK = 256 };

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
    const dim3 grid = qfz_launch_grid(gpu, spans->n, BLOCK, 32);
    QFZ_TRY(qfz_gpu_gather_ends(gpu, regions, image, band, spans->n, spans->d_least,
                                spans->d_greatest));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        return qfz_launch(gpu, k_judge<decltype(px)>, grid, dim3(BLOCK), 0, spans->n, omega,
                          spans->d_least, spans->d_greatest, spans->d_wide);
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
