/* SPDX-License-Identifier: MIT */
/* bench_runs.h - what several runs of the same took. */
#ifndef QFZ_BENCH_RUNS_H
#define QFZ_BENCH_RUNS_H

#include <stdlib.h>

static inline int bench_compare_ms(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n runs, at least one.  Leaves them sorted: the least first, the worst last. */
static inline double bench_median(double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, bench_compare_ms);
    return 0.5 * (ms[(n - 1) / 2] + ms[n / 2]);
}

#endif
