/* SPDX-License-Identifier: MIT */
/* fetch.h - rows of a block, read ahead: they lie pages apart, and processors do not prefetch
 * across pages. */
#ifndef QFZ_CPU_FETCH_H
#define QFZ_CPU_FETCH_H

#include <stdint.h>

enum { QFZ_FETCH_ROWS = 6 }; /* how far ahead */

static inline void qfz_fetch(const void *from, int64_t bytes)
{
    enum { CACHE_LINE = 64 };
    for (int64_t at = 0; at < bytes; at += CACHE_LINE)
        __builtin_prefetch((const char *)from + at);
}

#endif
