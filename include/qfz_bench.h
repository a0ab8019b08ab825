/* SPDX-License-Identifier: MIT */
/* qfz_bench.h - functions for qfz-bench and the tests.  This header is not installed, libqfz.so
 * does not export its functions, and they may change in any version. */
#ifndef QFZ_BENCH_H
#define QFZ_BENCH_H

#include "qfz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of the work of a job on one tile, for images in host memory. */
#define QFZ_PART_SUMMARISE ((qfz_part)6) /* the boundary summary of the image, for saliency */
#define QFZ_PART_RESOLVE ((qfz_part)7)   /* saliency with an exterior: links that change nothing */
#define QFZ_PART_FILTER ((qfz_part)8)    /* the area filter alone */

/* The first phases of saliency by connect-v1 and connect-v2: the trees of blocks; and border merges
 * between blocks; and flattening.  Numbers, because C++ has no such qfz_part. */
#define QFZ_PART_LOCAL 9
#define QFZ_PART_MERGED 10
#define QFZ_PART_FLATTENED 11

/* Runs a part, results staying in the session; *ms: wall-clock time of the run without the
 * allocation of memory and without opening the engine. */
QFZ_CHECKED qfz_status qfz_bench_run(qfz_session *session, qfz_part part, double *ms,
                                     qfz_error *err);

/* Runs a part once uncounted and then n_runs times; ms[i]: time of run i.  CUDA engine: time by the
 * clock of the device, the image and the results staying in its memory, so that the session has no
 * results afterwards.  CPU engine: as qfz_bench_run(). */
QFZ_CHECKED qfz_status qfz_bench_time(qfz_session *session, qfz_part part, int n_runs, double *ms,
                                      qfz_error *err);

/* GPU memory that the session has allocated at present, bytes; 0: CPU engine. */
int64_t qfz_bench_gpu_bytes(const qfz_session *session);

/* Bytes per second, read and written added up, of a large copy within the memory of a GPU: an upper
 * bound for kernels that are limited by memory. */
QFZ_CHECKED qfz_status qfz_bench_copy_rate(int gpu, double *bytes_per_s, qfz_error *err);

/* Reads a whole raster into host memory: n_bands band numbers from 1, or every band except alpha if
 * bands is NULL.  qfz_bench_image_free() releases it. */
QFZ_CHECKED qfz_status qfz_bench_image_read(const char *src, const int *bands, int n_bands,
                                            qfz_image *image, qfz_error *err);
void qfz_bench_image_free(qfz_image *image);

#ifdef __cplusplus
}
#endif

#endif
