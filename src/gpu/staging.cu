/* SPDX-License-Identifier: MIT */
#include "gpu/staging.cuh"

#include <string.h>

qfz_status qfz_staging_open(qfz_staging *staging, qfz_error *err)
{
    for (int i = 0; i < 2; i++) {
        QFZ_TRY_CUDA(err, cudaHostAlloc((void **)&staging->buffers[i], QFZ_STAGING_BYTES,
                                        cudaHostAllocDefault));
        QFZ_TRY_CUDA(err, cudaEventCreateWithFlags(&staging->done[i], cudaEventDisableTiming));
    }
    return QFZ_OK;
}

void qfz_staging_close(qfz_staging *staging)
{
    for (int i = 0; i < 2; i++) {
        if (staging->buffers[i]) (void)cudaFreeHost(staging->buffers[i]);
        if (staging->done[i]) (void)cudaEventDestroy(staging->done[i]);
    }
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
