/* SPDX-License-Identifier: MIT */
/* device.cu - CUDA's results as qfz_status, and the size of a tile. */
#include "gpu/device/device.cuh"

qfz_status qfz_gpu_check(qfz_error *err, cudaError_t result, const char *what)
{
    if (result == cudaSuccess) return QFZ_OK;
    (void)cudaGetLastError(); /* or the check of the next launch would report this error again */
    return qfz_fail(err, result == cudaErrorMemoryAllocation ? QFZ_ENOMEM : QFZ_EGPU, "GPU: %s: %s",
                    what, cudaGetErrorString(result));
}

qfz_status qfz_gpu_check_size(qfz_gpu *gpu, int32_t h, int32_t w)
{
    if (h >= 1 && w >= 1 && (int64_t)h * w <= INT32_MAX) return QFZ_OK;
    return qfz_fail(gpu->err, QFZ_EARG, "a tile of %d x %d pixels does not fit a GPU's indices",
                    (int)w, (int)h);
}
