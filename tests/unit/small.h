/* SPDX-License-Identifier: MIT */
/* small.h - random numbers, memory and masks for tests of one engine function on small images. */
#ifndef QFZ_TESTS_SMALL_H
#define QFZ_TESTS_SMALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "qfz.h"

static inline uint64_t random_next(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static inline int random_below(uint64_t *state, int n)
{
    return (int)(random_next(state) % (uint64_t)n);
}

/* Memory of n items, at least one, filled with zeros. */
static inline void *room(size_t n, size_t size)
{
    void *const ptr = calloc(n ? n : 1, size);
    assert_non_null(ptr);
    return ptr;
}

static inline bool is_valid(const qfz_image *image, int64_t p)
{
    return !image->valid || image->valid[p];
}

#endif
