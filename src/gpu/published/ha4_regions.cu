/* SPDX-License-Identifier: MIT */
/* ha4_regions.cu - numbers the regions of HA4's forest by first pixel, for its analysis: parents of
 * roots become region numbers, which are prefix sums over pixels. */
#include "gpu/device/collective.cuh"
#include "gpu/published/ha4_features.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/published/segments.cuh"

typedef qfz_row_bits<uint64_t> row_bits;

enum { BITS = 64, BLOCK = 256 };

namespace
{
struct region_room {
    row_bits *bits;   /* bits of the rows */
    uint32_t *before; /* per pixel: roots before it; at the end, all of them */
    void *scan;
};
} // namespace

static void take_room(qfz_carve *carve, int32_t h, int32_t w, region_room *room)
{
    const int64_t n = (int64_t)h * w + 1;
    qfz_carve_take(carve, &room->bits, (int64_t)h * qfz_n_chunks<uint64_t>(w));
    qfz_carve_take(carve, &room->before, n);
    room->scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(n));
}

/* Starts of segments have parents, those of other chunks in a segment are no roots. */
static __global__ void __launch_bounds__(BLOCK)
    k_find_roots(int32_t w, int64_t n, const row_bits *__restrict__ bits,
                 const uint32_t *__restrict__ parent, uint32_t *is_root)
{
    const int64_t p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    const uint32_t y = (uint32_t)p / (uint32_t)w, x = (uint32_t)p % (uint32_t)w;
    if (p == n) is_root[p] = 0;
    if (p >= n) return;
    const row_bits row = bits[(int64_t)y * qfz_n_chunks<uint64_t>(w) + x / BITS];
    const bool starts = (row.valid & ~row.joined) >> x % BITS & 1;
    is_root[p] = starts && parent[p] == (uint32_t)p;
}

static __global__ void __launch_bounds__(BLOCK)
    k_number_roots(int64_t n, const uint32_t *__restrict__ before, uint32_t *parent,
                   uint32_t *n_regions)
{
    const int64_t p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (p == n) *n_regions = before[n];
    if (p < n && before[p + 1] != before[p]) parent[p] = QFZ_HA4_NUMBERED | before[p];
}

/* ---- Launches -------------------------------------------------------------------------------- */

size_t qfz_gpu_ha4_regions_bytes(int32_t h, int32_t w)
{
    qfz_carve carve = {};
    region_room room;
    take_room(&carve, h, w, &room);
    return carve.used;
}

qfz_status qfz_gpu_ha4_regions(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                               void *d_scratch, uint32_t *d_parent, uint32_t *d_n)
{
    const int32_t h = image->h, w = image->w;
    const int64_t n = (int64_t)h * w;
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    region_room room;
    take_room(&carve, h, w, &room);
    QFZ_TRY(qfz_gpu_ha4_forest(gpu, image, connectivity, room.bits, d_parent));
    QFZ_TRY(
        qfz_launch_each(gpu, k_find_roots, n + 1, BLOCK, w, n, room.bits, d_parent, room.before));
    QFZ_TRY(qfz_gpu_scan(gpu, room.scan, room.before, room.before, n + 1));
    return qfz_launch_each(gpu, k_number_roots, n + 1, BLOCK, n, room.before, d_parent, d_n);
}
