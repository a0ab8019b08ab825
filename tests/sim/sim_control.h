/* SPDX-License-Identifier: MIT */
/* sim_control.h - how a test controls the simulator, in C and C++. */
#ifndef QFZ_SIM_CONTROL_H
#define QFZ_SIM_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the seed of the simulator's random choices. */
void sim_seed(uint64_t seed);

/* Sets the number of devices, 1 by default, and marks all devices as unused. */
void sim_set_devices(int n);

/* True if a thread has made the device current since sim_set_devices(). */
int sim_was_used(int device);

/* Makes the n-th allocation of device memory from now on fail, and with `all` every later one; 0:
 * no allocation fails. */
void sim_fail_allocation(int64_t n, int all);

/* Makes the n-th call of the runtime from now on fail, and with `all` every later one; 0: none
 * fails. A launch of a kernel is a call; what releases is none, and always succeeds. */
void sim_fail_call(int64_t n, int all);

/* The number of calls since then. */
int64_t sim_calls(void);

/* The number of allocations of device memory, ranges of page-locked memory, streams and events that
 * are not released. */
int64_t sim_live(void);

/* From this call on, the simulator records the greatest number of bytes of device memory allocated
 * at a time, on all devices together, and the number of allocations of device or page-locked memory
 * after the first kernel launch. */
void sim_watch_memory(void);
int64_t sim_most_bytes(void);
int64_t sim_late_allocations(void);

/* Makes the initialisation of a device fail, or take so long. */
void sim_fail_start(int fails);
void sim_slow_start(int ms);

/* Sets the compute capability of all devices: 75 is 7.5; 90 by default. */
void sim_set_compute_capability(int times_ten);

/* Sets the greatest shared memory of a block on all devices; 227 KiB by default. */
void sim_set_shared(int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
