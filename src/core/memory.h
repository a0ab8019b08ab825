/* SPDX-License-Identifier: MIT */
/* memory.h - allocation whose sizes are multiplied with a check. */
#ifndef QFZ_MEMORY_H
#define QFZ_MEMORY_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *ptr = room for n items of item_bytes, never NULL on success (n may be 0); free() releases it.
 * Contents are undefined after qfz_alloc(), zero after qfz_alloc_zero(). */
qfz_status qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);
qfz_status qfz_alloc_zero(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* The same as qfz_alloc() in pages of 2 MB as far as it fills them, where the system has such: for
 * what is written all over soon, and is large.  Threads that need new pages of 4 KB at a time wait
 * for each other. */
enum { QFZ_LARGE_PAGE = 2 << 20 };
qfz_status qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* Grows or shrinks *ptr to n items, NULL as qfz_alloc_large(); on failure *ptr is as it was. */
qfz_status qfz_realloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* The typed form: QFZ_NEW(&array, n, err), array being a pointer variable or member. */
#define QFZ_NEW(array, n, err) qfz_alloc((void **)(array), (n), sizeof **(array), (err))
#define QFZ_NEW_LARGE(array, n, err) qfz_alloc_large((void **)(array), (n), sizeof **(array), (err))
#define QFZ_NEW_ZERO(array, n, err) qfz_alloc_zero((void **)(array), (n), sizeof **(array), (err))

#ifdef __cplusplus
}
#endif

#endif
