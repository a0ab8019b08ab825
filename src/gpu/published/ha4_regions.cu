/* SPDX-License-Identifier: MIT */
/* ha4_regions.cu - numbers the regions of HA4's forest by first pixel, for its analysis: parents of
 * roots become region numbers. Bits mark the roots; prefix sums of their counts are the numbers. */
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
    uint64_t *roots;  /* bits of roots */
    uint32_t *counts; /* roots per word, then roots in earlier words */
    void *scan;
};
} // namespace

static int64_t n_words(int32_t h, int32_t w)
{
    return (int64_t)h * qfz_n_chunks<uint64_t>(w);
}

static void take_room(qfz_carve *carve, int32_t h, int32_t w, region_room *room)
{
    const int64_t n = n_words(h, w);
    qfz_carve_take(carve, &room->bits, n);
    qfz_carve_take(carve, &room->roots, n);
    qfz_carve_take(carve, &room->counts, n);
    room->scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(n));
}

/* The first pixel of word i. */
static QFZ_DEVICE uint32_t first_pixel(int32_t w, int64_t i)
{
    const uint32_t n_chunks = (uint32_t)qfz_n_chunks<uint64_t>(w);
    return (uint32_t)i / n_chunks * (uint32_t)w + (uint32_t)i % n_chunks * (uint32_t)BITS;
}

/* One thread a word. */
static __global__ void __launch_bounds__(BLOCK)
    k_find_roots(int32_t w, int64_t n, const row_bits *__restrict__ bits,
                 const uint32_t *__restrict__ parent, uint64_t *roots, uint32_t *counts)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const uint32_t base = first_pixel(w, i);
    uint64_t found = 0;
    for (uint64_t left = bits[i].valid & ~bits[i].joined; left; left &= left - 1) {
        const int x = qfz_first_bit(left) - 1;
        if (parent[base + (uint32_t)x] == base + (uint32_t)x) found |= (uint64_t)1 << x;
    }
    roots[i] = found;
    counts[i] = (uint32_t)__popcll(found);
}

static __global__ void __launch_bounds__(BLOCK)
    k_number_roots(int32_t w, int64_t n, const uint64_t *__restrict__ roots,
                   const uint32_t *__restrict__ before, uint32_t *parent, uint32_t *n_regions)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const uint32_t base = first_pixel(w, i);
    uint32_t number = before[i];
    for (uint64_t left = roots[i]; left; left &= left - 1)
        parent[base + (uint32_t)(qfz_first_bit(left) - 1)] = QFZ_HA4_NUMBERED | number++;
    if (i == n - 1) *n_regions = number;
}

/* ---- Launches -------------------------------------------------------------------------------- */

size_t qfz_gpu_ha4_regions_bytes(int32_t h, int32_t w)
{
    qfz_carve carve = {};
    region_room room;
    take_room(&carve, h, w, &room);
    return carve.used;
}

qfz_status qfz_gpu_ha4_regions(qfz_gpu *gpu, const qfz_gpu_segments *segments, void *d_scratch,
                               uint32_t *d_parent, uint32_t *d_n)
{
    const int32_t h = segments->h, w = segments->w;
    QFZ_TRY(qfz_gpu_segments_check(gpu, segments));
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    region_room room;
    take_room(&carve, h, w, &room);
    const int64_t n = n_words(h, w);
    const dim3 grid(qfz_launch_blocks(n, BLOCK)), block(BLOCK);
    QFZ_TRY(qfz_gpu_ha4_forest(gpu, segments, room.bits, d_parent));
    QFZ_TRY(qfz_launch(gpu, k_find_roots, grid, block, 0, w, n, room.bits, d_parent, room.roots,
                       room.counts));
    QFZ_TRY(qfz_gpu_scan(gpu, room.scan, room.counts, room.counts, n));
    return qfz_launch(gpu, k_number_roots, grid, block, 0, w, n, room.roots, room.counts, d_parent,
                      d_n);
}
