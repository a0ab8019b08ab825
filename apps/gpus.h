/* SPDX-License-Identifier: MIT */
/* gpus.h - what CUDA sees of this machine's GPUs. */
#ifndef GPUS_H
#define GPUS_H

#include "qfz.h"

/* GPUs by number or by name, as CUDA_VISIBLE_DEVICES lists them, or would.  Starts as {0}. */
typedef struct gpu_list {
    char *text;
    const char *names[QFZ_GPUS_MAX];
    int n;
} gpu_list;

/* For a job, to hide from CUDA the GPUs that it will not use, by CUDA_VISIBLE_DEVICES.  Borrows the
 * list. */
qfz_gpu_view gpus_view(gpu_list *list);
void gpus_close(gpu_list *list);

#endif
