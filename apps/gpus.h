/* SPDX-License-Identifier: MIT */
/* gpus.h - the GPUs that CUDA shows this process.
 *
 * CUDA initialises every visible GPU, which takes some tenths of a second each.  A job therefore
 * hides the GPUs that it does not use, by CUDA_VISIBLE_DEVICES, before CUDA starts. */
#ifndef GPUS_H
#define GPUS_H

#include "qfz.h"

/* The visible GPUs, by number or by name, in the notation of CUDA_VISIBLE_DEVICES.  Empty: {0}. */
typedef struct gpu_list {
    char *text;
    const char *names[QFZ_GPUS_MAX];
    int n;
} gpu_list;

/* The functions of qfz_job.gpu_view, for one job, or for several that take the same GPUs: all are
 * numbered as they were before the first one.  The view borrows the list, which the caller releases
 * by gpus_close() after the job. */
qfz_gpu_view gpus_view(gpu_list *list);
void gpus_close(gpu_list *list);

#endif
