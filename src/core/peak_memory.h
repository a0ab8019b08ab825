/* SPDX-License-Identifier: MIT */
/* peak_memory.h - the most memory that this process has had. */
#ifndef QFZ_PEAK_MEMORY_H
#define QFZ_PEAK_MEMORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The peak of the resident memory since the program started, without that of the process that
 * started it, where /proc tells; else the system's figure, which may include it. */
int64_t qfz_peak_memory_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
