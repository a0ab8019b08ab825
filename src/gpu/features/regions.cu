/* SPDX-License-Identifier: MIT */
/* regions.cu - numbers a tile's regions, finds border regions, counts inner ones by row. */
#include "gpu/features/regions.cuh"

#include "core/box.h"
#include "gpu/device/collective.cuh"
#include "gpu/features/gather.cuh"
#include "gpu/device/launch.cuh"

enum { BLOCK = 256 };

#define EACH(i, n)                                                                                 \
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < (n);                           \
         i += (int64_t)gridDim.x * BLOCK)

/* ---- Numbers --------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(BLOCK)
    k_mark_roots(const uint32_t *__restrict__ root, int64_t n, uint32_t *__restrict__ is_root)
{
    const int64_t p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (p <= n) is_root[p] = p < n && root[p] == (uint32_t)p;
}

/* before[]: the number of roots before each pixel, and behind them that of all. */
static __global__ void __launch_bounds__(BLOCK)
    k_label(const uint32_t *__restrict__ root, int64_t n, const uint32_t *__restrict__ before,
            qfz_gpu_regions regions)
{
    const int64_t p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (p == n) regions.d_n[0] = before[n];
    if (p >= n) return;
    const uint32_t own = root[p], region = own == QFZ_NONE ? (uint32_t)QFZ_NONE : before[own];
    regions.d_label[p] = region + 1;
    if (own != (uint32_t)p) return;
    regions.d_first[region] = (uint32_t)p;
    regions.d_count[region] = 0;
}

/* ---- Border regions -------------------------------------------------------------------------- */

namespace
{
struct ring_view {
    int64_t n;          /* ring pixels */
    uint32_t *first_at; /* per region on the ring: its first ring pixel */
    /* is_first and number_at: per ring pixel. number_at: the border region that is new there. */
    uint32_t *is_first, *number_at;
};

/* The region of ring pixel i (as in qfz_ring_place()), QFZ_NONE where invalid. */
QFZ_DEVICE uint32_t ring_region(const qfz_gpu_regions &regions, int64_t i)
{
    int64_t y, x;
    qfz_ring_place(regions.h, regions.w, i, &y, &x);
    return regions.d_label[y * regions.w + x] - 1;
}

__global__ void k_clear_ring(qfz_gpu_regions regions, ring_view ring)
{
    EACH(i, ring.n)
    {
        const uint32_t region = ring_region(regions, i);
        if (region != QFZ_NONE) ring.first_at[region] = QFZ_NONE;
    }
}

__global__ void k_find_ring(qfz_gpu_regions regions, ring_view ring)
{
    EACH(i, ring.n)
    {
        const uint32_t region = ring_region(regions, i);
        if (region != QFZ_NONE && qfz_peek(ring.first_at + region) > (uint32_t)i)
            atomicMin(ring.first_at + region, (uint32_t)i);
    }
}

__global__ void k_mark_first(qfz_gpu_regions regions, ring_view ring)
{
    EACH(i, ring.n)
    {
        const uint32_t region = ring_region(regions, i);
        ring.is_first[i] = region != QFZ_NONE && ring.first_at[region] == (uint32_t)i;
    }
}

__global__ void k_number_border_regions(qfz_gpu_regions regions, ring_view ring)
{
    EACH(i, ring.n)
    {
        const uint32_t region = ring_region(regions, i);
        regions.d_ring_region[i] =
            region == QFZ_NONE ? QFZ_NONE : ring.number_at[ring.first_at[region]];
        if (ring.is_first[i]) {
            regions.d_border_region_of[ring.number_at[i]] = region;
            atomicOr(regions.d_marks + region / 32, 1u << region % 32);
        }
        if (i == ring.n - 1) regions.d_n[1] = ring.number_at[i] + ring.is_first[i];
    }
}

/* ---- Inner regions by row -------------------------------------------------------------------- */

/* Finds d_row_first: regions are sorted by first pixel, so those that begin in a row are a
 * range. */
__global__ void k_find_rows(qfz_gpu_regions regions)
{
    EACH(y, regions.h + 1)
    {
        const uint32_t start = (uint32_t)y * (uint32_t)regions.w;
        uint32_t low = 0, high = regions.d_n[0];
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (regions.d_first[middle] < start)
                low = middle + 1;
            else
                high = middle;
        }
        regions.d_row_first[y] = low;
    }
}

