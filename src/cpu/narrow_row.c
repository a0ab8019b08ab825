/* SPDX-License-Identifier: MIT */
#include "cpu/narrow_row.h"

#define NARROW_ROW(TYPE)                                                                           \
    for (int64_t x = 0; x < w; x++)                                                                \
    to[x] = (uint16_t)(((const TYPE *)from)[x] + offset)

void qfz_narrow_row(qfz_type type, const void *from, uint16_t offset, int64_t w, uint16_t *to)
{
    switch (type) {
    case QFZ_U8: NARROW_ROW(uint8_t); break;
    case QFZ_I8: NARROW_ROW(int8_t); break;
    default: NARROW_ROW(uint16_t); break;
    }
}
