/* SPDX-License-Identifier: MIT */
/* omp.h - the three functions of OpenMP that the library calls, for a program of one thread whose
 * compiler ignores OpenMP's pragmas. */
#ifndef QFZ_WEB_SINGLE_OMP_H
#define QFZ_WEB_SINGLE_OMP_H

static inline int omp_get_thread_num(void)
{
    return 0;
}

static inline int omp_get_num_threads(void)
{
    return 1;
}

static inline int omp_in_parallel(void)
{
    return 0;
}

#endif
