/* SPDX-License-Identifier: MIT */
/* staging.cu - transfers in chunks through two page-locked buffers. */
#include "gpu/device/staging.cuh"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* The driver locks few large pages much faster than many small ones. */
qfz_status qfz_staging_alloc(char **memory, int n, int64_t bytes, qfz_error *err)
{
    const size_t one = 2 * (size_t)bytes;
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

qfz_status qfz_staging_open(qfz_staging *staging, char *memory, int i, int64_t bytes,
                            qfz_error *err)
{
    staging->bytes = bytes;
    for (int k = 0; k < 2; k++) {
        staging->buffers[k] = memory + (2 * (size_t)i + (size_t)k) * (size_t)bytes;
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

qfz_status qfz_staging_room(qfz_staging *staging, qfz_gpu *gpu, void **buffer)
{
    *buffer = staging->buffers[staging->next];
    QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[staging->next]));
    return QFZ_OK;
}

bool qfz_staging_is_room(const qfz_staging *staging, const void *buffer)
{
    return buffer == staging->buffers[staging->next];
}

qfz_status qfz_staging_send(qfz_gpu *gpu, void *d_to, const void *h_from, size_t bytes)
{
    QFZ_TRY_CUDA(gpu->err,
                 cudaMemcpyAsync(d_to, h_from, bytes, cudaMemcpyHostToDevice, gpu->stream));
    return QFZ_OK;
}

qfz_status qfz_staging_leave_room(qfz_staging *staging, qfz_gpu *gpu)
{
    QFZ_TRY_CUDA(gpu->err, cudaEventRecord(staging->done[staging->next], gpu->stream));
    staging->next = !staging->next;
    return QFZ_OK;
}

qfz_status qfz_staging_up(qfz_staging *staging, qfz_gpu *gpu, void *d_to, const void *h_from,
                          size_t bytes)
{
    for (size_t at = 0; at < bytes; at += QFZ_STAGING_BYTES) {
        const size_t n = chunk_of(bytes - at);
        void *buffer;
        QFZ_TRY(qfz_staging_room(staging, gpu, &buffer));
        memcpy(buffer, (const char *)h_from + at, n);
        QFZ_TRY(qfz_staging_send(gpu, (char *)d_to + at, buffer, n));
        QFZ_TRY(qfz_staging_leave_room(staging, gpu));
    }
    return QFZ_OK;
}

/* While the host copies a chunk out of its buffer, the transfer of the next chunk runs. */
qfz_status qfz_staging_down(qfz_staging *staging, qfz_gpu *gpu, void *h_to, const void *d_from,
                            size_t bytes)
{
    size_t fetched = 0, requested = 0;
    int at = 0;                 /* buffer of the chunk that is fetched next */
    for (int i = 0; i < 2; i++) /* uploads may still read the buffers */
        QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[i]));
    for (int into = 0; fetched < bytes; at = !at) {
        for (; requested < bytes && requested - fetched < 2u * QFZ_STAGING_BYTES; into = !into) {
            const size_t n = chunk_of(bytes - requested);
            QFZ_TRY_CUDA(gpu->err,
                         cudaMemcpyAsync(staging->buffers[into], (const char *)d_from + requested,
                                         n, cudaMemcpyDeviceToHost, gpu->stream));
            QFZ_TRY_CUDA(gpu->err, cudaEventRecord(staging->done[into], gpu->stream));
            requested += n;
        }
        const size_t n = chunk_of(bytes - fetched);
        QFZ_TRY_CUDA(gpu->err, cudaEventSynchronize(staging->done[at]));
        memcpy((char *)h_to + fetched, staging->buffers[at], n);
        fetched += n;
    }
    return QFZ_OK;
}
