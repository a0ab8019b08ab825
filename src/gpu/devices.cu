/* SPDX-License-Identifier: MIT */
/* devices.cu - which devices there are, and what they have. */
#include <stdlib.h>

#include "gpu/device.cuh"
#include "gpu/gpu.h"
#include "parallel.h"

bool qfz_gpu_built(void)
{
    return true;
}

qfz_status qfz_gpu_count(int *n, qfz_error *err)
{
    int n_devices = 0;
    QFZ_TRY_CUDA(err, cudaGetDeviceCount(&n_devices));
    if (n_devices < 1) return qfz_fail(err, QFZ_EGPU, "GPU: CUDA shows no device");
    *n = n_devices < QFZ_GPUS_MAX ? n_devices : QFZ_GPUS_MAX;
    return QFZ_OK;
}

static qfz_status check_age(qfz_device device, qfz_error *err)
{
    int major = 0, minor = 0;
    QFZ_TRY_CUDA(err,
                 cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index));
    QFZ_TRY_CUDA(err,
                 cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index));
    if (10 * major + minor >= 75) return QFZ_OK;
    return qfz_fail(err, QFZ_EGPU, "GPU %d has compute capability %d.%d; 7.5 is the least",
                    device.number, major, minor);
}

/* A device starts at the first call that needs it, which takes a tenth of a second or more; as an
 * item of a loop, so that several start side by side. */
typedef struct starting {
    const qfz_device *devices;
    int64_t *free_bytes;
} starting;

static qfz_status start_device(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const starting *const s = (const starting *)arg;
    size_t available = 0, total = 0;
    QFZ_TRY(check_age(s->devices[item], err));
    QFZ_TRY_CUDA(err, cudaSetDevice(s->devices[item].index));
    QFZ_TRY_CUDA(err, cudaMemGetInfo(&available, &total));
    s->free_bytes[item] = (int64_t)available;
    return QFZ_OK;
}

qfz_status qfz_gpu_start(const qfz_device *devices, int n, int64_t *bytes, qfz_error *err)
{
    int64_t free_bytes[QFZ_GPUS_MAX];
    starting s = {devices, free_bytes};
    QFZ_TRY(qfz_parallel_for(n, n, start_device, &s, err));
    *bytes = free_bytes[0];
    for (int i = 1; i < n; i++)
        if (free_bytes[i] < *bytes) *bytes = free_bytes[i];
    return QFZ_OK;
}

static qfz_status time_copies(char *d_memory, size_t half, cudaEvent_t from, cudaEvent_t to,
                              float *ms, int n, qfz_error *err)
{
    QFZ_TRY_CUDA(err, cudaMemset(d_memory, 1, 2 * half));
    for (int i = -1; i < n; i++) { /* the first is not counted */
        QFZ_TRY_CUDA(err, cudaEventRecord(from));
        QFZ_TRY_CUDA(err,
                     cudaMemcpyAsync(d_memory + half, d_memory, half, cudaMemcpyDeviceToDevice));
        QFZ_TRY_CUDA(err, cudaEventRecord(to));
        QFZ_TRY_CUDA(err, cudaEventSynchronize(to));
        if (i >= 0) QFZ_TRY_CUDA(err, cudaEventElapsedTime(&ms[i], from, to));
    }
    return QFZ_OK;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

qfz_status qfz_gpu_measure_copy(int device, double *bytes_per_s, qfz_error *err)
{
    enum { N = 21 };
    const size_t half = (size_t)1 << 30;
    float ms[N];
    char *d_memory = NULL;
    cudaEvent_t from = NULL, to = NULL;
    qfz_status st;
    QFZ_TRY_CUDA(err, cudaSetDevice(device));
    QFZ_TRY_OR(st, cleanup,
               qfz_gpu_check(err, cudaMalloc((void **)&d_memory, 2 * half), "2 GiB for copies"));
    QFZ_TRY_OR(st, cleanup, qfz_gpu_check(err, cudaEventCreate(&from), "event"));
    QFZ_TRY_OR(st, cleanup, qfz_gpu_check(err, cudaEventCreate(&to), "event"));
    QFZ_TRY_OR(st, cleanup, time_copies(d_memory, half, from, to, ms, N, err));
    qsort(ms, N, sizeof *ms, compare_floats);
    *bytes_per_s = 2.0 * (double)half / (1e-3 * (double)ms[N / 2]);

cleanup:
    if (to) (void)cudaEventDestroy(to);
    if (from) (void)cudaEventDestroy(from);
    (void)cudaFree(d_memory);
    return st;
}