/* The number of marked regions among from .. to - 1. */
__device__ uint32_t count_marks(const uint32_t *marks, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t word = from / 32; word * 32 < to; word++) {
        uint32_t bits = marks[word];
        if (word == from / 32) bits &= ~0u << from % 32;
        if (word == to / 32) bits &= (1u << to % 32) - 1;
        n += (uint32_t)__popc(bits);
    }
    return n;
}

__global__ void k_count_inner(qfz_gpu_regions regions)
{
    EACH(i, regions.h + (int64_t)regions.d_n[1])
    {
        if (i < regions.h) {
            const uint32_t from = regions.d_row_first[i], to = regions.d_row_first[i + 1];
            regions.d_n[2 + i] = to - from - count_marks(regions.d_marks, from, to);
            continue;
        }
        const uint32_t region = regions.d_border_region_of[i - regions.h];
        const uint32_t first = regions.d_first[region];
        const uint32_t from = regions.d_row_first[first / (uint32_t)regions.w];
        regions.d_border_regions[i - regions.h] =
            qfz_border_region{first, region - from - count_marks(regions.d_marks, from, region),
                              regions.d_count ? regions.d_count[region] : 0};
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */
} // namespace

/* Scratch memory: of the numbering of all regions only first_at, as prefix sums. */
static ring_view lay_out(qfz_carve *carve, int32_t h, int32_t w, void **scan)
{
    const int64_t n_px = (int64_t)h * w;
    ring_view ring;
    ring.n = qfz_ring_size(h, w);
    qfz_carve_take(carve, &ring.first_at, n_px + 1);
    qfz_carve_take(carve, &ring.is_first, ring.n);
    qfz_carve_take(carve, &ring.number_at, ring.n);
    *scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(n_px + 1));
    return ring;
}

size_t qfz_gpu_regions_bytes(int32_t h, int32_t w)
{
    qfz_carve carve = {};
    void *scan;
    (void)lay_out(&carve, h, w, &scan);
    return carve.used;
}

qfz_status qfz_gpu_regions_number(qfz_gpu *gpu, const uint32_t *d_root, void *d_scratch,
                                  const qfz_gpu_regions *regions)
{
    const int64_t n_px = (int64_t)regions->h * regions->w;
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    void *scan;
    uint32_t *const before = lay_out(&carve, regions->h, regions->w, &scan).first_at;
    QFZ_TRY(qfz_launch_each(gpu, k_mark_roots, n_px + 1, BLOCK, d_root, n_px, before));
    QFZ_TRY(qfz_gpu_scan(gpu, scan, before, before, n_px + 1));
    QFZ_TRY(qfz_launch_each(gpu, k_label, n_px + 1, BLOCK, d_root, n_px, before, *regions));
    return qfz_gpu_gather_counts(gpu, regions);
}

static qfz_status find_border_regions(qfz_gpu *gpu, void *d_scratch, const qfz_gpu_regions *regions)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    void *scan;
    const ring_view ring = lay_out(&carve, regions->h, regions->w, &scan);
    const dim3 grid = qfz_launch_grid(gpu, ring.n, BLOCK, 64), block(BLOCK);
    QFZ_TRY(qfz_launch(gpu, k_clear_ring, grid, block, 0, *regions, ring));
    QFZ_TRY(qfz_launch(gpu, k_find_ring, grid, block, 0, *regions, ring));
    QFZ_TRY(qfz_launch(gpu, k_mark_first, grid, block, 0, *regions, ring));
    QFZ_TRY(qfz_gpu_scan(gpu, scan, ring.is_first, ring.number_at, ring.n));
    return qfz_launch(gpu, k_number_border_regions, grid, block, 0, *regions, ring);
}

qfz_status qfz_gpu_regions_border(qfz_gpu *gpu, bool has_outside, void *d_scratch,
                                  const qfz_gpu_regions *regions)
{
    const int64_t most = regions->h + qfz_ring_size(regions->h, regions->w);
    QFZ_TRY(qfz_gpu_fill(gpu, regions->d_marks, 0, qfz_gpu_region_words(regions)));
    if (has_outside)
        QFZ_TRY(find_border_regions(gpu, d_scratch, regions));
    else
        QFZ_TRY(qfz_gpu_fill(gpu, regions->d_n + 1, 0, 1));
    QFZ_TRY(qfz_launch_each(gpu, k_find_rows, regions->h + 1, BLOCK, *regions));
    return qfz_launch_each(gpu, k_count_inner, most, BLOCK, *regions);
}
