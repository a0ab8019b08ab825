/* SPDX-License-Identifier: MIT */
/* device_test.h - for tests of launchers: opens a device or skips the test; arrays in device
 * memory. */
#ifndef QFZ_TEST_DEVICE_TEST_H
#define QFZ_TEST_DEVICE_TEST_H

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gpu/device/device.cuh"

#define MUST(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t must_ = (call);                                                          \
        if (must_ != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(must_));                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Ends the program with the status of a skipped test where there is no device. */
static inline void need_device(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) == cudaSuccess && n > 0) return;
    fprintf(stderr, "no GPU here: skipped\n");
    exit(77);
}

/* The first device and a stream of its own. */
static inline qfz_gpu open_gpu(qfz_error *err)
{
    cudaDeviceProp properties;
    qfz_gpu gpu = {};
    need_device();
    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
    gpu.n_sms = properties.multiProcessorCount;
    gpu.shared_max = properties.sharedMemPerBlockOptin;
    gpu.err = err;
    return gpu;
}

/* Allocates device memory for n items, at least one. */
template <typename T> static inline T *device_room(int64_t n)
{
    T *d = NULL;
    MUST(cudaMalloc(&d, (size_t)(n > 0 ? n : 1) * sizeof(T)));
    MUST(cudaMemset(d, 0xa5, (size_t)(n > 0 ? n : 1) * sizeof(T)));
    MUST(cudaDeviceSynchronize()); /* streams of tests do not wait for the default stream */
    return d;
}

template <typename T> static inline T *to_device(const T *h, int64_t n)
{
    T *const d = device_room<T>(n);
    MUST(cudaMemcpy(d, h, (size_t)n * sizeof(T), cudaMemcpyHostToDevice));
    MUST(cudaDeviceSynchronize());
    return d;
}

template <typename T> static inline T *to_device(const std::vector<T> &h)
{
    return to_device(h.data(), (int64_t)h.size());
}

/* Synchronises the stream and copies n items to the host. */
template <typename T>
static inline std::vector<T> from_device(const qfz_gpu *gpu, const T *d, int64_t n)
{
    std::vector<T> h((size_t)n);
    MUST(cudaStreamSynchronize(gpu->stream));
    MUST(cudaMemcpy(h.data(), d, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost));
    return h;
}

#endif
