/* SPDX-License-Identifier: MIT */
/* devices.cu - number and memory of the devices, and their bandwidth. */
#include "core/clock.h"
#include "gpu/device/device.cuh"
#include "gpu/gpu.h"

bool qfz_gpu_visible(void)
{
    int n_devices = 0, driver = 0;
    const cudaError_t no_driver = cudaDriverGetVersion(&driver);
    const cudaError_t error = cudaGetDeviceCount(&n_devices);
    (void)cudaGetLastError();
    if (no_driver != cudaSuccess || driver == 0) return false;
    return error == cudaSuccess ? n_devices > 0 : error != cudaErrorNoDevice;
}

qfz_status qfz_gpu_count(int *n, qfz_error *err)
{
    int n_devices = 0, driver = 0;
    QFZ_TRY_CUDA(err, cudaDriverGetVersion(&driver));
    if (driver == 0) return qfz_fail(err, QFZ_EGPU, "GPU: there is no CUDA driver on this machine");
    QFZ_TRY_CUDA(err, cudaGetDeviceCount(&n_devices));
    if (n_devices < 1) return qfz_fail(err, QFZ_EGPU, "GPU: CUDA shows no device");
    *n = n_devices < QFZ_GPUS_MAX ? n_devices : QFZ_GPUS_MAX;
    return QFZ_OK;
}

qfz_status qfz_gpu_memory(const qfz_device *devices, int n, int64_t *bytes, qfz_error *err)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < n; i++) {
        cudaDeviceProp device;
        QFZ_TRY_CUDA(err, cudaGetDeviceProperties(&device, devices[i].index));
        if (10 * device.major + device.minor < 75)
            return qfz_fail(err, QFZ_EGPU, "GPU %d has compute capability %d.%d; 7.5 is the least",
                            devices[i].number, device.major, device.minor);
        if ((int64_t)device.totalGlobalMem < least) least = (int64_t)device.totalGlobalMem;
    }
    *bytes = least;
    return QFZ_OK;
}

/* *seconds = what n copies take; the memory holds two halves. */
static qfz_status time_copies(char *d_memory, size_t half, int n, double *seconds, qfz_error *err)
{
    double from = 0;
    QFZ_TRY_CUDA(err, cudaMemset(d_memory, 1, 2 * half));
    for (int i = -1; i < n; i++) { /* the first copy is not counted */
        QFZ_TRY_CUDA(err,
                     cudaMemcpyAsync(d_memory + half, d_memory, half, cudaMemcpyDeviceToDevice));
        if (i >= 0) continue;
        QFZ_TRY_CUDA(err, cudaDeviceSynchronize());
        from = qfz_seconds_now();
    }
    QFZ_TRY_CUDA(err, cudaDeviceSynchronize());
    *seconds = qfz_seconds_now() - from;
    return QFZ_OK;
}

qfz_status qfz_gpu_measure_copy(int device, double *bytes_per_s, qfz_error *err)
{
    enum { N = 21 };
    const size_t half = (size_t)1 << 30;
    double seconds = 0;
    char *d_memory;
    QFZ_TRY_CUDA(err, cudaSetDevice(device));
    QFZ_TRY(qfz_gpu_check(err, cudaMalloc((void **)&d_memory, 2 * half), "2 GiB for copies"));
    const qfz_status st = time_copies(d_memory, half, N, &seconds, err);
    if (st == QFZ_OK) *bytes_per_s = 2.0 * N * (double)half / seconds;
    (void)cudaFree(d_memory);
    return st;
}
