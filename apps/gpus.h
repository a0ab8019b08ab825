/* SPDX-License-Identifier: MIT */
/* gpus.h - what CUDA sees of this machine's GPUs. */
#ifndef GPUS_H
#define GPUS_H

#include "options.h"

/* Hides from CUDA, by CUDA_VISIBLE_DEVICES, the GPUs that this process will not use: it starts all
 * that it sees, some tenths of a second each.  Before anything starts CUDA. */
void gpus_hide_others(request *r);

#endif
