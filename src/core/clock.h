/* SPDX-License-Identifier: MIT */
/* clock.h - the time of a monotonic clock. */
#ifndef QFZ_CLOCK_H
#define QFZ_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since an unspecified moment. */
double qfz_seconds_now(void);

#ifdef __cplusplus
}
#endif

#endif
