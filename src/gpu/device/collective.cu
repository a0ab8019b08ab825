/* SPDX-License-Identifier: MIT */
/* collective.cu - calls of CUB; the simulator has its own (tests/sim/collective.cc). */
#include "gpu/device/collective.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

/* CUB computes the size of its scratch memory only on an initialised device; initialisation takes
 * 0.1 s, and qfz plans its memory earlier.  These are upper bounds.  A scan has 8 bytes per tile of
 * items; a sort has 4 bytes per tile for each of 256 digits; tiles are larger than SCAN_TILE and
 * SORT_TILE in all of CUB's tunings.  The part that does not depend on n is below FIXED.  CUB
 * returns an error if the memory is too small. */
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

size_t qfz_gpu_sort_bytes(int64_t n)
{
    return FIXED + (size_t)n / SORT_TILE * DIGITS * sizeof(uint32_t);
}

template <typename K>
static qfz_status sort(qfz_gpu *gpu, void *d_scratch, K *const d_keys[2],
                       uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit, int *out)
{
    size_t bytes = qfz_gpu_sort_bytes(n);
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

qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}

qfz_status qfz_gpu_sort_keys(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2], int64_t n,
                             int begin_bit, int end_bit, int *out)
{
    size_t bytes = qfz_gpu_sort_bytes(n);
    cub::DoubleBuffer<uint32_t> keys(d_keys[0], d_keys[1]);
    QFZ_TRY(qfz_gpu_check(
        gpu->err,
        cub::DeviceRadixSort::SortKeys(d_scratch, bytes, keys, n, begin_bit, end_bit, gpu->stream),
        "sort"));
    *out = keys.selector;
    return QFZ_OK;
}

qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint64_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    return sort(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, out);
}
