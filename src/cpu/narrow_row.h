/* SPDX-License-Identifier: MIT */
/* narrow_row.h - rows of pixels as integers of 16 bits. */
#ifndef QFZ_CPU_NARROW_ROW_H
#define QFZ_CPU_NARROW_ROW_H

#include "qfz.h"

/* to[x] = from[x] + offset modulo 2^16, for integers of 8 or 16 bits. */
void qfz_narrow_row(qfz_type type, const void *from, uint16_t offset, int64_t w, uint16_t *to);

#endif
