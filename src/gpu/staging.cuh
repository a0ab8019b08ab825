/* SPDX-License-Identifier: MIT */
/* staging.cuh - transfers between ordinary host memory and the device, in chunks through two
 * page-locked buffers, so that copying on the host and the link to the device overlap. */
#ifndef QFZ_GPU_STAGING_CUH
#define QFZ_GPU_STAGING_CUH

#include "gpu/device.cuh"

enum { QFZ_STAGING_BYTES = 4 << 20 }; /* of each buffer */

typedef struct qfz_staging {
    char *buffers[2];
    cudaEvent_t done[2]; /* the last transfer from or to the buffer */
    int next;
} qfz_staging;

/* On the device that is current. */
qfz_status qfz_staging_open(qfz_staging *staging, qfz_error *err);
void qfz_staging_close(qfz_staging *staging);

/* h_from may be changed as soon as this returns; the device has the bytes when the stream comes
 * to what is launched next. */
qfz_status qfz_staging_up(qfz_staging *staging, qfz_gpu *gpu, void *d_to, const void *h_from,
                          size_t bytes);

/* h_to holds the bytes when this returns: waits for the stream. */
qfz_status qfz_staging_down(qfz_staging *staging, qfz_gpu *gpu, void *h_to, const void *d_from,
                            size_t bytes);

#endif
