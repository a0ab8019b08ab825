/* SPDX-License-Identifier: MIT */
/* staging.cuh - transfers between ordinary host memory and the device, in chunks through two
 * page-locked buffers, so that copying on the host and the link to the device overlap. */
#pragma once

#include "gpu/device/device.cuh"

/* Size of a chunk: the fixed cost of a transfer is small, and two chunks stay in a core's cache. */
enum { QFZ_STAGING_BYTES = 1 << 20 };

typedef struct qfz_staging {
    int64_t bytes; /* of each buffer; QFZ_STAGING_BYTES or more */
    char *buffers[2];
    cudaEvent_t done[2]; /* recorded after the last transfer from or to the buffer */
    int next;            /* the buffer of the next upload */
} qfz_staging;

/* Page-locked host memory for the buffers of n qfz_staging, `bytes` bytes a buffer.  This is one
 * allocation, because n allocations by n threads take the driver ten times as long. */
qfz_status qfz_staging_alloc(char **memory, int n, int64_t bytes, qfz_error *err);
void qfz_staging_free(char *memory); /* NULL is allowed */

/* Opens a qfz_staging on the current device; its buffers are the i-th pair in that memory. */
qfz_status qfz_staging_open(qfz_staging *staging, char *memory, int i, int64_t bytes,
                            qfz_error *err);
void qfz_staging_close(qfz_staging *staging);

/* Copies to the device in the order of the stream.  h_from may be overwritten afterwards. */
qfz_status qfz_staging_up(qfz_staging *staging, qfz_gpu *gpu, void *d_to, const void *h_from,
                          size_t bytes);

/* The same without a copy on the host.  qfz_staging_room() waits until the next buffer is free and
 * returns it; the caller may fill it until the caller's next call of another function here.
 * qfz_staging_send() starts the transfer of a part of the buffer, any number of times.
 * qfz_staging_leave_room() ends the use of the buffer: the buffer is free again when its transfers
 * are done.  qfz_staging_is_room(): is this the buffer that qfz_staging_room() returns next? */
qfz_status qfz_staging_room(qfz_staging *staging, qfz_gpu *gpu, void **buffer);
bool qfz_staging_is_room(const qfz_staging *staging, const void *buffer);
qfz_status qfz_staging_send(qfz_gpu *gpu, void *d_to, const void *h_from, size_t bytes);
qfz_status qfz_staging_leave_room(qfz_staging *staging, qfz_gpu *gpu);

/* Copies bytes to the host and synchronises: h_to has the bytes when the function returns. */
qfz_status qfz_staging_down(qfz_staging *staging, qfz_gpu *gpu, void *h_to, const void *d_from,
                            size_t bytes);
