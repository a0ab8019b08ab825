/* SPDX-License-Identifier: MIT */
/* collective.cc - replaces src/gpu/device/collective.cu when src/gpu/ is compiled for the
 * simulator. */
#include "gpu/device/collective.cuh"

#include <algorithm>
#include <numeric>
#include <vector>

size_t qfz_gpu_scan_bytes(int64_t)
{
    return 1;
}

qfz_status qfz_gpu_scan(qfz_gpu *, void *, const uint32_t *d_in, uint32_t *d_out, int64_t n)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t item = d_in[i];
        d_out[i] = sum;
        sum += item;
    }
    return QFZ_OK;
}

/* The result may be in either pair of buffers, as with CUB, which sorts by 8 bits at a time from
 * one pair to the other. */
template <typename K>
static void sort(K *const d_keys[2], uint32_t *const d_values[2], int64_t n, int begin_bit,
                 int end_bit, int *out)
{
    const K mask = end_bit - begin_bit >= (int)sizeof(K) * 8
                       ? ~(K)0
                       : (((K)1 << (end_bit - begin_bit)) - 1) << begin_bit;
    std::vector<int64_t> order((size_t)n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return (d_keys[0][a] & mask) < (d_keys[0][b] & mask);
    });
    for (int64_t i = 0; i < n; i++) {
        d_keys[1][i] = d_keys[0][order[(size_t)i]];
        d_values[1][i] = d_values[0][order[(size_t)i]];
    }
    *out = (end_bit - begin_bit + 7) / 8 % 2;
    if (*out == 1) return;
    std::copy(d_keys[1], d_keys[1] + n, d_keys[0]);
    std::copy(d_values[1], d_values[1] + n, d_values[0]);
    std::fill(d_keys[1], d_keys[1] + n, ~(K)0);
    std::fill(d_values[1], d_values[1] + n, UINT32_MAX);
}

size_t qfz_gpu_sort_bytes(int64_t)
{
    return 1;
}

qfz_status qfz_gpu_sort_pairs(qfz_gpu *, void *, uint32_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    sort(d_keys, d_values, n, begin_bit, end_bit, out);
    return QFZ_OK;
}

qfz_status qfz_gpu_sort_keys(qfz_gpu *, void *, uint32_t *const d_keys[2], int64_t n, int begin_bit,
                             int end_bit, int *out)
{
    std::vector<uint32_t> values((size_t)n), more((size_t)n);
    uint32_t *const d_values[2] = {values.data(), more.data()};
    sort(d_keys, d_values, n, begin_bit, end_bit, out);
    return QFZ_OK;
}

qfz_status qfz_gpu_sort_pairs(qfz_gpu *, void *, uint64_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out)
{
    sort(d_keys, d_values, n, begin_bit, end_bit, out);
    return QFZ_OK;
}
