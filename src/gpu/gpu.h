/* SPDX-License-Identifier: MIT */
/* gpu.h - the CUDA engine, for the pipeline: the devices, what they can do, and the engine's table.
 * All functions may be called from any thread.  In a build without CUDA (none.c), those that return
 * a status fail with QFZ_EGPU. */
#ifndef QFZ_GPU_GPU_H
#define QFZ_GPU_GPU_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if CUDA shows this process at least one device, usable or not.  False without a CUDA driver,
 * and in a build without CUDA. */
bool qfz_gpu_visible(void);

/* *n = number of devices that CUDA offers to this process (CUDA_VISIBLE_DEVICES selects them); they
 * are numbered from 0.  QFZ_EGPU if there is none. */
qfz_status qfz_gpu_count(int *n, qfz_error *err);

/* *bytes = the least total memory of the n devices.  QFZ_EGPU if a device is older than compute
 * capability 7.5; the message names it.  Devices are not initialised, which takes 0.1 s and happens
 * when their workers open. */
qfz_status qfz_gpu_memory(const qfz_device *devices, int n, int64_t *bytes, qfz_error *err);

/* Why no device does this kind of work under this rule; NULL: one may.  Does not ask CUDA. */
const char *qfz_gpu_obstacle(const qfz_rule *rule, qfz_kind kind);

/* QFZ_OK if the device supports this kind of work under this rule; else QFZ_EGPU, with a message
 * that says what the device lacks. */
qfz_status qfz_gpu_can(qfz_device device, const qfz_rule *rule, qfz_kind kind, qfz_error *err);

/* Measures copies of 1 GiB on a device: *bytes_per_s = bytes read and written per second.
 * Allocates 2 GiB. */
qfz_status qfz_gpu_measure_copy(int device, double *bytes_per_s, qfz_error *err);

extern const qfz_engine qfz_engine_cuda;

#ifdef __cplusplus
}
#endif

#endif
