/* SPDX-License-Identifier: MIT */
#include "gpu/device/collective.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

/* CUB itself says what it needs only on a device that has started, which takes 0.1 s; but memory is
 * planned before.  So here are bounds: a scan has 8 bytes for each tile of items, a sort 4 for each
 * of 256 digits, and for both, tiles are larger than these in all of CUB's tunings.  What does not
 * change with n is less than FIXED.  CUB refuses to work in too little memory. */
enum { SCAN_TILE = 512, SORT_TILE = 2048, DIGITS = 256, FIXED = 1 << 15 };

size_t qfz_gpu_scan_bytes(int64_t n)
{
    return FIXED + (size_t)n / SCAN_TILE * sizeof(uint64_t);
}

qfz_status qfz_gpu_scan(qfz_gpu *gpu, void *d_scratch, const uint32_t *d_in, uint32_t *d_out,
                        int64_t n)
{
    size_t bytes = qfz_gpu_scan_bytes(n);
    return qfz_gpu_check(
        gpu->err, cub::DeviceScan::ExclusiveSum(d_scratch, bytes, d_in, d_out, n, gpu->stream),
        "scan");
}

static size_t sort_bytes(int64_t n)
{
    return FIXED + (size_t)n / SORT_TILE * DIGITS * sizeof(uint32_t);
}

template <typename K>
static qfz_status sort(qfz_gpu *gpu, void *d_scratch, K *const d_keys[2],
                       uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit, int *out)
{
    size_t bytes = sort_bytes(n);
    cub::DoubleBuffer<K> keys(d_keys[0], d_keys[1]);
    cub::DoubleBuffer<uint32_t> values(d_values[0], d_values[1]);
    QFZ_TRY(qfz_gpu_check(gpu->err,
                          cub::DeviceRadixSort::SortPairs(d_scratch, bytes, keys, values, n,
                                                          begin_bit, end_bit, gpu->stream),
                          "sort"));
    if (keys.selector != values.selector)
        return qfz_fail(gpu->err, QFZ_EGPU, "sort: keys and values ended in different buffers");
    *out = keys.selector;
    return QFZ_OK;
}

size_t qfz_gpu_sort_pairs_bytes(int64_t n)
{
    return sort_bytes(n);
}

qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}

size_t qfz_gpu_sort_wide_bytes(int64_t n)
{
    return sort_bytes(n);
}

qfz_status qfz_gpu_sort_wide(qfz_gpu *gpu, void *d_scratch, uint64_t *const d_keys[2],
                             uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                             int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}
