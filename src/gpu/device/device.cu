/* SPDX-License-Identifier: MIT */
/* device.cu - CUDA's results as qfz_status. */
#include "gpu/device/device.cuh"

qfz_status qfz_gpu_check(qfz_error *err, cudaError_t result, const char *what)
{
    if (result == cudaSuccess) return QFZ_OK;
    (void)cudaGetLastError(); /* or the check of the next launch would report this error again */
    return qfz_fail(err, result == cudaErrorMemoryAllocation ? QFZ_ENOMEM : QFZ_EGPU, "GPU: %s: %s",
                    what, cudaGetErrorString(result));
}
