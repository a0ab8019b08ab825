/* SPDX-License-Identifier: MIT */
/* regions_paint.cu - labels of the regions of a tile (names), and rasters painted by region. */
#include "gpu/features/regions.cuh"

#include <string.h>

#include "gpu/device/launch.cuh"
#include "core/record.h"

enum { BLOCK = 256 };

/* ---- Names ----------------------------------------------------------------------------------- */

/* Names the border regions that other tiles own. From here on d_marks marks these only: border
 * regions that this tile owns are named with the inner regions. */
static __global__ void k_name_border_regions(qfz_gpu_regions regions, uint32_t n_border_regions,
                                             const uint64_t *__restrict__ border_label,
                                             uint64_t *__restrict__ name)
{
    const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= n_border_regions) return;
    const uint32_t region = regions.d_border_region_of[s], bit = 1u << region % 32;
    const uint64_t label = border_label ? border_label[s] : 0;
    if (label) {
        name[region] = label;
        atomicOr(regions.d_marks + region / 32, bit);
    } else {
        atomicAnd(regions.d_marks + region / 32, ~bit);
    }
}

/* Names the regions that the tile owns. A warp has a row, and the 32 regions of a word of marks. */
static __global__ void __launch_bounds__(BLOCK)
    k_name_rows(qfz_gpu_regions regions, const uint64_t *__restrict__ row_start,
                uint64_t *__restrict__ name)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const int64_t y = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / QFZ_WARP;
    if (y >= regions.h) return;
    const uint32_t from = regions.d_row_first[y], to = regions.d_row_first[y + 1];
    uint64_t given = row_start ? row_start[y] : from;
    for (uint32_t base = from & ~31u; base < to; base += QFZ_WARP) {
        uint32_t own = ~regions.d_marks[base / 32];
        if (base < from) own &= ~0u << from % 32;
        if (to - base < QFZ_WARP) own &= (1u << to % 32) - 1;
        if (own >> lane & 1) name[base + lane] = given + (uint32_t)__popc(own & ((2u << lane) - 1));
        given += (uint32_t)__popc(own);
    }
}

static __global__ void k_name_records(const uint64_t *__restrict__ name, uint32_t n,
                                      int record_words, uint64_t *__restrict__ records)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) records[(int64_t)i * record_words] = name[i];
}

static __global__ void k_share_records(qfz_gpu_regions regions, uint32_t n_border_regions,
                                       uint32_t first_region, uint32_t n, int record_words,
                                       uint64_t *__restrict__ records)
{
    const uint32_t s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= n_border_regions) return;
    const uint32_t i = regions.d_border_region_of[s] - first_region; /* wraps round to a large value
                                                                      * for earlier regions */
    if (i < n) records[(int64_t)i * record_words] |= QFZ_RECORD_SHARED;
}

/* ---- Paint ----------------------------------------------------------------------------------- */

template <typename IN, typename OUT>
static __global__ void __launch_bounds__(BLOCK)
    k_paint(const uint32_t *__restrict__ label, int64_t n, const IN *__restrict__ lut, OUT invalid,
            OUT *__restrict__ out)
{
    const int64_t p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (p < n) out[p] = label[p] ? (OUT)__ldg(lut + label[p] - 1) : invalid;
}

/* ---- Launches -------------------------------------------------------------------------------- */

qfz_status qfz_gpu_regions_name(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                uint32_t n_border_regions, const uint64_t *d_row_start,
                                const uint64_t *d_border_label, uint64_t *d_name)
{
    QFZ_TRY(qfz_launch_each(gpu, k_name_border_regions, n_border_regions, BLOCK, *regions,
                            n_border_regions, d_border_label, d_name));
    return qfz_launch_each(gpu, k_name_rows, (int64_t)regions->h * QFZ_WARP, BLOCK, *regions,
                           d_row_start, d_name);
}

qfz_status qfz_gpu_regions_name_records(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                        uint32_t n_border_regions, const uint64_t *d_name,
                                        uint32_t first_region, uint32_t n, int record_words,
                                        uint64_t *d_records)
{
    QFZ_TRY(qfz_launch_each(gpu, k_name_records, n, BLOCK, d_name + first_region, n, record_words,
                            d_records));
    return qfz_launch_each(gpu, k_share_records, n_border_regions, BLOCK, *regions,
                           n_border_regions, first_region, n, record_words, d_records);
}

template <typename IN, typename OUT>
static qfz_status paint(qfz_gpu *gpu, const uint32_t *d_label, int64_t n, const void *d_lut,
                        const void *invalid, void *d_out)
{
    OUT value = 0;
    if (invalid) memcpy(&value, invalid, sizeof value);
    return qfz_launch_each(gpu, k_paint<IN, OUT>, n, BLOCK, d_label, n,
                           static_cast<const IN *>(d_lut), value, static_cast<OUT *>(d_out));
}

qfz_status qfz_gpu_regions_labels(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                  const uint64_t *d_name, int64_t first, int64_t n, bool wide,
                                  void *d_out)
{
    const uint32_t *const d_label = regions->d_label + first;
    return wide ? paint<uint64_t, uint64_t>(gpu, d_label, n, d_name, NULL, d_out)
                : paint<uint64_t, uint32_t>(gpu, d_label, n, d_name, NULL, d_out);
}

qfz_status qfz_gpu_regions_paint(qfz_gpu *gpu, const qfz_gpu_regions *regions, const void *d_lut,
                                 size_t value_bytes, const void *invalid, void *d_out)
{
    const uint32_t *const d_label = regions->d_label;
    const int64_t n = (int64_t)regions->h * regions->w;
    switch (value_bytes) {
    case 1: return paint<uint8_t, uint8_t>(gpu, d_label, n, d_lut, invalid, d_out);
    case 2: return paint<uint16_t, uint16_t>(gpu, d_label, n, d_lut, invalid, d_out);
    case 4: return paint<uint32_t, uint32_t>(gpu, d_label, n, d_lut, invalid, d_out);
    }
    return qfz_fail(gpu->err, QFZ_EARG, "values of %d bytes are not painted", (int)value_bytes);
}
