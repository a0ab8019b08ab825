/* SPDX-License-Identifier: MIT */
/* collective.cuh - scan and sort of whole arrays in device memory, by CUB.
 *
 * d_scratch has at least as many bytes as qfz_gpu_scan_bytes() or qfz_gpu_sort_bytes() returns for
 * the same n.  Arrays do not overlap unless a comment allows it. */
#pragma once

#include "gpu/device/device.cuh"

/* Exclusive sum: d_out[i] = d_in[0] + ... + d_in[i - 1], for 0 <= i < n; d_out may be d_in. */
size_t qfz_gpu_scan_bytes(int64_t n);
qfz_status qfz_gpu_scan(qfz_gpu *gpu, void *d_scratch, const uint32_t *d_in, uint32_t *d_out,
                        int64_t n);

/* Stable ascending sort of n pairs by bits begin_bit .. end_bit - 1 of the keys, which are in
 * d_keys[0] and d_values[0].  Both pairs of buffers are overwritten; the result is in d_keys[*out]
 * and d_values[*out]. */
size_t qfz_gpu_sort_bytes(int64_t n);
qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out);
qfz_status qfz_gpu_sort_pairs(qfz_gpu *gpu, void *d_scratch, uint64_t *const d_keys[2],
                              uint32_t *const d_values[2], int64_t n, int begin_bit, int end_bit,
                              int *out);
/* The number of bits of a key up to `most`. */
static inline int qfz_gpu_key_bits(uint32_t most)
{
    int bits = 0;
    while (bits < 32 && most >> bits)
        bits++;
    return bits;
}

/* The same for keys without values. */
qfz_status qfz_gpu_sort_keys(qfz_gpu *gpu, void *d_scratch, uint32_t *const d_keys[2], int64_t n,
                             int begin_bit, int end_bit, int *out);
