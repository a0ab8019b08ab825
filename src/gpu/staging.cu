/* SPDX-License-Identifier: MIT */
#include "gpu/staging.cuh"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Few large pages are locked much faster than many small ones. */
qfz_status qfz_staging_alloc(char **memory, int n, qfz_error *err)
{
    const size_t one = 2 * QFZ_STAGING_BYTES;
    QFZ_TRY(qfz_alloc_large((void **)memory, n, one, err));
    const cudaError_t locked = cudaHostRegister(*memory, (size_t)n * one, cudaHostRegisterDefault);
    if (locked == cudaSuccess) return QFZ_OK;
    free(*memory);
    *memory = NULL;
    return qfz_gpu_check(err, locked, "page-locked memory");
}

void qfz_staging_free(char *memory)
{
    if (memory) (void)cudaHostUnregister(memory);
    free(memory);
}

qfz_status qfz_staging_open(qfz_staging *staging, char *memory, int i, qfz_error *err)
{
    for (int k = 0; k < 2; k++) {
        staging->buffers[k] = memory + (2 * (size_t)i + (size_t)k) * QFZ_STAGING_BYTES;
        QFZ_TRY_CUDA(err, cudaEventCreateWithFlags(&staging->done[k], cudaEventDisableTiming));
    }
    return QFZ_OK;
}

void qfz_staging_close(qfz_staging *staging)
{
    for (int k = 0; k < 2; k++)
        if (staging->done[k]) (void)cudaEventDestroy(staging->done[k]);
    *staging = qfz_staging{};
}

static size_t chunk_of(size_t bytes)
{
    return bytes < QFZ_STAGING_BYTES ? bytes : (size_t)QFZ_STAGING_BYTES;
}

qfz_status qfz_staging_up(qfz_staging *staging, qfz_gpu *gpu, void *d_to, const void *h_from,
                          size_t bytes)
{
    for (size_t at = 0; at < bytes; at += QFZ_STAGING_BYTES) {
        const int i = staging->next;
        const size_t n = chunk_of(bytes - at);
        staging->next = !i;
        QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[i]));
        memcpy(staging->buffers[i], (const char *)h_from + at, n);
        QFZ_TRY_CUDA(gpu->err, cudaMemcpyAsync((char *)d_to + at, staging->buffers[i], n,
                                               cudaMemcpyHostToDevice, gpu->stream));
        QFZ_TRY_CUDA(gpu->err, cudaEventRecord(staging->done[i], gpu->stream));
    }
    return QFZ_OK;
}

/* While a chunk is copied out of its buffer the next one travels. */
qfz_status qfz_staging_down(qfz_staging *staging, qfz_gpu *gpu, void *h_to, const void *d_from,
                            size_t bytes)
{
    size_t fetched = 0, asked = 0;
    int at = 0;                 /* buffer of the chunk that is fetched next */
    for (int i = 0; i < 2; i++) /* uploads may still read from them */
        QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[i]));
    for (int ask = 0; fetched < bytes; at = !at) {
        for (; asked < bytes && asked - fetched < 2u * QFZ_STAGING_BYTES; ask = !ask) {
            const size_t n = chunk_of(bytes - asked);
            QFZ_TRY_CUDA(gpu->err,
                         cudaMemcpyAsync(staging->buffers[ask], (const char *)d_from + asked, n,
                                         cudaMemcpyDeviceToHost, gpu->stream));
            QFZ_TRY_CUDA(gpu->err, cudaEventRecord(staging->done[ask], gpu->stream));
            asked += n;
        }
        const size_t n = chunk_of(bytes - fetched);
        QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[at]));
        memcpy((char *)h_to + fetched, staging->buffers[at], n);
        fetched += n;
    }
    return QFZ_OK;
}
