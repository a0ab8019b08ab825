/* SPDX-License-Identifier: MIT */
#include "gpu/device/device.cuh"

qfz_status qfz_gpu_check(qfz_error *err, cudaError_t result, const char *what)
{
    if (result == cudaSuccess) return QFZ_OK;
    (void)cudaGetLastError(); /* what is told here shall not be told again at the next call */
    return qfz_fail(err, result == cudaErrorMemoryAllocation ? QFZ_ENOMEM : QFZ_EGPU, "GPU: %s: %s",
                    what, cudaGetErrorString(result));
}
