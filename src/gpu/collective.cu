/* SPDX-License-Identifier: MIT */
#include "gpu/collective.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

size_t qfz_gpu_scan_bytes(int64_t n)
{
    size_t bytes = 0;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, (const uint32_t *)nullptr,
                                        (uint32_t *)nullptr, n);
    return bytes;
}

qfz_status qfz_gpu_scan(qfz_gpu *gpu, void *d_scratch, const uint32_t *d_in, uint32_t *d_out,
                        int64_t n)
{
    size_t bytes = qfz_gpu_scan_bytes(n);
    return qfz_gpu_check(
        gpu->err, cub::DeviceScan::ExclusiveSum(d_scratch, bytes, d_in, d_out, n, gpu->stream),
        "scan");
}

template <typename K> static size_t sort_bytes(int64_t n)
{
    size_t bytes = 0;
    cub::DoubleBuffer<K> keys;
    cub::DoubleBuffer<uint32_t> values;
    (void)cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, n);
    return bytes;
}

template <typename K>
static qfz_status sort(qfz_gpu *gpu, void *d_scratch, K *const d_keys[2],
                       uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit, int *out)
{
    size_t bytes = sort_bytes<K>(n);
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
    return sort_bytes<uint32_t>(n);
}

qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}

size_t qfz_gpu_sort_wide_bytes(int64_t n)
{
    return sort_bytes<uint64_t>(n);
}

qfz_status qfz_gpu_sort_wide(qfz_gpu *gpu, void *d_scratch, uint64_t *const d_keys[2],
                             uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                             int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}
