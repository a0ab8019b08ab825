/* SPDX-License-Identifier: MIT */
/* faults.h - what a check finds wrong: the number of faults, and the first one in raster order. */
#ifndef QFZ_CHECK_FAULTS_H
#define QFZ_CHECK_FAULTS_H

#include <stdint.h>

enum { QFZ_FAULT_BYTES = 256 };

typedef struct qfz_faults {
    uint64_t n;
    int64_t x, y; /* of the first one; -1: it has no pixel */
    char what[QFZ_FAULT_BYTES];
} qfz_faults;

/* Counts a fault at a pixel. */
void qfz_faults_add(qfz_faults *faults, int64_t x, int64_t y, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
