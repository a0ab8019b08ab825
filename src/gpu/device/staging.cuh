/* SPDX-License-Identifier: MIT */
/* staging.cuh - transfers between ordinary host memory and the device, in chunks through two
 * page-locked buffers, so that copying on the host and the link to the device overlap. */
#ifndef QFZ_GPU_STAGING_CUH
#define QFZ_GPU_STAGING_CUH

#include "gpu/device/device.cuh"

/* Of a chunk: enough that what a transfer costs beside its bytes is little, and small enough
 * that two stay in a core's cache. */
enum { QFZ_STAGING_BYTES = 1 << 20 };

typedef struct qfz_staging {
    int64_t bytes; /* of each buffer; QFZ_STAGING_BYTES or more */
    char *buffers[2];
    cudaEvent_t done[2]; /* the last transfer from or to the buffer */
    int next;
} qfz_staging;

/* Page-locked memory for the buffers of n, of bytes each.  One allocation: the driver takes ten
 * times as long for one by each thread. */
qfz_status qfz_staging_alloc(char **memory, int n, int64_t bytes, qfz_error *err);
void qfz_staging_free(char *memory); /* NULL is allowed */

/* On the device that is current; number i in that memory. */
qfz_status qfz_staging_open(qfz_staging *staging, char *memory, int i, int64_t bytes,
                            qfz_error *err);
void qfz_staging_close(qfz_staging *staging);

/* h_from may be changed as soon as this returns; the device has the bytes when the stream comes
 * to what is launched next. */
qfz_status qfz_staging_up(qfz_staging *staging, qfz_gpu *gpu, void *d_to, const void *h_from,
                          size_t bytes);

/* The same without a copy.  room() gives a buffer that the caller may fill, until it leaves the
 * room or transfers something else; of what is in it then, send() sends some, as often as wanted,
 * and after leave_room() nobody changes it until it has been sent. */
qfz_status qfz_staging_room(qfz_staging *staging, qfz_gpu *gpu, void **buffer);
bool qfz_staging_is_room(const qfz_staging *staging, const void *buffer);
qfz_status qfz_staging_send(qfz_gpu *gpu, void *d_to, const void *h_from, size_t bytes);
qfz_status qfz_staging_leave_room(qfz_staging *staging, qfz_gpu *gpu);

/* h_to holds the bytes when this returns: waits for the stream. */
qfz_status qfz_staging_down(qfz_staging *staging, qfz_gpu *gpu, void *h_to, const void *d_from,
                            size_t bytes);

#endif
