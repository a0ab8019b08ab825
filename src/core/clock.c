/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <time.h>

double qfz_seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
