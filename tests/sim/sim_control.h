/* SPDX-License-Identifier: MIT */
/* sim_control.h - what a test may ask of the simulator: from C too. */
#ifndef QFZ_SIM_CONTROL_H
#define QFZ_SIM_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The seed of everything random in it. */
void sim_seed(uint64_t seed);

/* How many devices there seem to be; 1 at first.  None was used yet. */
void sim_set_devices(int n);

/* Was the device made current by any thread since sim_set_devices()? */
int sim_was_used(int device);

/* The n-th allocation of device memory from now on fails, and with `all` every one after it too;
 * 0: none does. */
void sim_fail_allocation(int64_t n, int all);

/* From now on: the most bytes of device memory that were taken at a time, on all devices together,
 * and how often memory, of a device or page-locked, was taken after the first launch of a kernel.
 */
void sim_watch_memory(void);
int64_t sim_most_bytes(void);
int64_t sim_late_allocations(void);

/* Does a device that is to start fail?  Or take so long? */
void sim_fail_start(int fails);
void sim_slow_start(int ms);

/* Of every device: 75 is 7.5; 90 at first. */
void sim_set_compute_capability(int times_ten);

/* Shared memory that a block may have, of every device; 227 KiB at first. */
void sim_set_shared(int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
