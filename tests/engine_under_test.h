/* SPDX-License-Identifier: MIT */
/* engine_under_test.h - the engine that a test program is built for: the CPU's, or, with
 * QFZ_TEST_CUDA defined by the build, CUDA's, on a GPU or in the simulator. */
#ifndef QFZ_TESTS_ENGINE_UNDER_TEST_H
#define QFZ_TESTS_ENGINE_UNDER_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "gpu/gpu.h"

#ifdef QFZ_TEST_CUDA
#define TEST_ENGINE QFZ_ENGINE_CUDA
#define TEST_ENGINE_TABLE qfz_engine_cuda
#define TEST_ENGINE_NAME "cuda"
#else
#define TEST_ENGINE QFZ_ENGINE_CPU
#define TEST_ENGINE_TABLE qfz_engine_cpu
#define TEST_ENGINE_NAME "cpu"
#endif

/* Ends the program as a skipped test where the engine has no device. */
__attribute__((unused)) static void need_engine(void)
{
    int n = 0;
    qfz_error err = {.status = QFZ_OK};
    if (TEST_ENGINE == QFZ_ENGINE_CPU || qfz_gpu_count(&n, &err) == QFZ_OK) return;
    printf("%s: skipped\n", err.message);
    exit(77);
}

#endif
