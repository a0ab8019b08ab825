/* SPDX-License-Identifier: MIT */
/* A kernel that lacks a barrier; sim/races.cc must detect the race. */
#include "check.h"
#include "device_test.h"
#include "gpu/device/launch.cuh"

enum { THREADS = 64 };

static __global__ void k_turn(uint32_t *out)
{
    __shared__ uint32_t words[THREADS];
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = words[(threadIdx.x + 1) % THREADS];
}

int main(int argc, char **argv)
{
    qfz_error err;
    check_begin(argc, argv, 1);
    qfz_gpu gpu = open_gpu(&err);
    uint32_t *const d_out = device_room<uint32_t>(THREADS);
    CHECK(qfz_launch(&gpu, k_turn, dim3(1), dim3(THREADS), 0, d_out) == QFZ_OK, "%s", err.message);
    cudaFree(d_out);
    return check_end();
}
