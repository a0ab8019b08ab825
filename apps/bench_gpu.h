/* SPDX-License-Identifier: MIT */
/* bench_gpu.h - qfz-bench gpu: every method of the CUDA engine, case by case, against the copy rate
 * of the device's memory. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "options.h"

/* Prints a table; the exit status. */
int bench_gpu(const request *r);

#endif
