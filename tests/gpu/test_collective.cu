/* SPDX-License-Identifier: MIT */
/* Operations on whole arrays, against simple loops. */
#include <algorithm>

#include "check.h"
#include "device_test.h"
#include "gpu/device/collective.cuh"

static qfz_error err;

static std::vector<uint32_t> noise(int64_t n, uint32_t below)
{
    std::vector<uint32_t> v((size_t)n);
    for (uint32_t &item : v)
        item = (uint32_t)rand() % below;
    return v;
}

static void scans(qfz_gpu *gpu, int64_t n)
{
    const std::vector<uint32_t> in = noise(n, 1000);
    uint32_t *const d_in = to_device(in), *const d_out = device_room<uint32_t>(n);
    void *const d_scratch = device_room<char>((int64_t)qfz_gpu_scan_bytes(n));
    CHECK(qfz_gpu_scan(gpu, d_scratch, d_in, d_out, n) == QFZ_OK, "%s", err.message);
    const std::vector<uint32_t> out = from_device(gpu, d_out, n);
    uint32_t sum = 0;
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; sum += in[(size_t)i++])
        wrong += out[(size_t)i] != sum;
    CHECK(wrong == 0, "scan of %lld: %lld sums are wrong", (long long)n, (long long)wrong);
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_scratch);
}

template <typename K> static void sorts(qfz_gpu *gpu, int64_t n, int begin_bit, int end_bit)
{
    const std::vector<uint32_t> small = noise(n, 1u << 16);
    const std::vector<K> keys(small.begin(), small.end());
    std::vector<uint32_t> order((size_t)n);
    for (size_t i = 0; i < order.size(); i++)
        order[i] = (uint32_t)i;
    K *const d_keys[2] = {to_device(keys), device_room<K>(n)};
    uint32_t *const d_values[2] = {to_device(order), device_room<uint32_t>(n)};
    void *const d_scratch = device_room<char>((int64_t)qfz_gpu_sort_bytes(n));
    int out = 0;
    CHECK(qfz_gpu_sort_pairs(gpu, d_scratch, d_keys, d_values, n, begin_bit, end_bit, &out) ==
              QFZ_OK,
          "%s", err.message);
    const K mask = ((K)1 << end_bit) - ((K)1 << begin_bit);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
    CHECK(from_device(gpu, d_values[out], n) == order, "sort of %lld by bits %d..%d", (long long)n,
          begin_bit, end_bit);
    for (int i = 0; i < 2; i++) {
        cudaFree(d_keys[i]);
        cudaFree(d_values[i]);
    }
    cudaFree(d_scratch);
}

static void sorts_keys(qfz_gpu *gpu, int64_t n)
{
    std::vector<uint32_t> keys = noise(n, 1u << 31);
    uint32_t *const d_keys[2] = {to_device(keys), device_room<uint32_t>(n)};
    void *const d_scratch = device_room<char>((int64_t)qfz_gpu_sort_bytes(n));
    int out = 0;
    CHECK(qfz_gpu_sort_keys(gpu, d_scratch, d_keys, n, 0, 31, &out) == QFZ_OK, "%s", err.message);
    std::sort(keys.begin(), keys.end());
    CHECK(from_device(gpu, d_keys[out], n) == keys, "sort of %lld keys", (long long)n);
    cudaFree(d_keys[0]);
    cudaFree(d_keys[1]);
    cudaFree(d_scratch);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    qfz_gpu gpu = open_gpu(&err);
    for (const int64_t n : {1, 31, 1000, 100003, 3000001}) {
        check_case(n, "%lld items", (long long)n);
        scans(&gpu, n);
        sorts<uint32_t>(&gpu, n, 0, 16);
        sorts<uint32_t>(&gpu, n, 3, 9);
        sorts<uint64_t>(&gpu, n, 0, 40);
        sorts_keys(&gpu, n);
    }
    return check_end();
}
