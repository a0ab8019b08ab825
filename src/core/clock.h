/* SPDX-License-Identifier: MIT */
/* clock.h - the time of a clock that is never set back. */
#ifndef QFZ_CLOCK_H
#define QFZ_CLOCK_H

/* Seconds since an unspecified moment. */
double qfz_seconds_now(void);

#endif
