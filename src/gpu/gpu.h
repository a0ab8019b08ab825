/* SPDX-License-Identifier: MIT */
/* gpu.h - the CUDA engine, as the pipeline sees it.  In a build without CUDA (none.c) there are no
 * devices and the engine does not open. */
#ifndef QFZ_GPU_GPU_H
#define QFZ_GPU_GPU_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if CUDA shows this process at least one device, usable or not.  False without a CUDA driver,
 * and in a build without CUDA. */
bool qfz_gpu_visible(void);

/* *n = devices that CUDA shows this process (CUDA_VISIBLE_DEVICES decides which, numbered from 0);
 * QFZ_EGPU where there is none. */
qfz_status qfz_gpu_count(int *n, qfz_error *err);

/* *bytes = the memory of that of these devices that has the least.  QFZ_EGPU where one is older
 * than compute capability 7.5; the message says which.  None of them is started: that takes a tenth
 * of a second, and is done when their workers open. */
qfz_status qfz_gpu_memory(const qfz_device *devices, int n, int64_t *bytes, qfz_error *err);

/* Can a published method do work of this kind by this rule?  QFZ_EARG if not, with the method's
 * name.  No device is asked. */
qfz_status qfz_gpu_can_method(const char *name, const qfz_rule *rule, qfz_kind kind,
                              qfz_error *err);

/* Can a device do work of this kind by this rule?  QFZ_EGPU if not, with what it lacks. */
qfz_status qfz_gpu_can(qfz_device device, const qfz_rule *rule, qfz_kind kind, qfz_error *err);

/* Bytes a second, read and written together, of a large copy on a device; the median of some. */
qfz_status qfz_gpu_measure_copy(int device, double *bytes_per_s, qfz_error *err);

extern const qfz_engine qfz_engine_cuda;

#ifdef __cplusplus
}
#endif

#endif
